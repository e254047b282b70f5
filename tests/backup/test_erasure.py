"""Erasure is physical when asked: after a deletion and a compaction no file of a store has the bytes any more."""

from __future__ import annotations

import base64
import shutil
import sqlite3
from pathlib import Path

import pytest

from relatum.entropy import SystemEntropy
from relatum.errors import StorageFailure
from relatum.ledger import Ledger
from relatum.ledger.search.tables import Tables
from relatum.ledger.search.tokenizer import WORD_CHARACTERS_MAX
from relatum.store.backup.manifest import STORE_NAME
from relatum.store.layout import ENGINE_NAME
from relatum.store.rocks import RocksStore, reading
from relatum.store.verify.directory import verify_directory
from tests.backup.operated import command, done, operated
from tests.backup.scene import back_up, files_of
from tests.cli.program import run
from tests.http.client import RECORDS, Api, Caller, accepted, issue
from tests.support.desk import Desk

PIECE_LETTERS = 16


def planted_text() -> str:
    """A text that nobody else has and no compression shortens: its bytes lie in a file as they are, most of them."""
    return base64.b32encode(SystemEntropy().draw(60)).decode()


def holding(directory: Path, text: str) -> list[str]:
    """The files in which bytes of a text lie, as they are or as the search index has them: any part of it will do.

    Compression leaves such a text in pieces where four of its letters in a row have come before.
    """
    indexed = text[:WORD_CHARACTERS_MAX].lower()
    forms = [
        whole[at : at + PIECE_LETTERS].encode()
        for whole in (text, indexed)
        for at in range(0, len(whole) - PIECE_LETTERS + 1, 4)
    ]
    return [name for name, content in files_of(directory).items() if any(form in content for form in forms)]


def rows_holding(directory: Path, text: str) -> int:
    """In how many rows they lie, whatever compression makes of them."""
    with reading(directory / ENGINE_NAME) as view:
        return sum(text.encode() in row for _, row in view.scan(b"", b"\xff" * 17))


def flush(ledger: Ledger) -> None:
    """Into a table file with it."""
    store = ledger._database.store
    assert isinstance(store, RocksStore)
    store.flush()


@pytest.mark.parametrize("flushed", ["never", "before the deletion", "before and after it"])
def test_a_deleted_text_is_in_no_file_after_a_compaction(tmp_path: Path, flushed: str) -> None:
    store, content, title, evidence, again = tmp_path / "store", *(planted_text() for _ in range(4))
    with Ledger.open(store, create=True) as ledger:
        desk = Desk(ledger)
        record = desk.review(desk.create(content, title=title), evidence_ref=evidence)
        record = desk.revise(record, again)
        kept = desk.create(planted_text())
        if flushed != "never":
            flush(ledger)
        desk.delete(record)
        if flushed == "before and after it":
            flush(ledger)
        for text in (content, title, evidence, again):
            assert holding(store, text), "the deletion alone leaves the bytes where they were"
            assert 0 == in_view(ledger, text)
        ledger.compact()
        for text in (content, title, evidence, again):
            assert [] == holding(store, text)
    done(run("compact", store))
    for text in (content, title, evidence, again):
        assert [] == holding(store, text)
        assert 0 == rows_holding(store, text)
    assert verify_directory(store).clean
    with Ledger.open(store) as ledger:
        Desk(ledger).delete(kept)


def in_view(ledger: Ledger, text: str) -> int:
    with ledger.view() as view:
        return sum(text.encode() in row for _, row in view._view.scan(b"", b"\xff" * 17))


def make_index(desk: Desk) -> None:
    """As the first search does."""
    with desk.ledger.view() as view:
        view.search(view.partition(desk.partition), "anything")


def test_a_deleted_text_is_not_in_the_search_index_after_a_compaction(tmp_path: Path) -> None:
    store, text, title = tmp_path / "store", planted_text(), planted_text()
    index = "search.sqlite"
    with Ledger.open(store, create=True) as ledger:
        desk = Desk(ledger)
        gone, kept = desk.create(text, title=title), desk.create("a ferry")
        make_index(desk)
        assert any(name.startswith(index) for name in holding(store, text))
        desk.delete(gone)
        ledger.compact()
        assert [] == holding(store, text) + holding(store, title)
        with ledger.view() as view:
            [found] = view.search(view.partition(desk.partition), "ferry")
        assert kept.record_id == found.record_id


