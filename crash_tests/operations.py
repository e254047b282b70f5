"""What clients ask for: seeded operations on what they know, most of them sound, some of them bound to be refused."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Lock
from typing import NamedTuple

from crash_tests.history import Command, Family, Json

_KINDS = ("semantic_related", "same_entity", "temporal_before", "causal_claim", "supports", "contradicts")
_DISPOSITIONS = ("approved", "rejected", "unreviewed")
_TOPICS = tuple(f"topic {number}" for number in range(6))
_LONG_PAST, _FAR_FUTURE = 1, 2**53
_YEAR_MILLIS = 365 * 24 * 3_600_000
_DECADES = 45 * _YEAR_MILLIS, 75 * _YEAR_MILLIS
"""From 2015 to 2045: what begins or ends in between meets clocks that are wrong by years."""

RECENT = 12
STANDINGS = ("archived", "pinned")
_ENDED = {"unarchived": "archived", "unpinned": "pinned"}

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
_LARGE_CHARACTERS = 40_000


class Known(NamedTuple):
    """An object at the newest revision that clients know."""

    object_id: str
    revision: int


class Sight:
    """What clients know of the objects of a partition: the newest revision that a receipt told of. For any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._records: dict[str, tuple[int, str]] = {}
        self._relations: dict[str, tuple[int, str]] = {}
        self._standing: dict[str, dict[str, None]] = {name: {} for name in STANDINGS}
        self._linked: dict[tuple[str, str], None] = {}
        self._verdicts: dict[str, tuple[str, str]] = {}
        self._suspected: dict[tuple[str, str], None] = {}

    def learn(self, command: Command) -> None:
        """What an accepted command tells."""
        receipt = command.told()
        if command.family in ("record", "relation"):
            self.hear(receipt)
        elif command.family == "link":
            ends = receipt["source_id"], receipt["target_id"]
            with self._lock:
                for pair in (ends, ends[::-1]):
                    self._linked.pop(pair, None)
                if receipt["action"] == "linked":
                    self._linked[ends] = None

    def hear(self, receipt: Json) -> None:
        """What the receipt of a record or a relation tells."""
        known, object_id = (
            (self._records, receipt["record_id"])
            if "record_id" in receipt
            else (self._relations, receipt["relation_id"])
        )
        action = receipt["action"]
        with self._lock:
            if known.get(object_id, (0, ""))[0] < receipt["revision"]:
                known[object_id] = receipt["revision"], action
            if action in STANDINGS:
                self._standing[action][object_id] = None
            elif action in _ENDED:
                self._standing[_ENDED[action]].pop(object_id, None)

    def hear_verdict(self, relation_id: str, ends: tuple[str, str]) -> None:
        """A relation came from a verdict on two records."""
        with self._lock:
            self._verdicts[relation_id] = ends

    def suspect(self, ends: tuple[str, str]) -> None:
        """Somebody says that two records contradict each other."""
        with self._lock:
            self._suspected[ends] = None

    def suspected(self, random: Random) -> tuple[str, str] | None:
        """Some pair of which that was said of late."""
        with self._lock:
            return random.choice(list(self._suspected)[-RECENT:]) if self._suspected else None

    def verdict(self, random: Random) -> tuple[Known, tuple[Known, Known]] | None:
        """Some relation that came from a verdict, and the records that it is about."""
        with self._lock:
            chosen = random.choice(list(self._verdicts)) if self._verdicts else None
            if chosen is None:
                return None
            source, target = (Known(end, self._records.get(end, (1, ""))[0]) for end in self._verdicts[chosen])
            return Known(chosen, self._relations[chosen][0]), (source, target)

    def standing(self, random: Random, standing: str) -> Known | None:
        """Some record that is archived, or pinned, as far as is known."""
        with self._lock:
            some = list(self._standing[standing])
            chosen = random.choice(some) if some else None
            return None if chosen is None else Known(chosen, self._records[chosen][0])

    def linked(self, random: Random) -> tuple[str, str] | None:
        """Some pair that is linked, as far as is known."""
        with self._lock:
            return random.choice(list(self._linked)) if self._linked else None

    def record(self, random: Random) -> Known | None:
        """Some record, hardly ever a deleted one."""
        return self._some(self._records, random, lambda action: action != "deleted")

    def relation(self, random: Random, wanted: Callable[[str], bool]) -> Known | None:
        """Some relation, if there is one then one whose last action is wanted."""
        return self._some(self._relations, random, wanted)

    def _some(self, known: dict[str, tuple[int, str]], random: Random, wanted: Callable[[str], bool]) -> Known | None:
        with self._lock:
            # Recent objects are the contested ones, and old ones must not be forgotten.
            some = list(known)[-RECENT:] if random.random() < 0.7 else list(known)
            likely = [one for one in some if wanted(known[one][1])] or some
            if not likely:
                return None
            chosen = random.choice(likely)
            return Known(chosen, known[chosen][0])


