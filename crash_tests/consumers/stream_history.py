"""What one change stream was ever heard to tell, to whomever: each place once, and never another thing at that place.

For any thread. What always holds: places that were heard belong to one journal, and no change was heard at two of them.
"""

from __future__ import annotations

from random import Random
from threading import Lock

from crash_tests.history import Json
from crash_tests.violation import require, require_same

_IDENTIFYING = ("receipt_digest", "kind", "record_id", "relation_id")
"""By what a change is known: a command may bring about several."""


class Heard:
    """One stream of one partition. Cursors and deliveries are JSON as they came."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._deliveries: dict[int, Json] = {}
        self._places: dict[tuple[object, ...], int] = {}
        self._acknowledged = 0
        self._last = 0
        self.baseline: Json | None = None

    @property
    def acknowledged(self) -> int:
        """How many changes must be there at least: so many commands that changed something were acknowledged."""
        return self._acknowledged

    @property
    def last(self) -> int:
        """The furthest sequence that was told."""
        return self._last

    def acknowledge(self) -> None:
        """A command that this stream must tell of was acknowledged."""
        with self._lock:
            self._acknowledged += 1

    def begin(self, baseline: Json) -> None:
        """The journal was said to begin there."""
        with self._lock:
            self.baseline = self.baseline or baseline
        require_same("where a change stream begins", self.baseline, baseline)

    def hear(self, delivery: Json) -> None:
        """A delivery, told to somebody for the first time or again."""
        cursor, told = delivery["cursor"], delivery["change"]
        change = tuple(told.get(name) for name in _IDENTIFYING)
        sequence: int = cursor["sequence"]
        with self._lock:
            known = self._deliveries.setdefault(sequence, delivery)
            place = self._places.setdefault(change, sequence)
            self._last = max(self._last, sequence)
        require_same(f"what a change stream tells at sequence {sequence}", known, delivery)
        require(place == sequence, f"a change stream tells a change at sequence {sequence} that it told at {place}")
        if self.baseline is not None:
            names = ("version", "stream", "journal_id")
            found = {name: cursor[name] for name in names}
            require_same("the journal of a cursor", {name: self.baseline[name] for name in names}, found)

    def cursor_at(self, sequence: int) -> Json | None:
        """The cursor at a sequence; None where none was told."""
        if sequence == 0:
            return self.baseline
        delivery = self._deliveries.get(sequence)
        return None if delivery is None else delivery["cursor"]

    def holds(self, cursor: Json) -> bool:
        """Whether it is a cursor that was told."""
        return self.cursor_at(cursor["sequence"]) == cursor

    def some_cursor(self, random: Random) -> Json | None:
        """Some cursor that was told, the baseline included."""
        return self.cursor_at(random.randint(0, self._last))

    def between(self, after: int, through: int) -> list[Json]:
        """What was told after one sequence, up to and with another; a violation if not all of it is known."""
        places = range(after + 1, through + 1)
        missing = [place for place in places if place not in self._deliveries]
        require(
            not missing, f"nothing is known of sequence {missing[:1]}, and it was not told when it should have been"
        )
        return [self._deliveries[place] for place in places]
