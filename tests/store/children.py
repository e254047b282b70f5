"""Processes that the store's suites start, kill, starve or wait for: `python -m tests.store.children NAME ARGUMENT...`.

Each function is one process; its arguments are strings, and what it prints is its answer.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import rocksdict

from crash_tests.system_calls.faults import Call, Mode
from crash_tests.system_calls.native import preloaded
from relatum.errors import Failure, StorageFailure
from relatum.store.directory import watchdog
from relatum.store.rocks import RocksStore
from tests.store.helpers import commit, rows_of

PROJECT = Path(__file__).parents[2]


def start(name: str, *arguments: object, library: Path | None = None) -> subprocess.Popen[str]:
    """Start the child `name`, with a library preloaded if one is given; the caller waits for it or kills it."""
    command = [sys.executable, "-m", "tests.store.children", name, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["src", *filter(None, [os.environ.get("PYTHONPATH")])])}
    if library is not None:
        environment["LD_PRELOAD"] = str(library)
    return subprocess.Popen(
        command, cwd=PROJECT, env=environment, text=True, stdin=-1, stdout=-1, stderr=-1, start_new_session=True
    )


def run(name: str, *arguments: object, library: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the child `name` to its end, for a minute at most."""
    with start(name, *arguments, library=library) as process:
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def commit_until_killed(directory: str) -> None:
    """Commit groups of three rows for ever; print the number of each once it is durable."""
    store = RocksStore.open(Path(directory), create=True)
    number = int(store.get(b"last") or b"0")
    while True:
        number += 1
        commit(store, {b"last": b"%d" % number, b"a%08d" % number: os.urandom(300), b"b%08d" % number: b""})
        print(number, flush=True)


def commit_and_die(directory: str, groups: str, row_bytes: str) -> None:
    """Commit `groups` groups of a row each, then be killed, so that nothing but the log holds them.

    Print the size of the log after each: that is where its records end.
    """
    store = RocksStore.open(Path(directory), create=True)
    (log,) = Path(directory).glob("*.log")
    for number in range(int(groups)):
        commit(store, {b"%06d" % number: bytes([number % 256]) * int(row_bytes)})
        print(log.stat().st_size, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def hold(directory: str) -> None:
    """Own the store until standard input ends."""
    store = RocksStore.open(Path(directory), create=True)
    print("open", flush=True)
    sys.stdin.read()
    store.close()


def fail_to(step: str, directory: str) -> None:
    """Run out of room for files in a write or, with a descriptor closed under the engine, in a sync."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = RocksStore.open(Path(directory), create=True)
    commit(store, {b"kept": b"1"}, position="before")
    if step == "sync":
        store.write({b"doubtful": b"1"})
        close_log_descriptor(directory)
        expect_failure(store.sync)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        expect_failure(lambda: store.write({b"doubtful": os.urandom(100_000)}))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    expect_only_views(store)
    store.close()
    print("as promised")


def fail_call(call: str, error: str, directory: str) -> None:
    """One call on the log fails, a write or a sync, as a disk lets it fail. The injector must be preloaded."""
    injector = preloaded()
    injector.injector_watch(os.fsencode(directory))
    store = RocksStore.open(Path(directory), create=True)
    commit(store, {b"kept": b"1"}, position="before")
    injector.injector_arm(Call[call], 1, Mode.ONCE, getattr(errno, error))
    if call == "SYNC":
        store.write({b"doubtful": b"1"})
        expect_failure(store.sync)
    else:
        expect_failure(lambda: store.write({b"doubtful": b"1"}))
    assert 1 == injector.injector_struck()
    expect_only_views(store)
    store.close()
    print("as promised")


def expect_only_views(store: RocksStore) -> None:
    """The store, in which a write has failed, takes no more of them, and shows what was published before."""
    expect_failure(lambda: store.write({b"later": b"1"}))
    expect_failure(store.sync)
    expect_failure(store.publish)
    with store.view() as view:
        assert rows_of(view) == {b"kept": b"1"}
        assert view.get(b"kept") == b"1"
        assert view.get(b"doubtful") is None
        assert view.position == "before"


def close_log_descriptor(directory: str) -> None:
    """Pull the log away from under the engine, so that its next sync fails with EBADF."""
    (log,) = Path(directory).resolve().glob("*.log")
    for descriptor in Path("/proc/self/fd").iterdir():
        if descriptor.resolve() == log:
            os.close(int(descriptor.name))


def expect_failure(use: Callable[[], None]) -> None:
    try:
        use()
    except StorageFailure:
        return
    raise AssertionError("no failure")


def open_store(directory: str) -> None:
    """Open and close the store; print what it says about it."""
    try:
        store = RocksStore.open(Path(directory), create=False)
    except Failure as error:
        print(type(error).__name__, error)
    else:
        print("opened", len(rows_of(store)))
        store.close()


def open_engine(directory: str, seconds: str) -> None:
    """Open the bare engine as the store would, but look at nothing before."""
    options = rocksdict.Options(raw_mode=True)
    options.set_wal_recovery_mode(rocksdict.DBRecoveryMode.tolerate_corrupted_tail_records())
    with watchdog(float(seconds)):
        rocksdict.Rdict(directory, options)
    print("opened")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
