"""Every row that judgments, links, promotions, topics and facts leave, damaged in every manner.

Nobody is answered wrongly, whether a row is torn, forged or gone; and a row that is gone is missed by somebody, by
`relatum verify` too.
"""

from __future__ import annotations

import pytest

from relatum.store import rows
from relatum.store.keys import COUNTED, PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.store.verify.directory import verify_rows
from tests.integrity import judged_scene
from tests.integrity.damage import damaged, forged, removed, torn
from tests.integrity.judged_probes import answers
from tests.integrity.judged_scene import JudgedScene
from tests.integrity.probes import INCONSISTENT, Answer
from tests.integrity.test_every_row import forgeries, wrong
from tests.support.matrix import every

TABLES = sorted(COUNTED)


@pytest.fixture(scope="module")
def judged() -> JudgedScene:
    return judged_scene.made()


@pytest.fixture(scope="module")
def unharmed(judged: JudgedScene) -> dict[str, Answer]:
    found = answers(judged, judged.rows)
    assert INCONSISTENT not in found.values()
    return found


def keys_of(scene: JudgedScene, table: Table) -> list[bytes]:
    return [key for key in sorted(scene.rows) if any(key[:PREFIX_BYTES]) and key[PREFIX_BYTES] == table]


@pytest.mark.parametrize("table", every(3, TABLES), ids=lambda table: table.name.lower())
def test_a_row_that_is_torn_or_forged_makes_no_answer_wrong(
    judged: JudgedScene, unharmed: dict[str, Answer], table: Table
) -> None:
    own = keys_of(judged, table)
    for key in {own[0], own[-1]}:
        for manner in (torn, forged):
            assert set() == wrong(unharmed, answers(judged, damaged(judged.rows, (key,), manner)))


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name.lower())
def test_a_row_that_is_forged_anywhere_makes_no_answer_wrong(
    judged: JudgedScene, unharmed: dict[str, Answer], table: Table
) -> None:
    for key in keys_of(judged, table):
        for left in forgeries(key, judged.rows[key]):
            assert set() == wrong(unharmed, answers(judged, {**judged.rows, key: left}))


@pytest.mark.parametrize("table", every(3, TABLES), ids=lambda table: table.name.lower())
def test_a_row_that_is_gone_makes_no_answer_wrong_and_is_missed_by_verify(
    judged: JudgedScene, unharmed: dict[str, Answer], table: Table
) -> None:
    keys = keys_of(judged, table)
    assert keys
    for key in keys:
        left = damaged(judged.rows, (key,), removed)
        after = answers(judged, left)
        assert set() == wrong(unharmed, after)
        assert INCONSISTENT in after.values()
        assert {table.name.lower()} <= {one.family for one in verify_rows(MemoryStore(left)).findings}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name.lower())
def test_a_row_too_many_makes_no_answer_wrong(judged: JudgedScene, unharmed: dict[str, Answer], table: Table) -> None:
    key = keys_of(judged, table)[-1]
    beside = key[:-1] + bytes([key[-1] ^ 1])
    assert beside not in judged.rows
    after = answers(judged, {**judged.rows, beside: rows.seal(beside, rows.unseal(key, judged.rows[key]))})
    assert set() == wrong(unharmed, after)
    assert INCONSISTENT in after.values()


def test_a_link_of_one_pair_in_the_place_of_another_is_noticed(
    judged: JudgedScene, unharmed: dict[str, Answer]
) -> None:
    one, *_, other = keys_of(judged, Table.LINK)
    exchanged = {**judged.rows, one: rows.seal(one, rows.unseal(other, judged.rows[other]))}
    after = answers(judged, exchanged)
    assert INCONSISTENT == after["health"]
    assert set() == wrong(unharmed, after)


def test_a_candidate_or_a_verdict_in_the_place_of_another_is_noticed(
    judged: JudgedScene, unharmed: dict[str, Answer]
) -> None:
    for table in (Table.CANDIDATE, Table.VERDICT):
        one, *_, other = keys_of(judged, table)
        exchanged = {**judged.rows, other: rows.seal(other, rows.unseal(one, judged.rows[one]))}
        after = answers(judged, exchanged)
        assert INCONSISTENT in after.values()
        assert set() == wrong(unharmed, after)
