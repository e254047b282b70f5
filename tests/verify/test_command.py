"""`relatum verify` as a program: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from relatum.cli import main
from relatum.cli.verify import SHOWN_MAX
from relatum.ledger import Ledger
from relatum.store.keys import StoreTable, Table
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.store_check import StoreCheck
from tests.cli.program import COMMAND, run
from tests.verify.damage import remove_rows

FAMILIES = {table.name.lower() for table in (*StoreTable, *Table)}


def report_of(directory: Path, *options: str, status: int) -> dict[str, Any]:
    finished = run("verify", directory, "--json", *options)
    assert status == finished.returncode, finished.stderr
    assert "" == finished.stderr, "there is no terminal to show progress on"
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def test_a_sound_store_ends_with_0_and_a_report_on_each_family(store: Path) -> None:
    report = report_of(store, status=0)
    expected = verify_directory(store)
    assert (True, expected.position, expected.digest, expected.rows, []) == tuple(
        report[name] for name in ("clean", "position", "digest", "rows", "findings")
    )
    assert FAMILIES == set(report["families"])
    assert {"rows": expected.families["event"].rows, "digest": expected.families["event"].digest, "findings": 0} == (
        report["families"]["event"]
    )


def test_a_verdict_has_a_few_lines_and_the_whole_report_is_one(store: Path) -> None:
    expected = verify_directory(store)
    assert [
        "everything holds",
        f"  position {expected.position}, {expected.rows} rows of {len(FAMILIES)} families, 6 partitions",
        f"  digest of the history {expected.digest}",
    ] == run("verify", store).stdout.splitlines()
    assert 1 == len(run("verify", store, "--json").stdout.splitlines())
    remove_rows(store, Table.DEPENDENT, 9)
    finished = run("verify", store)
    assert 1 == finished.returncode
    first, *others = finished.stdout.splitlines()
    assert first.endswith(" findings: something does not hold")
    assert SHOWN_MAX + 3 == len(others)
    assert others[2].startswith("  header of workspace ")
    assert others[-1].endswith(" more; --json prints the whole report")


def test_a_store_with_findings_ends_with_1_and_names_them(store: Path) -> None:
    (key,) = remove_rows(store, Table.DEPENDENT, 1)
    report = report_of(store, status=1)
    families = report["families"]
    counts = families["header"]["findings"], families["dependent"]["findings"], report["findings_count"]
    assert (False, 1, 1, 2) == (report["clean"], *counts), "the header that counts the row, and the row"
    assert f"the row {key.hex()} is missing" == report["findings"][1]["message"]


def test_a_store_that_is_missing_or_in_use_ends_with_2_and_one_line(store: Path, tmp_path: Path) -> None:
    with Ledger.open(store):
        for directory, told in ((store, "directory in use"), (tmp_path / "nowhere", "no relatum store in")):
            finished = run("verify", directory)
            assert (2, "") == (finished.returncode, finished.stdout)
            assert told in finished.stderr
            assert 1 == len(finished.stderr.splitlines())


HANGING = """
import sys, threading
from relatum.cli import main
from relatum.store import rocks

watchdog = rocks.watchdog
rocks.watchdog = lambda _: watchdog(0.5)
rocks._open_engine = lambda *_, **__: threading.Event().wait()
main(["verify", sys.argv[1]])
"""
"""The program with an engine that never opens a store, and less patience."""


def test_an_engine_that_hangs_ends_with_1_and_a_trace_and_no_report(store: Path) -> None:
    command = [sys.executable, "-c", HANGING, str(store)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (1, "") == (finished.returncode, finished.stdout)
    assert finished.stderr.startswith("Timeout")


SMALL_FILES = 'ulimit -f 60 && exec "$0" "$@"'
"""No file may have more than 60 blocks, which the rows of a partition do not fit into."""


def test_what_differs_is_told_even_where_there_is_no_room_to_find_out_which_rows(store: Path) -> None:
    remove_rows(store, Table.DEPENDENT, 1)
    command = ["sh", "-c", SMALL_FILES, *COMMAND, "verify", "--json", str(store)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert 1 == finished.returncode, finished.stderr
    header, finding = json.loads(finished.stdout)["findings"]
    assert ("header", "dependent") == (header["family"], finding["family"])
    assert "the rows are not those that the events imply" in finding["message"]


def test_one_that_is_interrupted_says_nothing_about_the_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(check: StoreCheck) -> Iterator[None]:
        yield None
        raise KeyboardInterrupt

    monkeypatch.setattr(StoreCheck, "steps", interrupted)
    finished = CliRunner().invoke(main, ["verify", str(store)])
    assert (2, "") == (finished.exit_code, finished.stdout)
    assert "interrupted before everything was verified" in finished.stderr


def test_a_fault_of_the_program_says_nothing_about_the_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(check: StoreCheck) -> Iterator[None]:
        raise KeyError("what a client wrote")

    monkeypatch.setattr(StoreCheck, "steps", faulty)
    finished = CliRunner().invoke(main, ["verify", str(store)])
    assert (2, "") == (finished.exit_code, finished.stdout)
    assert "a fault in relatum itself" in finished.stderr
    assert "KeyError at tests/verify/test_command.py:" in finished.stderr
    assert "what a client wrote" not in finished.stderr
    assert 1 == len(finished.stderr.splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_report_that_can_not_be_printed_is_no_finding(store: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*COMMAND, "verify", "--json", str(store)]
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert 2 == finished.returncode
    assert finished.stderr.startswith("Error: No space left on device")
    assert "Traceback" not in finished.stderr


READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77
touch "$1/new" 2>/dev/null && exit 78
exec "$2" -m relatum verify --json "$1"
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare to mount in private with")
def test_a_store_on_a_read_only_mount_is_verified(store: Path) -> None:
    command = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", str(store), sys.executable]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if finished.returncode == 77 or "unshare failed" in finished.stderr:
        pytest.skip("mounting is not permitted here")
    assert 0 == finished.returncode, finished.stderr
    assert json.loads(finished.stdout)["clean"]


def test_progress_is_shown_on_a_terminal_and_the_report_goes_elsewhere(store: Path) -> None:
    own, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, "verify", "--json", str(store)], stdout=subprocess.PIPE, stderr=theirs
        ) as process:
            os.close(theirs)
            report, _ = process.communicate(timeout=60)
        assert b"verifying" in os.read(own, 65_536)
    finally:
        os.close(own)
    assert json.loads(report)["clean"]