class Author:
    """Thinks of operations in one partition; deterministic but for what `sight` has come to show."""

    def __init__(self, random: Random, sight: Sight) -> None:
        self._random = random
        self._sight = sight

    def operation(self) -> tuple[Family, Json]:
        """The next one."""
        choices: dict[Callable[[], tuple[Family, Json]], int] = {
            self.creation: 22,
            self._revise: 8,
            self._delete: 3,
            self._derive: 7,
            self._review_record: 6,
            self._assert: 34,
            self._retire: 8,
            self._restore: 6,
            self._review_relation: 6,
        }
        chosen = self._random.choices(list(choices), list(choices.values()))[0]
        return chosen()

    # Records

    def creation(self) -> tuple[Family, Json]:
        """A new record."""
        return "record", {"type": "create", "record": self._record()}

    def _derive(self) -> tuple[Family, Json]:
        sources = self._refs(self._random.randint(1, 3))
        if not sources:
            return self.creation()
        how = {"method": "summary", "method_revision": "1", "evidence_ref": "run 7"}
        return "record", {"type": "derive", "record": self._record(), "derivation": {"sources": sources, **how}}

    def _revise(self) -> tuple[Family, Json]:
        return self._on_record({"type": "revise", "record": self._record()})

    def _delete(self) -> tuple[Family, Json]:
        return self._on_record({"type": "delete"})

    def _review_record(self) -> tuple[Family, Json]:
        return self._on_record({"type": "review", **self._review()})

    def _on_record(self, operation: Json) -> tuple[Family, Json]:
        record = self._sight.record(self._random)
        if record is None:
            return self.creation()
        target = {"record_id": record.object_id, "expected_revision": self._near(record.revision)}
        return "record", {**operation, **target}

    def _record(self) -> Json:
        random = self._random
        record: Json = {"content": self._text(), "event_time_millis": random.randrange(1_000_000)}
        if random.random() < 0.1:
            record["topic_key"] = self._topic()
        if random.random() < 0.1:
            record["valid_until_millis"] = self._instant()
        if random.random() < 0.3:
            record |= {
                "title": "a title",
                "tags": ["one", "two"],
                "confidence": 0.5,
                "data": {"n": [1, -2, 0.25, None]},
            }
        return record

    def _topic(self) -> str:
        return self._random.choice(_TOPICS)

    def _text(self) -> str:
        """Now and then one that spans a block of the write-ahead log."""
        random = self._random
        length = random.randrange(_LARGE_CHARACTERS) if random.random() < 0.02 else random.randrange(200)
        return f"text {random.getrandbits(64):x} " + "x" * length

    # Relations

    def _assert(self) -> tuple[Family, Json]:
        refs = self._refs(self._random.choice((2, 2, 2, 3, 4)))
        if len(refs) < 2:
            return self.creation()
        relation: Json = {"source": refs[0], "target": refs[1], "kind": self._random.choice(_KINDS)}
        relation["provenance"] = {
            "origin": "tool_observation",
            "method": "reading",
            "method_revision": "1",
            "evidence_ref": "log 9",
        }
        if refs[2:]:
            relation["evidence_sources"] = refs[2:]
        operation: Json = {"type": "assert", "relation": relation}
        if self._random.random() < 0.1:
            relation["valid_until_millis"] = self._instant()
        elif (drawn := self._random.random()) < 0.05:
            relation["valid_from_millis"] = self._instant()
        elif drawn < 0.3:
            operation["if_absent"] = True
        return "relation", operation

    def _retire(self) -> tuple[Family, Json]:
        return self._on_relation({"type": "retire", "evidence_ref": "note 5"}, lambda action: action != "retired")

    def _restore(self) -> tuple[Family, Json]:
        return self._on_relation({"type": "restore", "evidence_ref": "note 6"}, lambda action: action == "retired")

    def _review_relation(self) -> tuple[Family, Json]:
        return self._on_relation({"type": "review", **self._review()}, lambda _: True)

    def _on_relation(self, operation: Json, wanted: Callable[[str], bool]) -> tuple[Family, Json]:
        relation = self._sight.relation(self._random, wanted)
        if relation is None:
            return self._assert()
        target = {"relation_id": relation.object_id, "expected_revision": self._near(relation.revision)}
        return "relation", {**operation, **target}

    # Parts

    def _review(self) -> Json:
        return {"disposition": self._random.choice(_DISPOSITIONS), "evidence_ref": "note 4"}

    def _instant(self) -> int:
        return self._random.choice((_LONG_PAST, self._random.randrange(*_DECADES), _FAR_FUTURE))

    def _near(self, revision: int) -> int:
        """The revision, or now and then another one."""
        return revision if self._random.random() < 0.93 else max(0, revision + self._random.choice((-1, 1)))

    def _refs(self, count: int) -> list[Json]:
        """Some records at revisions that are likely current, distinct but for a rare slip."""
        refs: dict[str, Json] = {}
        for _ in range(count):
            known = self._sight.record(self._random)
            if known is not None:
                refs[known.object_id] = {
                    "record_id": known.object_id,
                    "revision": max(1, self._near(known.revision)),
                }
        chosen = list(refs.values())
        if chosen and self._random.random() < 0.02:
            chosen.append(self._random.choice((chosen[0], {"record_id": UNKNOWN_ID, "revision": 1})))
        return chosen
