"""A store whose verification is cut into tasks gets the same report, whatever is wrong with it."""

from __future__ import annotations

import sys
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

import pytest

from relatum.errors import StorageFailure, StoreUnavailable
from relatum.store.keys import Table
from relatum.store.kv import Reader
from relatum.store.memory import MemoryStore
from relatum.store.rocks import reading
from relatum.store.verify import directory as directories
from relatum.store.verify.directory import verify_directory, verify_rows
from relatum.store.verify.findings import Findings
from relatum.store.verify.helpers import HelperFault, Helpers
from relatum.store.verify.parallel import ParallelPartitions
from relatum.store.verify.report import Report
from relatum.store.verify.store_check import StoreCheck
from relatum.store.verify.tasks import Result, Task, WholePartitions, done
from relatum.store.verify.totals import Totals
from tests.crash.past import Past, make_past
from tests.crash.planted import FAULTS
from tests.support.matrix import every
from tests.verify.damage import remove_rows

Rows = dict[bytes, bytes]


class Alone:
    """Does the tasks itself, in the order in which they are submitted."""

    count = 2

    def __init__(self, view: Reader) -> None:
        self._view = view

    def submit(self, task: Task) -> Future[Result]:
        future: Future[Result] = Future()
        future.set_result(done(task, self._view))
        return future


def in_pieces(view: Reader, helpers: Alone | Helpers, stretch_events: int) -> Report:
    """The report of a verification of which every piece is a task."""
    findings, totals = Findings(), Totals()
    partitions = ParallelPartitions(view, findings, totals, helpers, stretch_events=stretch_events)
    check = StoreCheck(lambda: nullcontext(view), findings, totals, partitions, step_rows=100)
    for _ in check.steps():
        assert 0 <= check.fraction <= 1
    return check.report()


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    return make_past(tmp_path_factory.mktemp("past") / "store")


@pytest.mark.parametrize("stretch_events", [1, 4, 1_000])
def test_a_sound_store_gets_the_same_report_however_it_is_cut(sound_rows: Rows, stretch_events: int) -> None:
    store = MemoryStore(sound_rows)
    report = in_pieces(store, Alone(store), stretch_events)
    assert report.clean
    assert verify_rows(store) == report


@pytest.mark.parametrize("fault", every(4, FAULTS))
def test_every_planted_fault_is_found_in_pieces(past: Past, fault: str) -> None:
    found = dict(past.rows)
    FAULTS[fault].plant(found)
    store = MemoryStore(found)
    report = in_pieces(store, Alone(store), 3)
    assert not report.clean
    assert {finding.family for finding in verify_rows(store).findings} == {one.family for one in report.findings}


def test_helpers_give_the_same_report_as_one_process(store: Path) -> None:
    remove_rows(store, Table.DEPENDENT, 3)
    with reading(store / "engine") as view, Helpers(store / "engine", 2) as helpers:
        report = in_pieces(view, helpers, 5)
    assert 3 == report.families["dependent"].findings
    assert verify_directory(store) == report


def test_a_store_with_many_events_is_verified_by_helpers(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = verify_directory(store)
    monkeypatch.setattr(directories, "PARALLEL_EVENTS_MIN", 10)
    parts: list[float] = []
    assert alone == verify_directory(store, jobs=2, progress=parts.append)
    assert sorted(parts) == parts
    assert alone == verify_directory(store, jobs=1)


def test_a_helper_that_can_not_open_the_store_is_told(store: Path, tmp_path: Path) -> None:
    with Helpers(tmp_path / "nowhere", 1) as helpers:
        failed = helpers.submit(WholePartitions(()))
        with pytest.raises(StorageFailure, match="there is no store in"):
            failed.result(60)


def test_a_helper_that_ends_early_is_told(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relatum.store.verify.helpers.sys.executable", "/bin/true")
    monkeypatch.setattr(directories, "PARALLEL_EVENTS_MIN", 10)
    with pytest.raises(StoreUnavailable, match="ended early"):
        verify_directory(store, jobs=2)


FAULTY = """#!{python}
import sys
from relatum.store.verify.messages import Failed, read_task, write_answer
read_task(sys.stdin.buffer)
write_answer(sys.stdout.buffer, Failed("KeyError at somewhere:1", fault=True))
"""


def test_a_fault_of_a_helper_is_told_as_that_and_not_as_one_of_the_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = tmp_path / "helper"
    helper.write_text(FAULTY.format(python=sys.executable))
    helper.chmod(0o700)
    monkeypatch.setattr("relatum.store.verify.helpers.sys.executable", str(helper))
    monkeypatch.setattr(directories, "PARALLEL_EVENTS_MIN", 10)
    with pytest.raises(HelperFault, match=r"a fault in relatum itself: KeyError at somewhere:1; .* --jobs 1"):
        verify_directory(store, jobs=2)
