"""Records in outline: what the place of a record in a context block depends on, without its content."""

from __future__ import annotations

from typing import NamedTuple


class Outline(NamedTuple):
    """An active, current record. Its id is the raw one; ids are in order of creation, elsewhere before an import."""

    record_id: bytes
    created_at_millis: int
    category: str | None
    valid_until_millis: int | None
    rejected: bool

    def is_eligible(self, now_millis: int) -> bool:
        """Whether nothing but its ancestry may stand against it."""
        expired = self.valid_until_millis is not None and now_millis >= self.valid_until_millis
        return not (self.rejected or expired)


class Surroundings(NamedTuple):
    """The newest active, current records, and how many distinct words of a text each record has that has any.

    `complete`: whether those are all; `behind`: whether newer changes of records are not among them yet.
    """

    outlines: list[Outline]
    matches: dict[bytes, int]
    complete: bool
    behind: bool = False


OUTLINES_MAX = 10_000
"""How many records a context block is made of, the newest ones."""
