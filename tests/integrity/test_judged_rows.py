"""Every row that judgments, links and promotions leave, damaged in every manner.

Nobody is answered wrongly where a row is torn or forged. Where one is gone that nothing beside it tells of, those who
read can't know better, and `relatum verify` and the scrub do: these cases are named here, and each must be a real one.
"""

from __future__ import annotations

import pytest

from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.verify.directory import verify_rows
from tests.integrity import judged_scene
from tests.integrity.damage import damaged, forged, removed, torn
from tests.integrity.judged_probes import answers
from tests.integrity.judged_scene import JudgedScene
from tests.integrity.probes import INCONSISTENT, Answer
from tests.integrity.test_every_row import forgeries, wrong

TABLES = [table for table in Table if table >= Table.STANDING]

BLIND: dict[Table, set[str]] = {
    Table.STANDING: {
        "inspect archived",
        "annotated archived",
        "search",
        "overview",
        "context",
        "status of old",
        "status of rival",
        "status of archived",
        "status of stale",
        "validate",
        "needs review",
        "unarchive",
        "unpin",
        "supersede what is superseded",
        "repeat a verdict",
    },
    Table.REPLACED: {"status of current", "status of waiting"},
    Table.CANDIDATE_STATUS: {"queue of judged", "queue of orphaned"},
    Table.CANDIDATE_PAIR: {"submit"},
    Table.CANDIDATE_END: {"annotated current", "annotated rival", "annotated waiting", "search"},
    Table.VERDICT_PAIR: {"replace a verdict"},
    Table.VERDICT_END: {"annotated current", "annotated rival", "search"},
    Table.SWEPT: {"undo a run", "undo an operation"},
    Table.SUSPICION: {"promote"},
    Table.FACT: {"status of old", "status of current", "status of rival", "validate"},
}
"""Who does not miss a row that is gone, by its table."""


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


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name.lower())
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


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name.lower())
def test_a_row_that_is_gone_is_missed_but_by_those_who_can_not_and_by_verify(
    judged: JudgedScene, unharmed: dict[str, Answer], table: Table
) -> None:
    blind: set[str] = set()
    keys = keys_of(judged, table)
    assert keys
    for key in keys:
        left = damaged(judged.rows, (key,), removed)
        blind |= wrong(unharmed, answers(judged, left))
        assert not verify_rows(MemoryStore(left)).clean
    assert BLIND.get(table, set()) == blind


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
