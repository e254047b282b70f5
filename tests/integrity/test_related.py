"""What depends on a record, damaged in every manner: no pair that is related is promoted, and no other one is skipped.

Promotions are the only commands that read these rows.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from relatum.clock import ManualClock
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref, uuid_bytes
from relatum.core.stored_judgments import Promoted
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table, Use
from relatum.store.memory import MemoryStore
from relatum.store.verify.directory import verify_rows
from tests.graphs.counted import Counted
from tests.integrity.damage import damaged, removed, torn
from tests.integrity.judged_probes import Fresh
from tests.integrity.probes import INCONSISTENT, Answer
from tests.integrity.scene import Keyed, Rows, ledger_on, opened
from tests.integrity.test_every_row import wrong
from tests.support.builders import START_MILLIS
from tests.support.stores import published_rows

OWN, USES = slice(-41, -25), -17
"""Where a key of a dependent names the record, and how that is used."""


class Scene(NamedTuple):
    """The rows, and the records by what has become of their relations to one of them, the hub."""

    rows: Rows
    named: dict[str, Ref]

    @property
    def pairs(self) -> dict[str, tuple[Ref, Ref]]:
        """What may be proposed, by name."""
        hub = self.named["hub"]
        found = {name: (hub, other) for name, other in self.named.items() if other != hub}
        return {**found, "neither": (self.named["lone"], self.named["derived"])}

    def id_of(self, name: str) -> bytes:
        """The id of a record, as it stands in keys."""
        return uuid_bytes(self.named[name].record_id)


@pytest.fixture(scope="module")
def scene() -> Scene:
    with ledger_on({}, ManualClock(START_MILLIS), Counted()) as ledger:
        desk = Keyed(ledger)
        hub, retired, rejected, active, revised, lone = (desk.create(name) for name in "abcdef")
        desk.relate(hub, active, evidence_sources=(lone,))
        desk.retire(desk.relate(hub, retired))
        desk.judge(desk.relate(rejected, hub), "rejected")
        desk.relate(revised, hub)
        named = {"hub": hub, "retired": retired, "rejected": rejected, "active": active, "lone": lone}
        named |= {"revised": desk.revise(revised), "derived": desk.derive(lone)}
        return Scene(published_rows(ledger), named)


def outcomes(scene: Scene, left: Rows) -> dict[str, Answer]:
    """What becomes of each pair that is proposed, on a ledger of its own."""
    found: dict[str, Answer] = {}
    for name, (one, other) in scene.pairs.items():
        with opened(left) as ledger:
            try:
                event = Fresh(ledger).promote("2026-01-05", (one, other, "supports"))
            except StorageInconsistency:
                found[name] = INCONSISTENT
                continue
        assert isinstance(event, JudgmentEvent)
        assert isinstance(event.operation, Promoted)
        [outcome] = event.operation.outcomes
        found[name] = outcome.outcome
    return found


@pytest.fixture(scope="module")
def unharmed(scene: Scene) -> dict[str, Answer]:
    found = outcomes(scene, scene.rows)
    related = {name for name, outcome in found.items() if outcome == "related_already"}
    assert {"retired", "rejected", "active"} == related
    assert {"related_already", "promoted"} == set(found.values())
    return found


def dependents(scene: Scene, *uses: Use) -> list[bytes]:
    return [
        key
        for key in sorted(scene.rows)
        if any(key[:PREFIX_BYTES]) and key[PREFIX_BYTES] == Table.DEPENDENT and (not uses or key[USES] in uses)
    ]


def elsewhere(key: bytes) -> Rows:
    """The row lies under another content, of those that there are."""
    number = USES - 1
    other = key[:number] + bytes([3 - key[number]]) + key[USES:]
    return {other: rows.seal(other, b"")}


def test_a_row_that_is_gone_or_torn_or_lies_under_another_content_lets_no_pair_be_judged_wrongly(
    scene: Scene, unharmed: dict[str, Answer]
) -> None:
    for key in dependents(scene):
        row = scene.rows[key]
        longer = rows.seal(key, rows.unseal(key, row) + b"\1")
        others = {other: value for other, value in scene.rows.items() if other != key}
        for left in ({}, {key: torn(key, row)}, {key: longer}, elsewhere(key)):
            assert set() == wrong(unharmed, outcomes(scene, {**others, **left}))


@pytest.mark.parametrize("name", ["retired", "rejected", "active"])
def test_a_row_without_which_a_pair_would_be_promoted_is_missed_by_whoever_proposes_it(scene: Scene, name: str) -> None:
    [key] = [key for key in dependents(scene) if key[OWN] == scene.id_of(name)]
    assert INCONSISTENT == outcomes(scene, damaged(scene.rows, (key,), removed))[name]


def test_every_row_that_is_gone_is_missed_by_verify(scene: Scene) -> None:
    for key in dependents(scene):
        left = damaged(scene.rows, (key,), removed)
        assert {"dependent", "header"} == {one.family for one in verify_rows(MemoryStore(left)).findings}


def test_a_row_too_many_relates_nobody(scene: Scene, unharmed: dict[str, Answer]) -> None:
    """Of a relation that there is not, of one that has other ends, and of one that is used otherwise."""
    for key in dependents(scene, Use.SOURCE, Use.TARGET):
        body = rows.unseal(key, scene.rows[key])
        swapped = key[:USES] + bytes([Use.SOURCE + Use.TARGET - key[USES]]) + key[-16:]
        at_another = key[: PREFIX_BYTES + 1] + scene.id_of("lone") + key[USES - 8 :]
        for beside in (key[:-1] + bytes([key[-1] ^ 1]), swapped, at_another):
            assert beside not in scene.rows
            after = outcomes(scene, {**scene.rows, beside: rows.seal(beside, body)})
            assert set() == wrong(unharmed, after)


def test_both_rows_of_a_retired_relation_that_are_gone_together_are_missed_too(
    scene: Scene, unharmed: dict[str, Answer]
) -> None:
    [at_target] = [key for key in dependents(scene, Use.TARGET) if key[OWN] == scene.id_of("retired")]
    both = tuple(key for key in dependents(scene) if key[-16:] == at_target[-16:])
    assert 2 == len(both)
    left = damaged(scene.rows, both, removed)
    found = outcomes(scene, left)
    assert set() == wrong(unharmed, found)
    assert INCONSISTENT == found["retired"]
    assert {"dependent", "header"} == {one.family for one in verify_rows(MemoryStore(left)).findings}
