"""How far a load has come, and what became of its lines."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import IO, TYPE_CHECKING, Final, Self

import click
import msgspec

from relatum.cli.client.load.plan import Planned, Rejected
from relatum.cli.client.output import Json

if TYPE_CHECKING:
    from relatum.telemetry import Log

_DRAWN_SECONDS: Final = 0.2
_TOLD_SECONDS: Final = 10.0


class Report:
    """Counts, and writes results and rejects; a context manager.

    `started_millis`: what the server's clock said at the start, before which every receipt is known.
    """

    def __init__(self, results: Path | None, rejects: Path | None, total_bytes: int | None, *, quiet: bool) -> None:
        self.started_millis = 0
        self.accepted = self.known = self.refused = 0
        self._open = ExitStack()
        self._results = self._file(results)
        self._rejects = self._file(rejects)
        self._total = total_bytes
        self._quiet = quiet
        self._began = self._told = monotonic()
        self._terminal = sys.stderr.isatty()
        self._drawn = False
        self._log = None if quiet or self._terminal else _log()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._erase()
        self._open.close()

    def _file(self, path: Path | None) -> IO[bytes] | None:
        return None if path is None else self._open.enter_context(path.open("wb"))

    @property
    def lines(self) -> int:
        """How many lines something has become of."""
        return self.accepted + self.known + self.refused

    def taken(self, line: Planned, receipt: Json) -> None:
        """A line was accepted, now or before."""
        if receipt["committed_at_millis"] < self.started_millis:
            self.known += 1
        else:
            self.accepted += 1
        self._write(self._results, {"line": line.number, "key": line.key, "receipt": receipt})

    def passed(self) -> None:
        """A line that was only checked is sound."""
        self.accepted += 1

    def rejected(self, line: Rejected) -> None:
        """A line was refused."""
        self.refused += 1
        members = line.members()
        self._erase()
        click.echo(msgspec.json.encode(members), err=True)
        self._write(self._rejects, members)
        error = {name: members[name] for name in ("code", "message", "status")}
        self._write(self._results, {"line": line.number, "key": line.key, "error": error})

    def progress(self, read_bytes: int) -> None:
        """Tells how far it has come, if it is time to."""
        now = monotonic()
        if self._quiet or now - self._told < (_DRAWN_SECONDS if self._terminal else _TOLD_SECONDS):
            return
        self._told = now
        rate = self.lines / max(now - self._began, 1e-9)
        left = self._left(now, read_bytes)
        if self._log is not None:
            self._log.info(
                "loading",
                lines=self.lines,
                lines_per_second=round(rate, 1),
                accepted=self.accepted,
                known=self.known,
                refused=self.refused,
                seconds_left=left,
            )
            return
        self._drawn = True
        ends = "" if left is None else f", {left} s left"
        click.echo(
            f"\r\x1b[K{self.lines} lines, {rate:.0f} a second: {self.accepted} accepted, {self.known} known, "
            f"{self.refused} refused{ends}",
            nl=False,
            err=True,
        )

    def _left(self, now: float, read_bytes: int) -> int | None:
        if not self._total or not read_bytes:
            return None
        return round((now - self._began) * max(0, self._total - read_bytes) / read_bytes)

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            click.echo("\r\x1b[K", nl=False, err=True)

    def summary(self) -> Json:
        """The whole, for standard output."""
        return {
            "lines": self.lines,
            "accepted": self.accepted,
            "known": self.known,
            "refused": self.refused,
            "seconds": round(monotonic() - self._began, 3),
        }

    def flush(self) -> None:
        """What was written so far is in the files."""
        for file in (self._results, self._rejects):
            if file is not None:
                file.flush()

    @staticmethod
    def _write(file: IO[bytes] | None, members: Json) -> None:
        if file is not None:
            file.write(msgspec.json.encode(members) + b"\n")


def size_of(stream: IO[bytes]) -> int | None:
    """How long a file is; None for a pipe."""
    try:
        return os.fstat(stream.fileno()).st_size or None
    except (OSError, ValueError):
        return None


def _log() -> Log:
    from relatum.clock import SystemClock
    from relatum.telemetry import Log

    return Log(sys.stderr, SystemClock().millis)
