"""The floors do the work of the ledger: its rows, to the byte, one sync for each batch, its bodies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from relatum.cli.bench.dataset import Assertions, records
from relatum.cli.bench.floors.rows import written
from relatum.cli.bench.floors.writes import raw_writes
from relatum.cli.bench.product import LedgerInProcess
from relatum.core.commands import RelationBatchItem
from relatum.core.ids import Ref
from relatum.store.rocks import RocksStore

GROUPS, GROUP = 3, 4


class Engine:
    """What was done to every store on disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.batches: list[dict[bytes, bytes | None]] = []
        self.syncs = 0
        write, sync = RocksStore.write, RocksStore.sync

        def watched_write(store: RocksStore, rows: Mapping[bytes, bytes | None]) -> None:
            self.batches.append(dict(rows))
            write(store, rows)

        def watched_sync(store: RocksStore) -> None:
            self.syncs += store._unsynced
            sync(store)

        monkeypatch.setattr(RocksStore, "write", watched_write)
        monkeypatch.setattr(RocksStore, "sync", watched_sync)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    return Engine(monkeypatch)


def shapes(batches: list[dict[bytes, bytes | None]]) -> list[list[tuple[int, int]]]:
    """Lengths of keys and values, batch by batch."""
    return [sorted((len(key), len(value or b"")) for key, value in batch.items()) for batch in batches]


def test_the_floor_has_the_rows_that_the_ledger_writes_to_its_disk(engine: Engine, tmp_path: Path) -> None:
    floor = written(GROUPS, GROUP, tmp_path)
    product = LedgerInProcess()
    product.start(tmp_path / "store")
    commands, client = product.assertions(), product.client()
    del engine.batches[:]
    for _ in range(GROUPS):
        client.commit(commands.take(GROUP))
    product.stop()
    assert shapes(engine.batches) == shapes([dict(batch) for batch in floor.batches])
    assert floor.rows_per_command == sum(map(len, engine.batches)) / (GROUPS * GROUP)


def test_the_floor_of_writing_syncs_each_batch_once(engine: Engine, tmp_path: Path) -> None:
    floor = written(GROUPS, GROUP, tmp_path)
    pace = raw_writes(floor, tmp_path)
    assert floor.batches == engine.batches
    assert (GROUPS, GROUPS * GROUP, GROUPS) == (engine.syncs, pace.commands, len(pace.latencies))
    assert [] == list(tmp_path.iterdir())


def test_commands_have_keys_of_their_own_and_relate_two_records() -> None:
    ends = [Ref(record_id=f"00000000-0000-7000-8000-{number:012x}", revision=1) for number in range(5)]
    given = [msgspec.json.decode(one, type=RelationBatchItem) for one in Assertions(ends).take(60)]
    assert 60 == len({item.idempotency_key for item in given})
    pairs = [(item.operation.relation.source, item.operation.relation.target) for item in given]  # type: ignore[union-attr] # all of them assert
    assert all(source != target for source, target in pairs)
    assert 20 == len(set(pairs)), "every ordered pair comes by"


def test_records_are_proposals_and_begin_anew_where_there_are_no_more() -> None:
    made = records(740)
    assert "PEP Purpose and Guidelines" == made[0].record.title
    assert made[0] == made[736]
    assert 736 == len({one.record.content for one in made})
