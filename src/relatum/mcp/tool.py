"""What a tool is: one declaration for the listing, the reading of arguments, and what enforces read-only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from relatum.core.answers.access import Capability
from relatum.mcp.budget import TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN
from relatum.mcp.calls import Call
from relatum.mcp.fields import Field, closed, text, whole

Arguments = Mapping[str, Any]
Answer = dict[str, Any]
Run = Callable[[Call, Arguments], Awaitable[Answer]]

READS: Final[tuple[tuple[Capability, ...], ...]] = (("memory_read",),)
WRITES: Final[tuple[tuple[Capability, ...], ...]] = (("memory_read", "memory_write"),)

MAX_TOKENS: Final = whole(TOKENS_MIN, TOKENS_MAX, TOKENS_DEFAULT, "Size of the answer")
KEY: Final = text("Repeat a call under the same key and it is done once")

_ERROR: Final = {"code": "string", "message": "string", "retryable": "boolean", "hint": "string"}


class Tool(Struct, frozen=True, kw_only=True):
    """One tool. `needs`: the capabilities that its routes need, alternatives each. `answers`: types by member."""

    name: str
    title: str
    about: str
    takes: Mapping[str, Field]
    answers: Mapping[str, str]
    run: Run
    needs: tuple[tuple[Capability, ...], ...] = READS
    writes: bool = False
    destructive: bool = False
    repeats: bool = False
    """A write that adds nothing when it is called again."""
    reading: Tool | None = None
    """What it is where nothing may be written."""

    def is_allowed(self, capabilities: frozenset[str]) -> bool:
        """Whether a credential with these capabilities can do anything with it."""
        return any(capabilities.issuperset(each) for each in self.needs)

    def hints(self) -> dict[str, bool]:
        """The four annotations of the protocol."""
        return {
            "read_only_hint": not self.writes,
            "destructive_hint": self.destructive,
            "idempotent_hint": self.repeats or not self.writes,
            "open_world_hint": False,
        }

    def input_schema(self) -> dict[str, Any]:
        """One closed object in the permitted keywords."""
        return closed(self.takes)

    def output_schema(self) -> dict[str, Any]:
        """True of every answer, errors too: only `ok` is required, and more members may come."""
        types = {"ok": "boolean", **self.answers, **_ERROR}
        properties = {name: {"type": kind} if kind else {} for name, kind in types.items()}
        return {"type": "object", "properties": properties, "required": ["ok"]}
