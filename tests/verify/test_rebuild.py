"""`relatum rebuild --indexes`: derived rows are put right, after a copy was kept; nothing else is ever written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from relatum.cli import main
from relatum.core.events import RecordEvent
from relatum.ledger import Ledger
from relatum.ledger.view import RequestView
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table
from relatum.store.lock import making_store_in
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.repair import STORE_TABLES, TABLES
from tests.support.builders import PARTITION
from tests.support.desk import Desk
from tests.support.matrix import every
from tests.verify.damage import remove_rows, stored, write_rows
from tests.verify.test_directory import files_of

KEPT = [table for table in Table if table not in TABLES]


def run(directory: Path, copy: Path, *options: str) -> Result:
    """The command, in this process: none of these tests needs one of its own."""
    return CliRunner().invoke(main, ["rebuild", str(directory), "--backup", str(copy), *options])


def rebuilt(directory: Path, copy: Path, *, status: int = 0) -> dict[str, Any]:
    """What the command prints."""
    finished = run(directory, copy, "--indexes", "--yes")
    assert status == finished.exit_code, finished.stderr
    printed: dict[str, Any] = json.loads(finished.stdout)
    return printed


def of_table(found: dict[bytes, bytes], table: Table) -> list[bytes]:
    return [key for key in found if key[PREFIX_BYTES] == table and not key.startswith(STORE_PREFIX)]


@pytest.mark.parametrize("table", every(3, TABLES))
def test_lost_rows_of_a_derived_table_come_back(store: Path, tmp_path: Path, table: Table) -> None:
    before = stored(store)
    lost = remove_rows(store, table, 2)
    printed = rebuilt(store, tmp_path / "copy")
    assert {table.name.lower(): {"added": len(lost), "replaced": 0, "removed": 0}} == printed["changes"]
    assert printed["report"]["clean"]
    assert before == stored(store)


@pytest.mark.parametrize("table", STORE_TABLES)
def test_lost_rows_of_what_the_store_lists_come_back(store: Path, tmp_path: Path, table: StoreTable) -> None:
    before = stored(store)
    write_rows(store, {key: None for key in before if key.startswith(STORE_PREFIX + bytes([table]))})
    assert {table.name.lower()} == set(rebuilt(store, tmp_path / "copy")["changes"])
    assert before == stored(store)


def test_altered_rows_and_rows_too_many_are_put_right(store: Path, tmp_path: Path) -> None:
    before = stored(store)
    entry, header = of_table(before, Table.OUTGOING)[0], of_table(before, Table.HEADER)[0]
    stray = entry[:-1] + bytes([entry[-1] ^ 1])
    write_rows(
        store,
        {
            stray: rows.seal(stray, rows.unseal(entry, before[entry])),
            header: rows.seal(header, rows.Completeness(9, 9, 9, 9).pack()),
        },
    )
    assert {
        "outgoing": {"added": 0, "replaced": 0, "removed": 1},
        "header": {"added": 0, "replaced": 1, "removed": 0},
    } == rebuilt(store, tmp_path / "copy")["changes"]
    assert before == stored(store)


def test_the_copy_is_the_store_as_it_was(store: Path, tmp_path: Path) -> None:
    remove_rows(store, Table.INCOMING, 1)
    damaged = stored(store)
    rebuilt(store, tmp_path / "copy")
    assert damaged == stored(tmp_path / "copy")
    assert verify_directory(store).clean
    assert ["header", "incoming"] == sorted(
        {finding.family for finding in verify_directory(tmp_path / "copy").findings}
    )


def test_the_store_can_be_served_and_written_afterwards(store: Path, tmp_path: Path) -> None:
    remove_rows(store, Table.HEADER, 3)
    rebuilt(store, tmp_path / "copy")
    with Ledger.open(store) as ledger:
        ledger.bootstrap("one more", "root")
    assert verify_directory(store).clean


def test_a_search_index_that_was_made_of_rows_that_were_wrong_is_made_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with Ledger.open(store, create=True) as ledger:
        desk = Desk(ledger)
        ferry = desk.create("a ferry", topic_key="ferry")
    with Ledger.open(store) as ledger, ledger.view() as view:
        assert [ferry.record_id] == found(view)
    remove_rows(store, Table.TOPIC, 1)
    assert list(store.glob("search.sqlite"))
    rebuilt(store, tmp_path / "copy")
    assert not list(store.glob("search.sqlite*"))
    with Ledger.open(store) as ledger, ledger.view() as view:
        assert [ferry.record_id] == found(view)


def found(view: RequestView) -> list[str]:
    return [hit.record_id for hit in view.search(view.partition(PARTITION), "ferry")]


@pytest.mark.parametrize("table", every(3, KEPT))
def test_what_is_not_derived_is_never_written(store: Path, tmp_path: Path, table: Table) -> None:
    remove_rows(store, Table.DEPENDENT, 1)
    remove_rows(store, table, 1)
    before = files_of(store)
    finished = run(store, tmp_path / "copy", "--indexes", "--yes")
    assert 1 == finished.exit_code
    assert "restore a backup" in finished.stderr
    assert not json.loads(finished.stdout)["report"]["clean"]
    assert before == files_of(store)
    assert not (tmp_path / "copy").exists()


def test_a_sound_store_is_left_alone_and_not_copied(store: Path, tmp_path: Path) -> None:
    before = files_of(store)
    assert {} == rebuilt(store, tmp_path / "copy")["changes"]
    assert before == files_of(store)
    assert not (tmp_path / "copy").exists()


def test_a_place_for_the_copy_that_is_not_empty_is_refused(store: Path, tmp_path: Path) -> None:
    remove_rows(store, Table.TOPIC, 1)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "letter").write_text("dear")
    before = files_of(store)
    finished = run(store, tmp_path / "copy", "--indexes", "--yes")
    assert (1, "") == (finished.exit_code, finished.stdout)
    assert "not empty" in finished.stderr
    assert before == files_of(store)


def test_a_place_where_another_copy_is_being_made_is_refused(store: Path, tmp_path: Path) -> None:
    remove_rows(store, Table.TOPIC, 1)
    before = files_of(store)
    (tmp_path / "copy").mkdir()
    with making_store_in(tmp_path / "copy"):
        finished = run(store, tmp_path / "copy", "--indexes", "--yes")
    assert (1, "") == (finished.exit_code, finished.stdout)
    assert "directory in use" in finished.stderr
    assert [] == list((tmp_path / "copy").iterdir())
    assert before == files_of(store)


def test_it_asks_before_it_writes(store: Path, tmp_path: Path) -> None:
    remove_rows(store, Table.TOPIC, 1)
    before = files_of(store)
    finished = run(store, tmp_path / "copy", "--indexes")
    assert 1 == finished.exit_code
    assert "Keep a copy" in finished.stderr
    assert before == files_of(store)


def test_what_to_rebuild_must_be_named(store: Path, tmp_path: Path) -> None:
    finished = run(store, tmp_path / "copy")
    assert 2 == finished.exit_code
    assert "--indexes" in finished.stderr


def test_an_event_is_what_a_repair_builds_upon(store: Path, tmp_path: Path) -> None:
    found = stored(store)
    key = next(key for key in of_table(found, Table.EVENT) if isinstance(event_of(key, found), RecordEvent))
    write_rows(store, {key: rows.seal(key, b"\x80")})
    remove_rows(store, Table.DEPENDENT, 1)
    assert "event" in {
        finding["family"] for finding in rebuilt(store, tmp_path / "copy", status=1)["report"]["findings"]
    }


def event_of(key: bytes, found: dict[bytes, bytes]) -> object:
    return rows.EVENT.decode(rows.unseal(key, found[key]))
