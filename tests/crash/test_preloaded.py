"""The recorder and the injector, preloaded into a program that works on files."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crash_tests.part import Unavailable
from crash_tests.system_calls.disk import Disk
from crash_tests.system_calls.faults import Call, Fault, Mode
from crash_tests.system_calls.native import compiled, environment
from crash_tests.system_calls.records import Kind, Record, read_records
from crash_tests.violation import Violation

CHILD_SECONDS_MAX = 60
RECORDED = """
import ctypes, os, sys
root, log = sys.argv[1:]
recorder = ctypes.CDLL(None)
marks = os.open(os.devnull, os.O_WRONLY)
recorder.recorder_start(root.encode(), log.encode(), marks)
{steps}
recorder.recorder_stop()
"""
STRUCK = """
import ctypes, os, sys
root, call, number, mode, error = sys.argv[1], *map(int, sys.argv[2:])
injector = ctypes.CDLL(None)
injector.injector_watch(root.encode())
log = os.open(root + "/1.log", os.O_RDWR | os.O_CREAT)
injector.injector_arm(call, ctypes.c_long(number), mode, error)
{steps}
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("libraries")
    try:
        return {name: compiled(name, directory) for name in ("recorder", "injector")}
    except Unavailable as lacking:
        pytest.skip(str(lacking))


def run(library: Path, program: str, *arguments: object) -> tuple[int, str]:
    """The exit status and the standard output of a program."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**environment(library), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS_MAX,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.strip()


# The recorder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "root"
    place.mkdir()
    return place


def record(libraries: dict[str, Path], root: Path, steps: str) -> list[Record]:
    log = root.with_name("calls")
    status, _ = run(libraries["recorder"], RECORDED.format(steps=steps), root, log)
    assert status == 0
    return read_records(log)


def test_every_call_is_recorded_in_order_with_its_place_and_its_bytes(libraries: dict[str, Path], root: Path) -> None:
    steps = """
os.mkdir(root + "/folder")
file = os.open(root + "/folder/file", os.O_RDWR | os.O_CREAT)
os.write(file, b"one")
os.write(file, b"two")
os.pwrite(file, b"O", 0)
os.ftruncate(file, 4)
os.fdatasync(file)
os.write(marks, b"told")
os.rename(root + "/folder/file", root + "/folder/renamed")
os.link(root + "/folder/renamed", root + "/folder/linked")
os.unlink(root + "/folder/linked")
os.symlink("somewhere", root + "/folder/linked")
os.fsync(os.open(root + "/folder", os.O_RDONLY))
os.write(os.open(root + "/../elsewhere", os.O_WRONLY | os.O_CREAT), b"not watched")
"""
    records = record(libraries, root, steps.replace("/../elsewhere", "-elsewhere"))
    folder = root / "folder"
    inode = (folder / "renamed").stat().st_ino
    kinds = Kind
    expected = [
        (kinds.MADE, folder.stat().st_ino, 0, str(folder)),
        (kinds.OPENED, inode, 0, str(folder / "file")),
        (kinds.WRITTEN, inode, 0, "one"),
        (kinds.WRITTEN, inode, 3, "two"),
        (kinds.WRITTEN, inode, 0, "O"),
        (kinds.RESIZED, inode, 4, ""),
        (kinds.SYNCED, inode, 0, ""),
        (kinds.MARK, 0, 0, "told"),
        (kinds.RENAMED, 0, 0, f"{folder / 'file'}\0{folder / 'renamed'}"),
        (kinds.LINKED, 0, 0, f"{folder / 'renamed'}\0{folder / 'linked'}"),
        (kinds.UNLINKED, 0, 0, str(folder / "linked")),
        (kinds.LINKED_SYMBOLICALLY, 0, 0, f"somewhere\0{folder / 'linked'}"),
        (kinds.SYNCED, folder.stat().st_ino, 0, ""),
    ]
    assert expected == [(one.kind, one.inode, one.offset, one.data.decode()) for one in records]


def test_a_disk_that_follows_the_records_is_what_is_really_there(libraries: dict[str, Path], root: Path) -> None:
    (root / "before").write_bytes(b"was here")
    disk = Disk(root)
    steps = """
appended = os.open(root + "/before", os.O_WRONLY | os.O_APPEND)
os.write(appended, b", is here")
with open(root + "/new", "wb") as new:
    new.write(bytes(10_000))
os.close(appended)
read, pipe = os.pipe()
os.write(pipe, b"a descriptor with the number of a file that was closed")
open(root + "/new", "wb").close()
"""
    for one in record(libraries, root, steps):
        disk.follow(one)
    disk.require_followed()


def test_a_call_that_the_recorder_can_not_see_is_noticed(libraries: dict[str, Path], root: Path) -> None:
    disk = Disk(root)
    steps = """
