"""Histories of judgments, drawn at random: a sound store is clean, and what forgets or forges a row of it is found."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from relatum.clock import ManualClock
from relatum.core import journal
from relatum.core.changes import RelationChange, RelationEntry
from relatum.core.digests import workspace_id
from relatum.core.streams import RELATIONS
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, PartitionKeys, Table
from relatum.store.memory import MemoryStore
from relatum.store.overlay import Packable
from relatum.store.partition import PartitionReader
from relatum.store.projection.staged_partition import Staging
from relatum.store.verify.directory import verify_rows
from tests.fuzz.dice import Dice
from tests.integrity.damage import MANNERS, damaged
from tests.judgments.test_random_histories import STEPS, History
from tests.support.builders import PARTITION, START_MILLIS
from tests.support.judging import JudgingDesk
from tests.support.matrix import first_of, matrix
from tests.support.stores import published_rows
from tests.verify.restless_judge import RestlessJudge
from tests.verify.test_parallel import Alone, in_pieces

SEEDS = range(6)
JUDGED = [table for table in Table if Table.STANDING <= table < Table.LEAF]


@cache
def judged(seed: int) -> dict[bytes, bytes]:
    """The rows that a restless judge leaves."""
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        judge = RestlessJudge(ledger, Dice("judged", seed), PARTITION, "judge")
        for _ in range(150):
            judge.give()
        return published_rows(ledger)


@pytest.mark.parametrize("seed", first_of(SEEDS, quick=2))
def test_what_a_restless_judge_leaves_is_clean_however_it_is_cut(seed: int) -> None:
    store = MemoryStore(judged(seed))
    report = verify_rows(store)
    assert report.clean, report.findings
    assert report == in_pieces(store, Alone(store), 20)
    assert report == verify_rows(store, step_rows=40)


@pytest.mark.parametrize("seed", first_of(SEEDS, quick=2))
def test_a_random_history_of_judgments_is_clean(seed: int) -> None:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        history = History(ledger, clock, seed)
        for _ in range(STEPS):
            history.step()
        report = verify_rows(MemoryStore(published_rows(ledger)))
    assert report.clean, report.findings


@pytest.mark.parametrize(("table", "manner"), matrix(JUDGED, MANNERS))
def test_any_row_of_a_judgment_that_is_lost_or_damaged_is_found_and_named(table: Table, manner: str) -> None:
    found = judged(0)
    own = [key for key in found if key[PREFIX_BYTES] == table and not key.startswith(STORE_PREFIX)]
    for key in own[:: len(own) // 2 + 1]:
        report = verify_rows(MemoryStore(damaged(found, (key,), MANNERS[manner])))
        assert table.name.lower() in {finding.family for finding in report.findings}, key.hex()


def test_a_standing_that_was_put_back_to_an_older_one_is_found() -> None:
    """Every row fits every other: only the events say that the archived record was taken out again."""
    with Ledger.in_memory() as ledger:
        desk = JudgingDesk(ledger)
        record = desk.save()
        desk.archive(record)
        before = published_rows(ledger)
        desk.unarchive(record)
        found = published_rows(ledger)
    key = PartitionKeys(workspace_id(PARTITION)).standing(record.record_id)
    assert key not in found
    report = verify_rows(MemoryStore({**found, key: before[key]}))
    assert ["standing"] == [finding.family for finding in report.findings]


def test_two_entries_of_one_event_that_changed_places_are_found_although_the_journal_is_chained_anew() -> None:
    found = dict(judged(0))
    reader = PartitionReader(MemoryStore(found), PARTITION)
    head = reader.head()
    changes = [(entry.commit_sequence, entry.nonce, entry.change) for _, entry in reader.entries(RELATIONS, 0)]
    place = next(at for at in range(1, len(changes)) if changes[at - 1][0] == changes[at][0])
    changes[place - 1 : place + 1] = reversed(changes[place - 1 : place + 1])
    tip = journal.opened(reader.workspace_id, RELATIONS, head.streams[RELATIONS].journal_id)
    for sequence, nonce, change in changes:
        assert isinstance(change, RelationChange)
        tip = journal.extended(reader.workspace_id, RELATIONS, tip, nonce, change)
        entry = RelationEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=tip.prefix_digest, change=change)
        key = reader.keys.journal_entry(RELATIONS, tip.sequence)
        found[key] = rows.seal(key, rows.RELATION_ENTRY.encode(entry))
    moved = replace(head, streams={**head.streams, RELATIONS: tip})
    found[reader.keys.head] = rows.seal(reader.keys.head, rows.HEAD.encode(moved))
    assert {"journal"} == {finding.family for finding in verify_rows(MemoryStore(found)).findings}


class _Forgetful(Staging):
    """The projection with a line too few."""

    def put(self, key: bytes, body: bytes | Packable) -> None:
        if key[PREFIX_BYTES] != Table.CANDIDATE_END:
            super().put(key, body)


def test_a_projection_that_forgets_a_table_is_found_although_it_derives_the_same_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("relatum.ledger.writer.group.Staging", _Forgetful)
    monkeypatch.setattr("relatum.store.verify.rebuilt_rows.Staging", _Forgetful)
    report = verify_rows(MemoryStore(_saved()))
    assert ["candidate_end"] == [finding.family for finding in report.findings]


def _saved() -> dict[bytes, bytes]:
    with Ledger.in_memory() as ledger:
        desk = JudgingDesk(ledger)
        desk.save(like=(desk.save(),))
        return published_rows(ledger)
