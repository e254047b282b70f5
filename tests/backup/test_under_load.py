"""A backup that is taken while clients write: it is exactly the prefix that was published at its position."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.wire import Connection
from relatum.core.ids import Partition
from relatum.store import keys, rows
from relatum.store.keys import Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.backup.load import Writer, found_receipt, writing
from tests.backup.operated import command, done, operated
from tests.backup.scene import rows_in
from tests.cli.program import run
from tests.http.client import Api, Caller, issue
from tests.http.serving import Server
from tests.support.polling import until
from tests.support.stores import partitions_of

CLIENTS = 4


def position_in(found: dict[bytes, bytes]) -> rows.Position:
    return rows.POSITION.decode(rows.unseal(keys.POSITION, found[keys.POSITION]))


def head_of(found: dict[bytes, bytes], partition: Partition) -> int:
    return PartitionReader(MemoryStore(found), partition).head().sequence


@pytest.mark.slow
def test_a_backup_under_full_load_restores_to_exactly_the_published_prefix(tmp_path: Path) -> None:
    with operated(tmp_path / "store") as (server, secret), Api(server.url) as api:
        caller = issue(Caller(api, secret), grants=_grants(CLIENTS), scope=_scope(0))
        with writing(server.port, caller, CLIENTS) as writers:
            until(lambda: all(len(writer.told) > 5 for writer in writers), "work")
            before = {writer: len(writer.told) for writer in writers}
            made = done(command(server, "backup", tmp_path / "backup"))
            until(lambda: all(len(writer.told) > before[writer] + 3 for writer in writers), "work after the backup")
        assert 0 == server.stop()
    restored = run("restore", tmp_path / "backup", tmp_path / "restored")
    assert done(restored) | {"directory": ""} == made | {"directory": ""}
    assert "journal_history_conflict" in restored.stderr
    _compare_rows(rows_in(tmp_path / "store"), rows_in(tmp_path / "restored"), made["position"])
    _compare_receipts(tmp_path / "restored", writers, before)


def _scope(number: int) -> dict[str, object]:
    return {"project_id": "load", "mission_id": f"mission-{number}", "agent_id": "writer", "visibility": "shared"}


def _grants(clients: int) -> list[dict[str, object]]:
    return [_scope(number) for number in range(clients)]


def _compare_rows(original: dict[bytes, bytes], restored: dict[bytes, bytes], position: int) -> None:
    """The events of each partition are a prefix of the original's, and together as many as the position says."""
    assert position == position_in(restored).position < position_in(original).position
    heads = {partition: head_of(restored, partition) for partition in partitions_of(restored)}
    assert position == sum(heads.values())
    for partition, head in heads.items():
        event = PartitionReader(MemoryStore({}), partition).keys.event
        assert all(restored[event(number)] == original[event(number)] for number in range(1, head + 1))
        assert event(head + 1) not in restored
        assert head <= head_of(original, partition)
    assert _commit_times(restored, heads)[-1] <= _commit_times(original, heads, missing=True)[0]
    journals = {key for key in restored if key[16] == Table.JOURNAL and not key.startswith(keys.STORE_PREFIX)}
    assert journals
    assert all(restored[key] == original[key] for key in journals)


def _commit_times(found: dict[bytes, bytes], heads: dict[Partition, int], *, missing: bool = False) -> list[int]:
    """When the events up to some heads were committed, or those behind them, in the order of time."""
    times = []
    for partition, head in heads.items():
        reader = PartitionReader(MemoryStore(found), partition)
        for number in range(head + 1, reader.head().sequence + 1) if missing else range(1, head + 1):
            event = reader.event(number)
            assert event is not None
            times.append(event.committed_at_millis)
    return sorted(times)


def _compare_receipts(restored: Path, writers: list[Writer], before: dict[Writer, int]) -> None:
    """Of each partition, the receipts up to some command are there byte for byte, and none behind it."""
    later = 0
    with Server(restored) as server:
        for writer in writers:
            connection = Connection(server.port, writer.secret)
            found = [found_receipt(connection, writer, told) for told in writer.told]
            connection.close()
            there = len([receipt for receipt in found if receipt is not None])
            assert [told.receipt for told in writer.told[:there]] == found[:there]
            assert [None] * (len(found) - there) == found[there:]
            assert there >= before[writer], "what was acknowledged before the backup began is in it"
            later += len(found) - there
    assert later, "nothing was written after the backup, so nothing was shown"