def test_what_an_index_lags_behind_is_purged_by_a_compaction_at_rest(tmp_path: Path) -> None:
    store, text = tmp_path / "store", planted_text()
    with Ledger.open(store, create=True) as ledger:
        desk = Desk(ledger)
        gone = desk.create(text)
        make_index(desk)
        desk.delete(gone)
    assert holding(store, text)
    done(run("compact", store))
    assert [] == holding(store, text)


@pytest.mark.parametrize("missing", ["search.sqlite", "search.sqlite-seal", "search.sqlite-shm"])
def test_what_is_left_of_a_search_index_goes_too(tmp_path: Path, missing: str) -> None:
    lived, store, text = tmp_path / "lived", tmp_path / "store", planted_text()
    with Ledger.open(lived, create=True) as ledger:
        desk = Desk(ledger)
        gone = desk.create(text)
        make_index(desk)
        desk.delete(gone)
        shutil.copytree(lived, store)  # as a process leaves it that is killed
    (store / missing).unlink()
    assert "search.sqlite-wal" in holding(store, text)
    done(run("compact", store))
    assert [] == holding(store, text)


def test_a_compaction_that_can_not_remove_what_is_left_of_a_search_index_fails(tmp_path: Path) -> None:
    with Ledger.open(tmp_path, create=True) as ledger:
        Desk(ledger).create()
        (tmp_path / "search.sqlite-wal").mkdir()  # which nobody unlinks
        with pytest.raises(StorageFailure, match="the search index can't be purged"):
            ledger.compact()


def test_a_compaction_that_can_not_purge_the_search_index_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Tables) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with Ledger.open(tmp_path, create=True) as ledger:
        desk = Desk(ledger)
        desk.create()
        make_index(desk)
        monkeypatch.setattr(Tables, "purge", full)
        with pytest.raises(StorageFailure, match="the search index can't be purged"):
            ledger.compact()


def test_a_running_server_purges_what_was_deleted_over_http(tmp_path: Path) -> None:
    store, text, kept = tmp_path / "store", planted_text(), planted_text()
    with operated(store) as (server, secret), Api(server.url) as api:
        caller = issue(Caller(api, secret))
        record = caller.create(text)
        caller.create(kept)
        at = {"record_id": record["record_id"], "expected_revision": record["revision"]}
        accepted(caller.command(RECORDS, type="delete", **at))
        assert holding(store, text)
        done(command(server, "compact"))
        assert [] == holding(store, text)
        assert holding(store, kept)
        assert 200 == caller.ask(f"{RECORDS}/query", filter={"limit": 10}).status_code
        assert 0 == server.stop()
    assert [] == holding(store, text)


def test_the_remains_of_a_torn_log_go_too(tmp_path: Path) -> None:
    text = planted_text()
    with Ledger.open(tmp_path, create=True) as ledger:
        Desk(ledger).create()
    (tmp_path / ENGINE_NAME / "000123.log.torn-at-456").write_text(text)
    assert holding(tmp_path, text)
    done(run("compact", tmp_path))
    assert [] == holding(tmp_path, text)


def test_a_backup_keeps_what_is_erased_later(tmp_path: Path) -> None:
    text = planted_text()
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        record = Desk(ledger).create(text)
    back_up(tmp_path / "store", tmp_path / "backup")
    with Ledger.open(tmp_path / "store") as ledger:
        Desk(ledger).delete(record)
    done(run("compact", tmp_path / "store"))
    assert [] == holding(tmp_path / "store", text)
    assert 1 == rows_holding(tmp_path / "backup" / STORE_NAME, text)


def test_a_backup_after_a_deletion_and_a_compaction_does_not_have_it(tmp_path: Path) -> None:
    text = planted_text()
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        desk = Desk(ledger)
        desk.delete(desk.create(text))
    done(run("compact", tmp_path / "store"))
    back_up(tmp_path / "store", tmp_path / "backup")
    assert [] == holding(tmp_path / "backup", text)
