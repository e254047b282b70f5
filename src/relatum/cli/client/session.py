"""One run of a verb: its common options, the client made of them, and requests in its scope.

A verb asks by `read`, gives commands by `command`, and is answered the members of the answer as the wire has them.
Both look at nothing in between, so that an answer keeps members that this version does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import click
import msgspec

from relatum.cli.client.output import Form, Json, Output
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import RecordAt
from relatum.limits import CONTRACT_VERSION, PAGE_LIMIT_MAX

if TYPE_CHECKING:
    from relatum.client import Client, Memory

Retry = Literal["read", "command", "once"]

_API: Final = "/api/v1/"
_MEMORY: Final = "memory/"
_KEY_BYTES: Final = 16


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options that all client verbs share. A verb without a scope or without commands has no use for some."""

    profile: str | None = None
    url: str | None = None
    secret_file: Path | None = None
    project: str | None = None
    agent: str | None = None
    mission: str | None = None
    visibility: Literal["shared", "private"] | None = None
    output: Form | None = None
    deadline: float | None = None
    key: str | None = None
    dry_run: bool = False
    quiet: bool = False
    debug: bool = False


class Session:
    """A context manager; what it opened is closed at its end."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.output = Output(options.output)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @cached_property
    def key(self) -> str:
        """The idempotency key of the verb's command: the one given, else a random one."""
        from relatum.entropy import SystemEntropy

        return self.options.key or SystemEntropy().draw(_KEY_BYTES).hex()

    def note(self, text: str) -> None:
        """A line for people on standard error, unless they asked for quiet."""
        if not self.options.quiet:
            click.echo(text, err=True)

    def read(self, path: str, **members: Any) -> Json:
        """What a scoped read below `/api/v1/memory/` answers; members that are None are left out."""
        return self.send(_MEMORY + path, self.scoped(members), "read")

    def command(self, path: str, **members: Any) -> Json:
        """What a command below `/api/v1/memory/` answers, given under the verb's key; printed instead if dry."""
        return self.command_under(self.key, path, **members)

    def command_under(self, key: str, path: str, **members: Any) -> Json:
        """The same under a key of its own."""
        body = self.scoped({"idempotency_key": key} | members)
        if self.options.dry_run:
            self.print_request("POST", _API + _MEMORY + path, body)
        return self.send(_MEMORY + path, body, "command")

    def batch(self, path: str, commands: Sequence[Json]) -> list[Json]:
        """The results of a batch of commands, each of which has a key of its own."""
        body = self.scoped({"commands": list(commands)})
        if self.options.dry_run:
            self.print_request("POST", _API + _MEMORY + path, body)
        results: list[Json] = self.send(_MEMORY + path, body, "command")["results"]
        return results

    def checkpoint(self, path: str, command: Json) -> Json:
        """What a checkpoint command answers: its envelope lies inside the command."""
        full = {"contract_version": CONTRACT_VERSION, "idempotency_key": self.key} | command
        body = {"scope": self.scope, "command": full}
        if self.options.dry_run:
            self.print_request("POST", _API + _MEMORY + path, body)
        return self.send(_MEMORY + path, body, "command")

    def once(self, path: str, **members: Any) -> Json:
        """What a request without a key answers that must not be repeated; printed instead if dry."""
        body = {"contract_version": CONTRACT_VERSION} | given(members)
        if self.options.dry_run:
            self.print_request("POST", _API + path, body)
        return self.send(path, body, "once")

    def get(self, path: str) -> Json:
        """What a GET below `/api/v1/` answers."""
        return self.send(path, None, "read")

    def send(self, path: str, body: Json | None, retry: Retry) -> Json:
        """One call of the client; without a body it is a GET."""
        answer: Json = self.client.call(_API + path, body, retry=retry)
        return answer

    def scoped(self, members: Json) -> Json:
        """A body in the verb's scope; members that are None are left out."""
        return {"contract_version": CONTRACT_VERSION, "scope": self.scope} | given(members)

    def print_request(self, method: str, path: str, body: Json | None) -> None:
        """Prints what would be sent, and ends the verb."""
        self.output.json({"method": method, "path": path, "body": body})
        raise click.exceptions.Exit(0)

    def no_reads_when_dry(self, what: str) -> None:
        """A dry run sends nothing, so that what would have to be read must be given."""
        if self.options.dry_run:
            raise wrong(f"--dry-run sends nothing; {what}")

    def revision_of(self, reference: RecordAt, kind: Literal["record", "relation"] = "record") -> int:
        """The revision that is named, else the current one, which is read and told."""
        if reference.revision is not None:
            return reference.revision
        self.no_reads_when_dry(f"name the revision: {reference.id}@REVISION")
        revision: int = self.current(reference.id, kind)["revision"]
        self.note(f"{reference.id} is at revision {revision}")
        return revision

    def current(self, name: str, kind: Literal["record", "relation"]) -> Json:
        """A record or relation as it is now, eligible or (where the caller may review) not."""
        from relatum.client import Forbidden, NotFound

        member = {f"{kind}_id": name}
        try:
            found: Json = self.read(f"{kind}s/read", **member)[kind]
        except NotFound as missing:
            try:
                found = self.read(f"{kind}s/inspect", **member)["inspection"][kind]
            except Forbidden:
                raise missing from None
        return found

    def ref(self, reference: RecordAt) -> Json:
        """A reference of the wire."""
        return {"record_id": reference.id, "revision": self.revision_of(reference)}

    @cached_property
    def client(self) -> Client:
        """The client of the profile, the environment and the options."""
        from relatum import client

        options = self.options
        if options.debug:
            _show_log()
        made = client.Client(
            options.url,
            secret_file=options.secret_file,
            profile=options.profile,
            deadline=options.deadline or 60.0,
        )
        return self._open.enter_context(made)

    @cached_property
    def memory(self) -> Memory:
        """The client's memory of the scope."""
        scope = self.scope
        return self.client.scope(
            scope["project_id"],
            scope["agent_id"],
            mission_id=scope["mission_id"],
            visibility=scope["visibility"],
        )

    @cached_property
    def scope(self) -> Json:
        """The scope as the wire has it: of the options, member by member, else as the client finds it."""
        known = self._known_scope()
        if "project_id" in known and "agent_id" in known:
            return known
        if known.keys() & {"project_id", "agent_id"}:
            raise wrong("a scope has a project and an agent: give --project and --agent")
        self.no_reads_when_dry("give --project and --agent")
        found: Json = msgspec.to_builtins(self.client.scope().scope()) | known
        return found

    def scope_of_options(self) -> Json:
        """The scope that the options and the profile name, for a caller who need not have it."""
        known = self._known_scope()
        if not known.keys() >= {"project_id", "agent_id"}:
            raise wrong("name the scope that is granted: --project and --agent")
        return known

    def _known_scope(self) -> Json:
        from relatum.client.settings import gather

        options = self.options
        named = given(
            {
                "project_id": options.project,
                "agent_id": options.agent,
                "mission_id": options.mission,
                "visibility": options.visibility,
            }
        )
        found: Json = dict(gather(options.url, secret_file=options.secret_file, profile=options.profile).scope)
        if "project_id" in named:
            found.pop("mission_id", None)  # a mission belongs to its project
        known: Json = found | named
        if known.keys() >= {"project_id", "agent_id"}:
            known = {"mission_id": None, "visibility": "shared"} | known
            return {name: known[name] for name in ("project_id", "mission_id", "agent_id", "visibility")}
        return known

    def now_millis(self) -> int:
        """What the server's clock says."""
        millis: int = self.read("records/query", filter={"limit": 1})["page"]["evaluated_at_millis"]
        return millis

    def document(self) -> Json:
        """The document that the server describes its routes with."""
        document: Json = self.client.call("/openapi.json", None, retry="read")
        return document

    def pages(self, path: str, member: str, entries: str, limit: int | None, **query: Any) -> Iterator[Json]:
        """The entries of all pages of a filter, at most `limit` of them, each page read when it is needed."""
        left, cursor = limit, None
        while left is None or left > 0:
            size = PAGE_LIMIT_MAX if left is None else min(left, PAGE_LIMIT_MAX)
            asked = given(query) | {"limit": size} | given({"cursor": cursor})
            page = self.read(path, **{member: asked})["page"]
            yield from page[entries]
            cursor = page["next_cursor"]
            if cursor is None:
                return
            left = None if left is None else left - len(page[entries])


def given(members: Json) -> Json:
    """The members that were given: an option that was not is None, a list of none is empty."""
    return {name: value for name, value in members.items() if value is not None and value != ()}


def body_of(answer: Json) -> Json:
    """An answer without its envelope."""
    return {name: value for name, value in answer.items() if name not in {"contract_version", "scope"}}


def _show_log() -> None:
    import logging
    import sys

    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("relatum.client")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
