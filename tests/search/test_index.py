"""The index: in step with the ledger whatever happened in between, and made again where it can't be used."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relatum.core.ids import Ref
from relatum.errors import SearchUnavailable
from relatum.http.errors import told
from relatum.ledger import Ledger
from relatum.ledger.search import bm25, index_sync, tables
from relatum.ledger.search.index import SearchIndex
from relatum.ledger.search.tables import Tables
from relatum.telemetry import Log
from tests.support import builders
from tests.support.builders import PRIVATE
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk


def found(index: SearchIndex, judging: JudgingDesk, text: str) -> set[str]:
    """The ids of what a search finds."""
    with judging.ledger.view() as view:
        return {one.record_id for one in index.search(view.partition(judging.partition), text)}


def answers(index: SearchIndex, judging: JudgingDesk) -> list[object]:
    """What an index answers to several questions, scores included."""
    with judging.ledger.view() as view:
        reader = view.partition(judging.partition)
        texts = ("ferry", "the ferry leaves at ten", "harbour nine lantern", "never")
        return [ask(reader, text) for text in texts for ask in (index.search, index.detect, index.surroundings)]


def test_what_changes_in_the_ledger_changes_what_is_found(
    ledger: Ledger, judging: JudgingDesk, index: SearchIndex
) -> None:
    desk = Desk(ledger)

    def ids(*refs: Ref) -> set[str]:
        return {ref.record_id for ref in refs}

    assert set() == found(index, judging, "ferry")
    first, second = desk.create("a ferry"), desk.create("a boat", title="Ferry")
    assert ids(first, second) == found(index, judging, "ferry")
    first = desk.revise(first, "a boat")
    assert ids(second) == found(index, judging, "ferry")
    assert ids(first, second) == found(index, judging, "boat")
    judging.archive(second)
    assert ids(first) == found(index, judging, "boat")
    judging.unarchive(second)
    given = judging.compare(second, first, "supersedes")
    assert ids(second) == found(index, judging, "boat")
    desk.retire(given.receipt)  # type: ignore[union-attr,arg-type]  # a verdict on fit ends is accepted
    assert ids(first, second) == found(index, judging, "boat")
    desk.delete(second)
    assert ids(first) == found(index, judging, "boat")


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("猫", "黒猫が寝ている"),
        ("猫", "黒猫"),
        ("る", "黒猫が寝ている"),
        ("🐱", "my 🐱 sleeps"),
        ("🐱", "🐱"),
        ("ดี", "สวัสดีครับ"),
    ],
)
def test_a_single_character_is_found_wherever_it_stands(
    judging: JudgingDesk, index: SearchIndex, asked: str, content: str
) -> None:
    wanted = judging.save(content)
    judging.save("黒い犬 🐶")
    assert {wanted.record_id} == found(index, judging, asked)
    Desk(judging.ledger).delete(wanted)
    assert set() == found(index, judging, asked)


def test_signs_count_for_nothing_when_records_are_compared(judging: JudgingDesk, index: SearchIndex) -> None:
    judging.save("猫")
    judging.save("🐱")
    with judging.ledger.view() as view:
        assert () == index.detect(view.partition(judging.partition), "犬と猫 🐱").hits


def test_an_index_of_an_earlier_version_is_made_again(
    judging: JudgingDesk, path: Path, log: Log, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = judging.save("黒猫")
    with monkeypatch.context() as earlier:
        earlier.setattr(tables, "_SCHEMA", tables._SCHEMA.replace(f"= {tables.VERSION};", f"= {tables.VERSION - 1};"))
        earlier.setattr(index_sync, "signs_of", lambda _text: ())
        index = SearchIndex(path, log)
        assert {record.record_id} == found(index, judging, "黒猫")
        index.close()
    index = SearchIndex(path, log)
    assert {record.record_id} == found(index, judging, "猫")
    assert "the search index is of another version of relatum; it is made again" in said.getvalue()
    index.close()


def test_a_deleted_record_leaves_no_row_behind(judging: JudgingDesk, index: SearchIndex, path: Path) -> None:
    kept, gone = judging.save("unmistakable ferry"), judging.save("unmistakable lantern")
    assert {kept.record_id, gone.record_id} == found(index, judging, "unmistakable")
    Desk(judging.ledger).delete(gone)
    assert {kept.record_id} == found(index, judging, "unmistakable")
    index.close()
    rows = "".join(sqlite3.connect(path).iterdump())
    assert "ferry" in rows
    words = [row for (row,) in sqlite3.connect(path).execute("SELECT word FROM word")]
    assert ["ferry", "unmistakable"] == sorted(words)


def test_nothing_of_what_was_removed_is_left_in_the_files_after_a_purge(
    judging: JudgingDesk, index: SearchIndex, path: Path
) -> None:
    desk = Desk(judging.ledger)
    made = [
        desk.create(f"ferry{number}x leaves harbour{number % 7}x at {number}", title="of old") for number in range(90)
    ]

    def left() -> set[int]:
        """The records of which a word lies in a file."""
        held = b"".join(file.read_bytes() for file in path.parent.glob("search.sqlite*"))
        return {number for number in range(90) if f"ferry{number}x".encode() in held}

    def purged() -> bool:
        with judging.ledger.view() as view:
            return index.purge([view.partition(judging.partition)])

    assert purged()
    assert set() == left(), "a purge indexes nothing for the first time"
    found(index, judging, "ferry7x")
    for number in range(0, 90, 2):
        desk.delete(made[number])
    assert set(range(90)) == left()
    assert purged()
    assert set(range(1, 90, 2)) == left()
    assert {made[7].record_id} == found(index, judging, "ferry7x")


# Made again


def test_an_index_that_was_made_again_answers_the_same(
    judging: JudgingDesk, index: SearchIndex, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "CHUNK_ENTRIES", 7)
    monkeypatch.setattr(bm25, "SEARCH_POSTINGS_MAX", 10)
    monkeypatch.setattr("relatum.limits.DETECTION_POSTINGS_MAX", 10)
    desk = Desk(judging.ledger)
    words = ["ferry", "harbour", "nine", "ten", "never", "lantern", "leaves", "the", "at"]
    made: list[Ref] = []
    for number in range(60):
        chosen = [word for place, word in enumerate(words) if (number * 7 + place * place) % 5 < 3]
        made.append(judging.save(" ".join(chosen) or "nothing"))
        answers(index, judging)  # catches up record by record
        if number % 4 == 3:
            desk.submit(builders.revise(made[number // 2], " ".join(reversed(chosen))))
        if number % 9 == 8:
            judging.archive(made[number // 3])
    for other in (SearchIndex(None, log), SearchIndex(None, log)):
        assert answers(index, judging) == answers(other, judging)
        other.close()


def test_an_older_view_neither_undoes_nor_repeats_what_was_indexed(
    judging: JudgingDesk, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging.save("a ferry")
    indexed: list[str] = []
    monkeypatch.setattr(Tables, "put_record", _counting(Tables.put_record, indexed, "put"))
    monkeypatch.setattr(Tables, "drop_partition", _counting(Tables.drop_partition, indexed, "drop"))
    with judging.ledger.view() as old:
        second = judging.save("another ferry")
        assert second.record_id in found(index, judging, "ferry")
        assert ["put", "put"] == indexed
        seen = index.search(old.partition(judging.partition), "ferry")
    assert ["put", "put"] == indexed
    assert 2 == len(seen), "whoever asks checks each of them against the view"


def _counting(method: Callable[..., Any], counted: list[str], name: str) -> Callable[..., Any]:
    def counting(*arguments: Any) -> Any:
        counted.append(name)
        return method(*arguments)

    return counting


def test_an_index_of_another_history_is_made_again(judging: JudgingDesk, path: Path, log: Log) -> None:
    judging.save("a ferry")
    index = SearchIndex(path, log)
    found(index, judging, "ferry")
    index.close()
    with Ledger.in_memory() as elsewhere:
        other = JudgingDesk(elsewhere)
        record = other.save("a lantern")
        index = SearchIndex(path, log)
        assert set() == found(index, other, "ferry")
        assert {record.record_id} == found(index, other, "lantern")
        index.close()


def test_partitions_are_told_apart(judging: JudgingDesk, index: SearchIndex) -> None:
    own, foreign = judging.save("a ferry"), JudgingDesk(judging.ledger, PRIVATE).save("a ferry")
    assert {own.record_id} == found(index, judging, "ferry")
    assert {foreign.record_id} == found(index, JudgingDesk(judging.ledger, PRIVATE), "ferry")


# Faults


def test_a_file_that_goes_bad_under_an_open_index_costs_no_answer(
    judging: JudgingDesk, index: SearchIndex, path: Path, said: io.StringIO
) -> None:
    record = judging.save("a ferry")
    assert {record.record_id} == found(index, judging, "ferry")
    database = sqlite3.connect(path)
    database.executescript("DELETE FROM postings; UPDATE partition SET length = 0")
    database.close()
    assert {record.record_id} == found(index, judging, "ferry")
    assert "the search index failed; it is made again" in said.getvalue()
    assert {record.record_id} == found(index, judging, "ferry")


def test_a_place_where_no_file_can_be_made_means_an_index_in_memory(
    judging: JudgingDesk, tmp_path: Path, log: Log, said: io.StringIO
) -> None:
    record = judging.save("a ferry")
    index = SearchIndex(tmp_path / "nowhere" / "search.sqlite", log)
    assert {record.record_id} == found(index, judging, "ferry")
    assert "the search index can't be made" in said.getvalue()
    index.close()


def test_an_index_that_fails_whatever_is_done_is_a_failure(
    judging: JudgingDesk, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging.save("a ferry")

    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        patched.setattr(Tables, "put_record", broken)
        with pytest.raises(SearchUnavailable) as failure:
            found(index, judging, "ferry")
    assert (503, "storage_unavailable") == (told(failure.value).status, told(failure.value).code)
    assert 1 == len(found(index, judging, "ferry"))


def test_a_closed_index_is_not_taken_for_an_empty_one(judging: JudgingDesk, index: SearchIndex) -> None:
    judging.save("a ferry")
    index.close()
    with pytest.raises(SearchUnavailable):
        found(index, judging, "ferry")