file = os.open(root + "/file", os.O_WRONLY | os.O_CREAT)
os.pwritev(file, [b"unseen"], 0)
"""
    for one in record(libraries, root, steps):
        disk.follow(one)
    with pytest.raises(Violation, match=r"missed a change of .*file"):
        disk.require_followed()


# The injector


def strike(libraries: dict[str, Path], root: Path, fault: Fault, steps: str, *, number: int = 1) -> tuple[int, str]:
    numbers = fault.call.value, number, fault.mode.value, fault.error
    return run(libraries["injector"], STRUCK.format(steps=steps), root, *numbers)


THREE_WRITES = """
for data in (b"one ", b"two ", b"three "):
    try:
        print(os.write(log, data), end=" ")
    except OSError as error:
        print(error.errno, end=" ")
print(injector.injector_calls(2), injector.injector_struck())
"""


@pytest.mark.parametrize(
    ("mode", "status", "answers", "left"),
    [
        (Mode.ONCE, 0, f"4 {errno.EIO} 6 3 1", b"one three "),
        (Mode.FOREVER, 0, f"4 {errno.EIO} {errno.EIO} 3 2", b"one "),
        (Mode.SHORT, 0, "4 2 6 3 1", b"one twthree "),
        (Mode.SHORT_ONCE, 0, f"4 2 {errno.EIO} 2 1", b"one tw"),
        (Mode.TORN, -signal.SIGKILL, "4", b"one tw"),
        (Mode.KILL_BEFORE, -signal.SIGKILL, "4", b"one "),
        (Mode.KILL_AFTER, -signal.SIGKILL, "4", b"one two "),
    ],
)
def test_the_second_of_three_writes_goes_wrong_as_it_was_told(
    libraries: dict[str, Path], root: Path, mode: Mode, status: int, answers: str, left: bytes
) -> None:
    told = strike(libraries, root, Fault(Call.WRITE, mode, errno.EIO), THREE_WRITES, number=2)
    assert (status, answers) == told
    assert left == (root / "1.log").read_bytes()


def test_a_bit_is_read_wrong_once(libraries: dict[str, Path], root: Path) -> None:
    steps = """
os.write(log, b"abc")
print(os.pread(log, 3, 0).decode(), os.pread(log, 3, 0).decode(), os.pread(log, 3, 0).decode())
"""
    told = strike(libraries, root, Fault(Call.READ, Mode.FLIP), steps, number=2)
    assert (0, "abc arc abc") == told


@pytest.mark.parametrize(
    ("call", "step"),
    [
        (Call.OPEN, 'os.open(root + "/1.log", os.O_RDONLY)'),
        (Call.SYNC, "os.fsync(log)"),
        (Call.RESIZE, "os.ftruncate(log, 0)"),
        (Call.RENAME, 'os.rename(root + "/1.log", root + "/2.log")'),
        (Call.UNLINK, 'os.unlink(root + "/1.log")'),
        (Call.MAKE, 'os.mkdir(root + "/folder")'),
        (Call.LINK, 'os.link(root + "/1.log", root + "/2.log")'),
        (Call.LINK, 'os.symlink(root + "/1.log", root + "/2.log")'),
        (Call.LIST, "os.listdir(root)"),
        (Call.STAT, 'os.stat(root + "/1.log")'),
        (Call.LOCK, "__import__('fcntl').flock(log, 2)"),
        (Call.CLOSE, "os.close(log)"),
    ],
)
def test_each_kind_of_call_can_fail(libraries: dict[str, Path], root: Path, call: Call, step: str) -> None:
    steps = f"""
try:
    {step}
except OSError as error:
    print(error.errno)
"""
    assert (0, str(errno.ENOSPC)) == strike(libraries, root, Fault(call, Mode.ONCE, errno.ENOSPC), steps)
    assert ["1.log"] == [path.name for path in root.iterdir()]


UNDURABLE = "print(injector.injector_undurable())\n"


def test_what_is_written_is_not_durable_until_it_is_synced(libraries: dict[str, Path], root: Path) -> None:
    steps = f'{UNDURABLE}os.write(log, b"row")\n{UNDURABLE}os.fdatasync(log)\n{UNDURABLE}'
    assert (0, "0\n1\n0") == strike(libraries, root, Fault(Call.SYNC, Mode.ONCE, errno.EIO), steps, number=9)


def test_a_sync_that_succeeds_after_one_that_failed_proves_nothing(libraries: dict[str, Path], root: Path) -> None:
    steps = f"""
os.write(log, b"row")
try:
    os.fdatasync(log)
except OSError:
    os.fdatasync(log)
{UNDURABLE}"""
    assert (0, "1") == strike(libraries, root, Fault(Call.SYNC, Mode.ONCE, errno.EIO), steps)


def test_a_sync_that_was_a_lie_is_paid_for_when_the_power_fails(libraries: dict[str, Path], root: Path) -> None:
    steps = f"""
os.write(log, b"true ")
os.fdatasync(log)
os.write(log, b"lie ")
os.fdatasync(log)
os.write(log, b"too late")
os.fdatasync(log)
{UNDURABLE}injector.injector_cut()
"""
    assert (0, "0") == strike(libraries, root, Fault(Call.SYNC, Mode.LIE), steps, number=2)
    assert b"true " == (root / "1.log").read_bytes()
