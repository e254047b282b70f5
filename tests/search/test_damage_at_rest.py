"""Damage to the index at rest: it is noticed wherever it lies, and no answer is another one for it."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest

from relatum.cli.quickstart.corpus import load
from relatum.clock import ManualClock
from relatum.core.commands import SaveRecord
from relatum.core.receipts import RecordReceipt
from relatum.ledger import Ledger
from relatum.ledger.search.index import FILE_NAME, SearchIndex
from relatum.store import sealed_sqlite
from relatum.telemetry import Log
from tests.support.builders import PARTITION, START_MILLIS, record
from tests.support.decay import decayed, put_back
from tests.support.desk import Desk

PEPS = 24
PLACES = 90
TEXTS = (
    "standard modules",
    "Status: Final",
    "python enhancement proposal guidelines",
    "decimal",
    "nowhere to be found",
)


class Scene(NamedTuple):
    """A ledger of PEPs, and the files of its index as they lie there in peace and after a kill, with the answers."""

    ledger: Ledger
    at_rest: Path
    killed: Path
    answers: list[object]


def answers_of(index: SearchIndex, ledger: Ledger) -> list[object]:
    with ledger.view() as view:
        reader = view.partition(PARTITION)
        return [ask(reader, text) for text in TEXTS for ask in (index.search, index.detect, index.surroundings)]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    place = tmp_path_factory.mktemp("index")
    log = Log(io.StringIO(), lambda: START_MILLIS, "warning")
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        desk = Desk(ledger)
        peps = list(load().revisions.values())[:PEPS]
        (place / "used").mkdir()
        index = SearchIndex(place / "used" / FILE_NAME, log)
        told: list[object] = []
        for number, revisions in enumerate(peps):
            desk.create(revisions[-1]["content"], title=revisions[-1]["title"])
            if number in (PEPS // 2, PEPS - 1):
                index = restarted(index, place / "used", log)
                told = answers_of(index, ledger)
        copytree(place / "used", place / "killed")
        index.close()
        copytree(place / "used", place / "at rest")
        yield Scene(ledger, place / "at rest", place / "killed", told)


def restarted(index: SearchIndex, directory: Path, log: Log) -> SearchIndex:
    """What was indexed until now lies in the file, and what comes in the log."""
    index.close()
    return SearchIndex(directory / FILE_NAME, log)


def asked(scene: Scene, directory: Path) -> tuple[list[object], str]:
    """The answers of an index that is opened on some files, and what it logs."""
    said = io.StringIO()
    index = SearchIndex(directory / FILE_NAME, Log(said, lambda: START_MILLIS, "warning"))
    told = answers_of(index, scene.ledger)
    index.close()
    return told, said.getvalue()


@pytest.mark.parametrize("end", ["", "-seal"])
def test_damage_to_the_file_or_its_seal_is_noticed_and_changes_no_answer(
    end: str, scene: Scene, tmp_path: Path
) -> None:
    name = FILE_NAME + end
    sound = (scene.at_rest / name).read_bytes()
    put_back(scene.at_rest, tmp_path)
    assert (scene.answers, "") == asked(scene, tmp_path)
    for damaged in decayed(sound, name, PLACES if end == "" else PLACES // 4):
        put_back(scene.at_rest, tmp_path)
        (tmp_path / name).write_bytes(damaged)
        told, said = asked(scene, tmp_path)
        assert scene.answers == told
        assert end or "it is made again" in said, "a change of the file that nobody notices"


def test_damage_to_the_log_of_a_killed_process_costs_no_answer(scene: Scene, tmp_path: Path) -> None:
    name = FILE_NAME + "-wal"
    sound = (scene.killed / name).read_bytes()
    assert sound
    put_back(scene.killed, tmp_path)
    assert (scene.answers, "") == asked(scene, tmp_path)
    for damaged in decayed(sound, name, PLACES // 2):
        put_back(scene.killed, tmp_path)
        (tmp_path / name).write_bytes(damaged)
        assert scene.answers == asked(scene, tmp_path)[0]


@pytest.mark.parametrize("end", sealed_sqlite.BESIDE)
def test_a_file_that_is_gone_costs_no_answer(end: str, scene: Scene, tmp_path: Path) -> None:
    for kept in (scene.at_rest, scene.killed):
        put_back(kept, tmp_path)
        (tmp_path / (FILE_NAME + end)).unlink(missing_ok=True)
        assert scene.answers == asked(scene, tmp_path)[0]


@pytest.mark.parametrize("turn", [0, 1])
def test_a_seal_that_fails_as_the_index_is_closed_does_not_have_it_made_again(
    turn: int, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_back(scene.killed, tmp_path)
    turns, write = iter(range(1_000)), os.pwrite

    def fails_once(descriptor: int, data: bytes, offset: int) -> int:
        if next(turns) == turn:
            raise OSError(errno.EIO, "the disk fails")
        return write(descriptor, data, offset)

    with monkeypatch.context() as faulty:
        faulty.setattr(os, "pwrite", fails_once)
        told, said = asked(scene, tmp_path)
    assert scene.answers == told
    assert "the search index could not be closed" in said
    assert (scene.answers, "") == asked(scene, tmp_path)


def test_a_save_surfaces_the_same_beside_a_damaged_index(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        desk = Desk(ledger)
        for revisions in list(load().revisions.values())[:PEPS]:
            desk.create(revisions[-1]["content"], title=revisions[-1]["title"])
        [first, *_] = surfaced = compared(ledger, desk)
    for number, damaged in enumerate(decayed((tmp_path / "store" / FILE_NAME).read_bytes(), "index", 4)):
        copytree(tmp_path / "store", tmp_path / str(number))
        (tmp_path / str(number) / FILE_NAME).write_bytes(damaged)
        with Ledger.open(tmp_path / str(number)) as ledger:
            assert surfaced == compared(ledger, Desk(ledger))
            assert isinstance(ledger.submit(Desk(ledger).command(saving())), RecordReceipt)
            with ledger.view() as view:
                [candidate] = view.partition(PARTITION).candidates("pending")
                assert first in repr(candidate)


def compared(ledger: Ledger, desk: Desk) -> list[str]:
    """The memories that a save would be compared with."""
    with ledger.view() as view:
        detected = view.resembling(view.partition(desk.partition), saving().record.content)
    return [hit.record_id for hit in detected.hits]


def saving() -> SaveRecord:
    return SaveRecord(record=record("PEP 2: Procedure for Adding New Modules"), candidates_max=1)


def test_a_file_that_the_disk_keeps_to_itself_costs_no_command_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    told = Log(log, lambda: START_MILLIS, "warning")

    def fails(path: Path) -> bool:
        raise OSError(errno.EIO, "the disk fails", str(path))

    with Ledger.open(tmp_path / "ledger", create=True, log=told, clock=ManualClock(START_MILLIS)) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "exists", fails)
            Desk(ledger).accept(SaveRecord(record=record("the ferry leaves at nine")))
            Desk(ledger).delete(Desk(ledger).create("gone"))
        assert "the search index can't be opened" in log.getvalue()
