"""Every row of a partition, damaged at several places and in every manner: nobody ever gets a wrong answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from tests.integrity.damage import Places, torn
from tests.integrity.probes import INCONSISTENT, Answer, answers
from tests.integrity.scene import Rows, Scene

FORGED_PLACES = 3


def wrong(before: dict[str, Answer], after: dict[str, Answer]) -> set[str]:
    """The probes that answered otherwise than before, and not that something is inconsistent."""
    return {name for name, answer in after.items() if answer not in (before[name], INCONSISTENT)}


def forgeries(key: bytes, row: bytes) -> Iterator[bytes]:
    """The row with one bit changed, here and there, each under a checksum of its own."""
    body = rows.unseal(key, row)
    for place in sorted({len(body) * number // FORGED_PLACES for number in range(FORGED_PLACES)} - {len(body)}):
        yield rows.seal(key, body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize("table", list(Table), ids=lambda table: table.name.lower())
def test_no_damage_to_a_row_makes_an_answer_wrong(scene: Scene, before: dict[str, Answer], table: Table) -> None:
    for key in Places(scene).everything():
        if key[PREFIX_BYTES] != table:
            continue
        row = scene.rows[key]
        without = {other: value for other, value in scene.rows.items() if other != key}
        assert set() == wrong(before, answers(scene, without))
        for left in (torn(key, row), *forgeries(key, row)):
            assert set() == wrong(before, answers(scene, {**scene.rows, key: left}))


Copy = tuple[Callable[[Places, Scene], bytes], Callable[[Places, Scene], bytes]]
COPIES: dict[str, Copy] = {
    "a relation in the place of another": (
        lambda at, _: at.relation(),
        lambda at, scene: at.other_relation(scene.side),
    ),
    "an older revision in the place of the current relation": (
        lambda at, _: at.relation(),
        lambda at, _: at.relation_revision(3),
    ),
    "a revision in the place of another": (
        lambda at, _: at.relation_revision(2),
        lambda at, _: at.relation_revision(1),
    ),
    "a record in the place of another": (
        lambda at, scene: at.record(scene.source),
        lambda at, scene: at.record(scene.target),
    ),
    "a payload in the place of another": (
        lambda at, scene: at.payload(scene.source),
        lambda at, scene: at.payload(scene.target),
    ),
    "an event in the place of another": (
        lambda at, scene: at.event(scene.main[3].commit_sequence),
        lambda at, scene: at.event(scene.main[2].commit_sequence),
    ),
    "a pointer in the place of another": (
        lambda at, scene: at.pointer(scene.main[0]),
        lambda at, scene: at.pointer(scene.side),
    ),
    "a header in the place of another": (
        lambda at, scene: at.header(scene.source),
        lambda at, scene: at.header(scene.target),
    ),
    "a journal entry in the place of another": (lambda at, _: at.relation_entry(2), lambda at, _: at.relation_entry(1)),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_sound_row_in_a_foreign_place_is_noticed(scene: Scene, before: dict[str, Answer], name: str) -> None:
    to_key, from_key = (choose(Places(scene), scene) for choose in COPIES[name])
    body = rows.unseal(from_key, scene.rows[from_key])
    left: Rows = {**scene.rows, to_key: rows.seal(to_key, body)}
    after = answers(scene, left)
    assert INCONSISTENT in after.values()
    assert set() == wrong(before, after)
