"""What the process asks of the operating system: no core files, and descriptors for the store and for its clients."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from relatum.http.settings import CONNECTIONS_MIN
from relatum.store.process_setup import FILES_RESERVED
from tests.doors.conftest import Running
from tests.doors.crowd import answers, crowd, ended, offer
from tests.doors.watching import watching
from tests.http.serving import Server, initialise
from tests.http.wire import head
from tests.support.polling import WAIT_SECONDS, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

HEALTH = head("GET", "/health")


def limits_of(pid: int) -> dict[str, tuple[str, str]]:
    """The limits of a process by name: soft and hard."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): (line[26:47].strip(), line[47:68].strip()) for line in lines}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# Core files


def test_a_server_may_write_no_core_file(patient: Running) -> None:
    assert ("0", "0") == limits_of(patient.server.process.pid)["Max core file size"]


DUMPABLE = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
DUMPED = """
import os, resource
_, hard = resource.getrlimit(resource.RLIMIT_CORE)
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    {prepare}
    os.abort()
_, status = os.waitpid(child, 0)
print(os.WTERMSIG(status), os.WCOREDUMP(status))
"""
"""Whether the system wrote the core of a process that was prepared, under the highest limit, and then aborted."""


def child(code: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def test_the_memory_of_a_command_is_hidden_whatever_becomes_of_core_files(tmp_path: Path) -> None:
    hide = "from relatum.store.process_setup import hide_memory; hide_memory()\n"
    assert "1\n" == child(DUMPABLE, tmp_path).stdout
    assert "0\n" == child(hide + DUMPABLE, tmp_path).stdout


@pytest.mark.parametrize("without", ["", "resource.setrlimit = lambda *_: None", "ctypes.CDLL = lambda _: resource"])
def test_an_abort_leaves_no_core_file(without: str, tmp_path: Path) -> None:
    """With the limit and the flag, with the flag alone, and with the limit alone."""
    prepare = f"import ctypes; {without or 'pass'}; from relatum.store.process_setup import hide_memory; hide_memory()"
    assert f"{int(signal.SIGABRT)} False\n" == child(DUMPED.format(prepare=prepare), tmp_path).stdout
    assert [] == list(tmp_path.iterdir())


def test_the_memory_of_a_helper_of_a_verification_is_hidden_too(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    helper = (
        "import runpy, sys\n"
        f"sys.argv[1:] = [{str(tmp_path / 'store' / 'engine')!r}]\n"
        "runpy.run_module('relatum.store.verify.worker', run_name='__main__')\n"
    )
    done = child(helper + DUMPABLE, tmp_path)
    assert "0\n" == done.stdout, done.stderr


def test_every_command_hides_its_memory(tmp_path: Path) -> None:
    init = ["init", "store", "--company", "acme", "--subject", "ada"]
    code = f"from relatum.cli import main; main({init}, standalone_mode=False)\n{DUMPABLE}"
    assert "0" == child(code, tmp_path).stdout.splitlines()[-1]


# Descriptors


def limited(files: int) -> tuple[str, ...]:
    """The program, with so many open files for good."""
    lower = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    code = f"{lower}\nfrom relatum.cli import main; main()"
    return (sys.executable, "-c", code)


def test_a_server_takes_all_descriptors_that_it_may_have(patient: Running) -> None:
    soft, hard = limits_of(patient.server.process.pid)["Max open files"]
    assert soft == hard


def test_connections_leave_the_store_its_descriptors(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    files = FILES_RESERVED + 100
    with Server(tmp_path / "store", program=limited(files)) as server, watching(server.url) as watcher:
        assert '"connections_max":100' in server.log_path.read_text()
        with crowd(server.port, 300) as members:
            until(lambda: ended(members) >= 200, "the end of those that are too many")
            assert watcher.connections <= 100
            assert watcher.descriptors < files - FILES_RESERVED / 2


def test_a_server_that_would_lack_descriptors_says_so_and_does_not_start(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    files = FILES_RESERVED + CONNECTIONS_MIN - 1
    started = subprocess.run(
        [*limited(files), "serve", tmp_path / "store", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (1, "") == (started.returncode, started.stdout)
    assert f"needs {files + 1} (ulimit -n)" in started.stderr


def test_a_server_without_a_free_descriptor_waits_for_one_without_turning_in_circles(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    with Server(tmp_path / "store") as server, watching(server.url) as watcher:
        pid = server.process.pid
        assert watcher.healthy()
        few = watcher.descriptors + 5
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, few))
        with crowd(server.port, 60) as members:
            for member in members:
                member.sendall(HEALTH)
            answered = [answer.status for answer in answers(members)]
            assert {0, 200} == set(answered), "some are served, for the others there is no descriptor"
            assert watcher.healthy()
            before = cpu_seconds(pid)
            nothing_comes_for_a_second(members[answered.index(200)])
            assert cpu_seconds(pid) - before < 0.5
        until(lambda: is_served(server.port), "a descriptor for a new client")


def is_served(port: int) -> bool:
    with crowd(port, 1) as members:
        offer(members[0], HEALTH)
        return [200] == [answer.status for answer in answers(members)]


def nothing_comes_for_a_second(member: socket.socket) -> None:
    member.settimeout(1)
    with pytest.raises(TimeoutError):
        member.recv(1)
