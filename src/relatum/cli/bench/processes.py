"""Servers as processes of their own: the ledger's, and the one that only echoes.

Here: starting them, stopping or killing them, and what `/metrics` tells of a ledger's. Always holds: nothing that was
started outlives its block.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Final

import httpx

from relatum.cli.bench.isolation import undisturbed
from relatum.cli.bench.load.generator import MeasurementFailed
from relatum.cli.bench.load.job import MILLIS
from relatum.http.settings import ENVIRONMENT_PREFIX
from relatum.limits import KIB

READY_SECONDS_MAX: Final = 300.0
STOP_SECONDS_MAX: Final = 60.0
IDLE_SECONDS: Final = 0.5
SLOTS: Final = 1_024
"""More than the connections of any measurement, so that none is shed."""

_ADDRESS: Final = re.compile(rb"listening on http://([\d.]+):(\d+)")


class Served:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[bytes], address: tuple[str, int]) -> None:
        self.address = address
        self._process = process

    def kill(self) -> None:
        """End it as a power cut would: at once, and without a word to it."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @property
    def processor_seconds(self) -> float:
        """Processor time it has taken so far, in steps of the system's clock (a hundredth of a second)."""
        # Behind the name, which stands in brackets and may hold anything: the state, and as fields 12 and 13 the ticks.
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_peak_bytes(self) -> int:
        """The greatest resident set it ever had, as the kernel has kept it."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return KIB * int(status.partition("VmHWM:")[2].split()[0])

    @property
    def stall_millis(self) -> float:
        """For how long the event loop of a ledger's server stood still at most since it was started."""
        return MILLIS * self.metrics()["relatum_loop_delay_longest_seconds"]

    def idle_stall_millis(self) -> float:
        """The same of a server that nobody has asked yet, and that is left alone for a while: the floor of a stall."""
        Event().wait(IDLE_SECONDS)
        return self.stall_millis

    def metrics(self) -> Mapping[str, float]:
        """What a ledger's server counts, by name; labelled ones are summed."""
        found: dict[str, float] = defaultdict(float)
        host, port = self.address
        told = httpx.get(f"http://{host}:{port}/metrics", timeout=STOP_SECONDS_MAX, trust_env=False)
        for line in told.text.splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                found[name.partition("{")[0]] += float(value)
        return found


@contextmanager
def serving(directory: Path, *options: str) -> Iterator[Served]:
    """The ledger's server on a store, ready."""
    arguments = ["serve", str(directory), "--port", "0", "--slots", str(SLOTS), "--log-level", "error", *options]
    with started("relatum", *arguments) as served:
        yield served


@contextmanager
def echoing(answers: Path) -> Iterator[Served]:
    """The server that answers what lies in a file; see `floors.echo`."""
    with started("relatum.cli.bench.floors.echo", str(answers)) as served:
        yield served


@contextmanager
def started(module: str, *arguments: str) -> Iterator[Served]:
    """A module of this package that serves, once it has told its address; stopped at the end."""
    with ExitStack() as stack:
        with undisturbed():
            process = subprocess.Popen(  # noqa: S603 - this program itself
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=_environment(),
                process_group=0,  # an interrupt from the keyboard reaches the one who measures, who then stops this one
            )
            stack.callback(_stop, process)
        yield Served(process, _address(process))


def _environment() -> dict[str, str]:
    """This process's environment without settings, which are meant for a server of the user's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}


def _address(process: subprocess.Popen[bytes]) -> tuple[str, int]:
    """The address in the first line; what went wrong has been said on standard error."""
    assert process.stdout is not None
    deadline, line = monotonic() + READY_SECONDS_MAX, b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - monotonic()))
        chunk = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not chunk:
            raise MeasurementFailed("a server did not start")
        line += chunk
    found = _ADDRESS.search(line)
    if found is None:
        raise MeasurementFailed("a server did not tell its address")
    return found[1].decode(), int(found[2])


def _stop(process: subprocess.Popen[bytes]) -> None:
    with undisturbed():
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert process.stdout is not None
    process.stdout.close()
