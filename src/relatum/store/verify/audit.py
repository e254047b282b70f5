"""One table of one partition under verification: what was read of it, and what the events say should be in it.

What lives here: `Audit`, and the `Slices` that it keeps. What must not: any knowledge of what the rows mean.

Rows that events imply one by one are compared by sums: each row becomes a number, its `mark`, and the marks of the rows
that are stored must add up to those of the rows that are implied. A sum does not care about order, so neither side is
ever held in memory or sorted, and parts of a table that were read apart are put together by adding. What always holds:
a row that is missing, altered, left over or misplaced makes the sums differ. A mark means something to this run alone;
what a report says of the rows is the sum of their digests, which are the same for ever.

A store that is being served is read in slices, each from a view of its own. A row that was read at a view of `n` events
is as those `n` left it, so of the events only the first `n` count for its key: `Slices` knows `n` for every key.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from relatum.core import digests
from relatum.limits import U64_MAX
from relatum.store.keys import PREFIX_BYTES

REST: Final = PREFIX_BYTES + 1
"""Where the rest of a key begins, behind prefix and table."""

Number = Callable[[bytes], int]
"""The digest of key and body of a row as a number."""

MARKS: Final = 1 << 64
"""Marks are added modulo this."""

mark: Final = hash
"""Key and body of a row as 64 bits, by the key that the interpreter drew when it started: no damage was made to fit.

Python's own hash of bytes, SipHash, because a digest takes six times as long. Processes that add to one sum must have
the same key (`helpers.py`). Whoever sets PYTHONHASHSEED chooses it.
"""


class Share(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an audit has come to, in another process perhaps. The sum of digests is modulo 2**256, as 32 bytes."""

    stored: int = 0
    implied: int = 0
    digest_sum: bytes = bytes(digests.DIGEST_BYTES)
    stored_marks: int = 0
    implied_marks: int = 0
    complete: bool = True


NOTHING: Final = Share()


class Slices:
    """How many events the view had that each stretch of a table was read from. Stretches are told in order."""

    def __init__(self) -> None:
        self.fewest = U64_MAX
        """The smallest of these numbers: events up to it count for every key. If none is told, all events count."""
        self._ends: list[bytes] = []
        self._events: list[int] = []

    def add(self, end: bytes, events: int) -> None:
        """Everything from the last end up to `end`, exclusive, was read at a view of so many events."""
        if not self._events:
            self.fewest = events
        if self._events and self._events[-1] == events:
            self._ends[-1] = end
        else:
            self._ends.append(end)
            self._events.append(events)

    def all_at(self, events: int) -> bool:
        """Whether every stretch was read at a view of so many; so it is if none is told."""
        return all(seen == events for seen in self._events)

    def events_at(self, rest: bytes) -> int:
        """How many events the view had in which `rest` was looked for."""
        return self._events[bisect_right(self._ends, rest)]


class Audit:
    """The books of one table. `find` notes something about it that does not hold."""

    def __init__(self, prefix: bytes, find: Callable[[str], None], number_of: Number | None, *, summed: bool) -> None:
        """`number_of` is None if nobody asks for digests; `summed` tells that rows are compared by their marks."""
        self.prefix = prefix
        self.find = find
        self.number_of = number_of
        self.summed = summed
        self.complete = True
        """Whether everything stored could be read."""
        self.stored = self.implied = 0
        self.digest_sum = 0
        self.stored_marks = self.implied_marks = 0
        self.slices = Slices()

    def read(self, rows: int, digest_sum: int, marks: int) -> None:
        """So many stored rows were looked at, with these sums of their digests and of their marks."""
        self.stored += rows
        self.digest_sum += digest_sum
        self.stored_marks += marks

    def imply(self, event: int, key: bytes, body: bytes) -> None:
        """The event of this number left a row."""
        if event <= self.slices.fewest or event <= self.slices.events_at(key[REST:]):
            self.implied += 1
            self.implied_marks += mark(key + body)

    def revoke(self, event: int, key: bytes, body: bytes) -> None:
        """The event of this number removed, or replaced, a row that an earlier one had left."""
        if event <= self.slices.fewest or event <= self.slices.events_at(key[REST:]):
            self.implied -= 1
            self.implied_marks -= mark(key + body)

    def differs(self) -> bool:
        """Whether the stored rows are others than the implied ones, as far as that is told by sums."""
        if not self.summed:
            return False
        return self.stored != self.implied or (self.stored_marks - self.implied_marks) % MARKS != 0

    def share(self) -> Share:
        """What it has come to so far."""
        return Share(
            stored=self.stored,
            implied=self.implied,
            digest_sum=sum_bytes(self.digest_sum),
            stored_marks=self.stored_marks % MARKS,
            implied_marks=self.implied_marks % MARKS,
            complete=self.complete,
        )

    def take_in(self, share: Share) -> None:
        """Adds what another audit of the same table has come to."""
        self.read(share.stored, int.from_bytes(share.digest_sum, "big"), share.stored_marks)
        self.implied += share.implied
        self.implied_marks += share.implied_marks
        self.complete = self.complete and share.complete


def sum_bytes(total: int) -> bytes:
    """A sum of digests, modulo 2**256."""
    return (total % digests.ACCUMULATOR_MODULUS).to_bytes(digests.DIGEST_BYTES, "big")
