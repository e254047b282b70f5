"""How many rows of a partition nothing else witnesses, and what they add up to: kept in its head (docs/integrity.md).

What always holds: a tally depends on the rows alone and not on the way to them, so that a rebuild arrives at the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from relatum.core import digests
from relatum.core.wire import Sparse
from relatum.errors import StorageInconsistency

NO_SUM: Final = bytes(digests.DIGEST_BYTES)


class Tally(Sparse, frozen=True):
    """A number of rows, and the sum of their digests modulo 2**256 as 32 bytes. A sum does not care about order."""

    rows: int = 0
    sum: bytes = NO_SUM

    def moved(self, key: bytes, before: bytes | None, after: bytes | None) -> Tally:
        """The tally once the body under a key is another one; None stands for no row.

        Raises StorageInconsistency where it can't have counted what was there.
        """
        rows = self.rows + (after is not None) - (before is not None)
        if rows < 0:
            raise StorageInconsistency("the head of a partition counts fewer rows than there are")
        total = int.from_bytes(self.sum, "big")
        if before is not None:
            total -= digests.row_number(key + before)
        if after is not None:
            total += digests.row_number(key + after)
        return tally(rows, total)


NOTHING: Final = Tally()


def tally(rows: int, total: int) -> Tally:
    """A tally of so many rows whose digests add up to `total`."""
    total %= digests.ACCUMULATOR_MODULUS
    if rows == 0 and total == 0:
        return NOTHING  # this very one, which is left out wherever it is encoded
    return Tally(rows, total.to_bytes(digests.DIGEST_BYTES, "big"))


def tally_in_slices(rows: Iterable[tuple[bytes, bytes]], slice_rows: int) -> Iterator[Tally]:
    """The tally of rows so far, after each so many of them; the last one is that of all."""
    count = total = 0
    for key, body in rows:
        count += 1
        total += digests.row_number(key + body)
        if count % slice_rows == 0:
            yield tally(count, total)
    yield tally(count, total)


def tally_of(rows: Iterable[tuple[bytes, bytes]]) -> Tally:
    """The tally of rows, each given by key and body."""
    count = total = 0
    for key, body in rows:
        count += 1
        total += digests.row_number(key + body)
    return tally(count, total)
