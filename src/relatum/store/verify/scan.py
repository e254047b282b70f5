"""Reading a table one row ahead.

What always holds: each row that is passed was checked against its checksum and counted once, whichever slice it fell
into; a row that fails is told and otherwise taken for missing; where the engine can't read on, the table ends, and is
marked as incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import beyond
from relatum.store.kv import Reader
from relatum.store.verify.audit import REST, Audit, mark

END: Final = b"\xff" * 64
"""Sorts behind the rest of every key that relatum makes."""


SEQUENCE_BYTES: Final = 8


def numbered(sequence: int) -> bytes:
    """The rest of a key that is nothing but a number."""
    return sequence.to_bytes(SEQUENCE_BYTES, "big")


def behind(sequence: int) -> bytes:
    """The smallest rest behind that of a number; behind none there is everything."""
    return numbered(sequence) + b"\0" if sequence else b""


class Rows:
    """The rows of a table from `start` on. `key`, `rest` of it and `body` are those of the row ahead.

    `number` is the digest of the row ahead, if its audit asks for it. Once there is none, `ended` is set and `rest` is
    `END`; `broken`, too, if there may be more that can't be read.
    """

    __slots__ = (
        "_audit",
        "_damaged",
        "_digest_sum",
        "_marks",
        "_walk",
        "body",
        "broken",
        "ended",
        "key",
        "number",
        "passed",
        "rest",
    )

    def __init__(self, audit: Audit, reader: Reader, start: bytes) -> None:
        self.key = self.rest = self.body = b""
        self.number = 0
        self.ended = self.broken = False
        self.passed = 0
        self._digest_sum = self._marks = 0
        self._audit = audit
        self._damaged: list[bytes] = []
        self._walk = self._rows(reader, start)
        next(self._walk)

    def next(self) -> None:
        """Pass the row ahead."""
        next(self._walk)

    def take(self, rest: bytes) -> bytes | None:
        """The body of the row of `rest`, which is passed; None if there is none. Rows before it should not be there."""
        if self.rest != rest:
            self.reject_before(rest)
            if self.rest != rest:
                return None
        body = self.body
        next(self._walk)
        return body

    def skip(self, prefix: bytes) -> None:
        """Pass every row ahead whose rest begins with `prefix`."""
        while self.rest.startswith(prefix) and not self.ended:
            next(self._walk)

    def reject(self) -> None:
        """Pass the row ahead, which should not be there."""
        self._audit.find(f"the row {self.key.hex()} should not be there: nothing accounts for it")
        next(self._walk)

    def reject_before(self, rest: bytes) -> None:
        """Pass the rows before `rest`, which should not be there."""
        while self.rest < rest:
            self.reject()

    def reject_all(self, prefix: bytes) -> None:
        """Pass the rows ahead whose rest begins with `prefix`, none of which should be there."""
        while self.rest.startswith(prefix) and not self.ended:
            self.reject()

    def close(self, boundary: bytes) -> None:
        """The slice ends before the rest `boundary`: enter what was passed, and the damaged rows among it."""
        for key in self._damaged:
            if key[REST:] < boundary:
                self.passed += 1
                self._audit.find(f"the row {key.hex()} does not match its checksum")
        self._audit.read(self.passed, self._digest_sum, self._marks)

    def _rows(self, reader: Reader, start: bytes) -> Iterator[None]:
        """Makes one row after another the row ahead; going on passes it. One frame for all of them makes it fast."""
        audit, unseal = self._audit, rows.unseal
        number_of, summed = audit.number_of, audit.summed
        try:
            for key, row in reader.scan(audit.prefix + start, beyond(audit.prefix)):
                try:
                    body = unseal(key, row)
                except StorageInconsistency:
                    self._damaged.append(key)
                    continue
                self.key, self.rest, self.body = key, key[REST:], body
                number = self.number = 0 if number_of is None else number_of(key + body)
                yield
                self._digest_sum += number
                if summed:
                    self._marks += mark(key + body)
                self.passed += 1
        except StorageInconsistency:
            audit.complete, self.broken = False, True
            audit.find(f"damaged bytes behind the row {(self.key or audit.prefix).hex()}; the rest is unread")
        self.rest, self.ended = END, True
        yield
