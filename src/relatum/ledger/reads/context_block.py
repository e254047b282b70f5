"""The text of a context block: how much of which record it has room for.

What always holds: the block never has more characters than its budget. A tier is closed as soon as a record of the
greatest length would not fit any more: so a weaker one never slips in where a stronger one had no room, and one that is
added to the partition below all others changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from relatum.core.records import Payload, RecordMeta
from relatum.ledger.reads.context_ranking import Content, Ranked

ENTRY_CHARACTERS_MAX = 600
ENTRY_SHARE = 5
"""Below the pinned records none takes more than a fifth of the budget."""

REST_SHARE = 4
ENTRIES_MAX = 500
LOOKS_MAX = 1_000
"""How many records are read for a block; some turn out not to be eligible."""


class Added(NamedTuple):
    """A record of the block."""

    ranked: Ranked
    meta: RecordMeta


class Block:
    """The text so far. `look` gives what a ranked record says; None where it can't be shown after all.

    `mark` gives what is said of a record at the end of its line.
    """

    def __init__(
        self, budget: int, look: Callable[[Ranked], Content | None], mark: Callable[[RecordMeta], str]
    ) -> None:
        self.added: list[Added] = []
        self.is_cut = False
        """Whether the block ended for the number of records that it has, or that were looked at."""
        self._budget = budget
        self._entry_max = min(ENTRY_CHARACTERS_MAX, budget // ENTRY_SHARE)
        self._look = look
        self._mark = mark
        self._lines: list[str] = []
        self._used = self._looks = 0

    @property
    def text(self) -> str:
        """The block."""
        return "\n".join(self._lines)

    @property
    def has_room(self) -> bool:
        """Whether another record of the greatest length would fit."""
        return self._fits(self._entry_max, self._budget)

    def add_pinned(self, pinned: Sequence[Ranked]) -> None:
        """All of them, each cut to an equal share of the budget if need be."""
        share = min(ENTRY_CHARACTERS_MAX, self._budget // max(1, len(pinned)) - 1)
        for ranked in pinned:
            self._add(ranked, share)

    def add_matched(self, matched: Iterable[Ranked]) -> None:
        """As many as the budget allows, in their order."""
        self._add_up_to(matched, self._budget)

    def add_rest(self, rest: Iterable[Ranked]) -> None:
        """As many as a quarter of the budget allows, in their order."""
        self._add_up_to(rest, min(self._budget, self._used + self._budget // REST_SHARE))

    def _add_up_to(self, ranked: Iterable[Ranked], room: int) -> None:
        for one in ranked:
            if not self._fits(self._entry_max, room):
                return
            if len(self.added) >= ENTRIES_MAX or self._looks >= LOOKS_MAX:
                self.is_cut = True
                return
            self._add(one, self._entry_max)

    def _fits(self, length: int, room: int) -> bool:
        return 0 < length <= room - self._used - bool(self._lines)

    def _add(self, ranked: Ranked, characters_max: int) -> None:
        self._looks += 1
        content = self._look(ranked)
        if content is None:
            return
        line = _line(content.payload, characters_max, self._mark(content.meta))
        if self._fits(len(line), self._budget):
            self._used += len(line) + bool(self._lines)
            self._lines.append(line)
            self.added.append(Added(ranked, content.meta))


def _line(payload: Payload, characters_max: int, mark: str) -> str:
    """A record on one line: its title, then its content, cut where it is too long, then what is said of it."""
    characters_max -= len(mark)
    title = f"{payload.title}: " if payload.title else ""
    text = "- " + " ".join(f"{title}{payload.content}".split())
    cut = text if len(text) <= characters_max else text[: max(0, characters_max - 1)].rstrip() + "…"
    return cut + mark
