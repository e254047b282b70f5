"""Which refusal a record command meets when one or two things are wrong with it (records.md, commands)."""

from __future__ import annotations

import pytest

from relatum import limits
from relatum.core.ids import Ref
from tests.core.faults import Draft, Fault, alone_and_in_pairs, conflict, static, unknown
from tests.core.world import World
from tests.support import builders
from tests.support.builders import unknown_id
from tests.support.steps import Operation

TOO_LARGE = {"text": "x" * 20_000}  # beside the greatest content

KEY = static(
    "blank key", {"key": " "}, "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
)
ZERO = static("revision 0", {"revision": "zero"}, "expected_revision starts at 1")
EVIDENCE = static(
    "blank evidence",
    {"evidence_ref": "\t"},
    "evidence_ref must be 1 to 2048 bytes, not blank, without control characters",
)
CONTENT = static("blank content", {"content": "\n"}, "content must be 1 byte to 48 KiB and not blank")
UNKNOWN = unknown("unknown record", {"target": "unknown"}, "no such record")
STALE = conflict("stale revision", {"revision": "stale"}, "the record is at another revision")
DELETED = unknown("tombstone", {"target": "deleted"}, "no such record")
DERIVED = conflict("derived record", {"target": "derived"}, "a derived record can't be revised")
TOPIC = conflict("topic taken", {"topic_key": "tides"}, "the topic key is held by another record")
SIZE = static("over 64 KiB", {"data": TOO_LARGE}, "the stored record would be over 64 KiB")
SOURCES = static("a source twice", {"sources": "twice"}, "derivation sources must be distinct")
SOURCE_MISSING = unknown(
    "source missing", {"sources": "missing"}, "the derivation source at 1, or one that it was made of, does not exist"
)
SOURCE_CHANGED = conflict(
    "source changed", {"sources": "changed"}, "the derivation source at 1 is at another revision or not eligible"
)
TOO_DEEP = static("too deep", {"sources": "too deep"}, "the derivation is too deep, too wide or circular")

FAULTS: dict[str, list[Fault]] = {
    "create": [KEY, CONTENT, TOPIC, SIZE],
    "derive": [KEY, CONTENT, SOURCES, SOURCE_MISSING, SOURCE_CHANGED, TOO_DEEP, TOPIC, SIZE],
    "revise": [KEY, ZERO, CONTENT, UNKNOWN, STALE, DELETED, DERIVED, TOPIC, SIZE],
    "delete": [KEY, ZERO, UNKNOWN, STALE, DELETED],
    "review": [KEY, ZERO, EVIDENCE, UNKNOWN, STALE, DELETED],
}

SOUND: Draft = {
    "key": "key",
    "target": "live",
    "revision": "current",
    "content": "x" * limits.CONTENT_BYTES_MAX,
    "topic_key": "currents",
    "data": None,
    "evidence_ref": "note/1",
    "sources": "sound",
}


class Stage:
    """A partition in which every choice of a draft leads somewhere."""

    def __init__(self) -> None:
        self.world = world = World()
        live = world.revise(world.create("live"))
        changed = world.create("changed")
        world.create("the holder", topic_key="tides")
        self.targets = {
            "live": live,
            "deleted": world.delete(world.create("gone")),
            "derived": world.derive(world.create("source")),
            "unknown": Ref(record_id=unknown_id(), revision=7),
        }
        self.sources = {
            "sound": (live,),
            "twice": (live, live),
            "missing": (live, Ref(record_id=unknown_id(), revision=1), changed),
            "changed": (live, changed, Ref(record_id=unknown_id(), revision=1)),
            "too deep": (self._tower(limits.ANCESTRY_DEPTH_MAX), changed),
        }
        world.revise(changed)

    def _tower(self, storeys: int) -> Ref:
        top = self.world.create("the ground")
        for _ in range(storeys):
            top = self.world.derive(top)
        return top

    def operation(self, kind: str, draft: Draft) -> Operation:
        target = self.targets[draft["target"]]
        revision = {"current": target.revision, "stale": target.revision + 1, "zero": 0}[draft["revision"]]
        at = Ref(record_id=target.record_id, revision=revision)
        content = {name: draft[name] for name in ("content", "topic_key", "data")}
        match kind:
            case "create":
                return builders.create(**content)
            case "derive":
                return builders.derive(*self.sources[draft["sources"]], **content)
            case "revise":
                return builders.revise(at, **content)
            case "delete":
                return builders.delete(at)
            case _:
                return builders.review(at, evidence_ref=draft["evidence_ref"])


@pytest.mark.parametrize("kind", FAULTS)
def test_a_sound_draft_is_accepted(kind: str) -> None:
    stage = Stage()
    stage.world.accept(stage.operation(kind, SOUND))


def check(kind: str, changes: Draft, told: Fault) -> None:
    stage = Stage()
    draft = SOUND | changes
    refused = stage.world.refuse(stage.operation(kind, draft), draft["key"])
    assert (told.status, told.code, told.message) == (refused.status, refused.code, refused.message)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["create"]))
def test_creating_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("create", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["derive"]))
def test_deriving_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("derive", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["revise"]))
def test_revising_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("revise", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["delete"]))
def test_deleting_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("delete", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["review"]))
def test_reviewing_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("review", changes, told)
