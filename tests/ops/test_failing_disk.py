"""A disk that is full or fails under a running server: nothing acknowledged is lost, reads go on, a restart decides."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from relatum.limits import MIB
from relatum.store.layout import BALLAST_NAME
from relatum.store.verify.directory import verify_directory
from tests.cli.program import run
from tests.http.client import RECORDS, Api, Caller, issue
from tests.http.serving import PROGRAM, Server, initialise
from tests.ops.watching import POISONED, READY, UNAVAILABLE, Pen, metric, readiness

BALLAST_MIB = 6


@contextmanager
def served(directory: Path, *options: str, program: tuple[str, ...] = PROGRAM) -> Iterator[tuple[Server, Api]]:
    with Server(directory, *options, program=program) as server, Api(server.url) as api:
        yield server, api


def assert_poisoned(api: Api, pen: Pen) -> None:
    """Commands are refused whatever they are, the operator is told, and reads and replays go on."""
    assert POISONED == readiness(api)
    assert 1 == metric(api, "relatum_poisoned")
    assert 200 == api.send("GET", "/health").status_code
    assert UNAVAILABLE == pen.write()
    kept = next(iter(pen.receipts))
    assert pen.receipts[kept] == pen.found(kept)
    assert pen.caller.ask(f"{RECORDS}/query", filter={"limit": 3}).json()["page"]["records"]


def assert_kept(api: Api, pen: Pen) -> None:
    """The server that is asked now has everything that was acknowledged."""
    pen.caller = replace(pen.caller, api=api)
    pen.assert_all_found()


def assert_resolved(api: Api, pen: Pen, doubtful: str) -> None:
    """Everything acknowledged is there, and the command in doubt is decided, one way or the other."""
    assert_kept(api, pen)
    assert pen.write(doubtful) in (None, (409, "idempotency_conflict"))
    assert pen.found(doubtful) is not None
    assert pen.write() is None


def test_a_full_disk_stops_writes_alone_and_the_ballast_lets_the_server_stop_and_start(small_disk: Path) -> None:
    store, filler = small_disk / "store", small_disk / "filler"
    secret = initialise(store)
    ballast = ("--ballast-mib", str(BALLAST_MIB))
    with served(store, *ballast) as (server, api):
        pen = Pen(issue(Caller(api, secret)))
        assert pen.write() is None
        assert BALLAST_MIB * MIB == metric(api, "relatum_ballast_bytes")
        fill(filler, leave=2 * MIB)
        doubtful = pen.write_until_refused()
        assert_poisoned(api, pen)
        assert 1 == metric(api, 'relatum_storage_failures_total{cause="disk_full"}')
        (told,) = [line for line in server.log_path.read_text().splitlines() if "a commit failed" in line]
        assert '"cause":"disk_full","errno":28,"errno_name":"ENOSPC"' in told
        assert 0 == metric(api, "relatum_ballast_bytes")
        assert not (store / BALLAST_NAME).exists()
        assert 0 == server.stop()
    with served(store, *ballast) as (server, api):
        assert READY == readiness(api)
        assert_kept(api, pen)
        assert 0 == metric(api, "relatum_ballast_bytes"), (
            "there is no room for it yet, which keeps nobody from starting"
        )
        filler.unlink()
        assert 0 == server.stop()
    with served(store, *ballast) as (server, api):
        assert_resolved(api, pen, doubtful)
        assert BALLAST_MIB * MIB == metric(api, "relatum_ballast_bytes")
        assert 0 == server.stop()
    assert verify_directory(store).clean


@pytest.mark.slow
def test_a_server_that_is_killed_on_a_full_disk_starts_again_with_the_room_of_the_ballast(small_disk: Path) -> None:
    store, filler = small_disk / "store", small_disk / "filler"
    secret = initialise(store)
    with served(store, "--ballast-mib", str(BALLAST_MIB)) as (server, api):
        pen = Pen(issue(Caller(api, secret)))
        for _ in range(20):
            assert pen.write() is None
        fill(filler, leave=0)
        server.process.kill()
        server.process.wait(60)
    assert (store / BALLAST_NAME).exists()
    with served(store, "--ballast-mib", str(BALLAST_MIB)) as (server, api):
        assert READY == readiness(api)
        assert_kept(api, pen)
        assert 0 == server.stop()


@pytest.mark.slow
def test_without_a_ballast_it_starts_once_there_is_room_and_has_lost_nothing(small_disk: Path) -> None:
    store, filler = small_disk / "store", small_disk / "filler"
    secret = initialise(store)
    with served(store, "--ballast-mib", "0") as (server, api):
        pen = Pen(issue(Caller(api, secret)))
        for _ in range(20):
            assert pen.write() is None
        fill(filler, leave=0)
        server.process.kill()
        server.process.wait(60)
    ran = run("serve", store, "--port", "0", "--ballast-mib", "0")
    assert (1, "") == (ran.returncode, ran.stdout)
    assert "No space left on device" in ran.stderr
    filler.unlink()
    with served(store, "--ballast-mib", "0") as (server, api):
        assert_kept(api, pen)
        assert 0 == server.stop()


def fill(path: Path, *, leave: int) -> None:
    """Takes all room of a disk but so many bytes."""
    free = shutil.disk_usage(path.parent).free - leave
    with path.open("wb") as file:
        while free > 0:
            written = min(free, MIB)
            try:
                file.write(bytes(written))
                file.flush()
            except OSError:
                return
            free -= written


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="this machine has no prlimit")
def test_a_write_that_fails_stops_writes_alone_and_a_restart_decides(tmp_path: Path) -> None:
    store = tmp_path / "store"
    secret = initialise(store)
    limited = ("prlimit", f"--fsize={MIB}", *PROGRAM)
    with served(store, program=limited) as (server, api):
        pen = Pen(issue(Caller(api, secret)))
        doubtful = pen.write_until_refused()
        assert_poisoned(api, pen)
        assert 0 == server.stop()
    with served(store) as (server, api):
        assert READY == readiness(api)
        assert_resolved(api, pen, doubtful)
        assert 0 == server.stop()
    assert verify_directory(store).clean


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not tell its descriptors")  # noqa: PTH112
def test_a_sync_that_fails_stops_writes_alone_and_a_restart_decides(tmp_path: Path) -> None:
    store, trigger = tmp_path / "store", tmp_path / "trigger"
    secret = initialise(store)
    program = (sys.executable, str(Path(__file__).with_name("unsyncable.py")), str(trigger))
    with served(store, program=program) as (server, api):
        pen = Pen(issue(Caller(api, secret)))
        assert pen.write() is None
        trigger.touch()
        doubtful = pen.write_until_refused(1)
        assert_poisoned(api, pen)
        assert 0 == server.stop()
    with served(store) as (server, api):
        assert READY == readiness(api)
        assert_resolved(api, pen, doubtful)
        assert 0 == server.stop()
    assert verify_directory(store).clean
