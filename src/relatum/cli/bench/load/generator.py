"""The load generator as its users see it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

import msgspec

from relatum.cli.bench.load.job import Failed, Job, Outcome
from relatum.cli.bench.load.worker import read_message, write_message

_END_SECONDS_MAX: Final = 10.0
_OUTCOMES: Final = msgspec.msgpack.Decoder(Failed | Outcome)


class MeasurementFailed(Exception):
    """A measurement came to nothing, since something it needs did not do its part. The message is for people."""


class Generator:
    """A process that puts load on servers, one job at a time."""

    def __init__(self) -> None:
        # In a group of its own: an interrupt from the keyboard is for the one who measures.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "relatum.cli.bench.load.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )

    def run(
        self,
        address: tuple[str, int],
        requests: Sequence[bytes],
        connections: int,
        *,
        count: int | None = None,
        keep_answers: bool = False,
    ) -> Outcome:
        """Send all `requests`, or `count` of them over and over; how it went. Raises MeasurementFailed."""
        host, port = address
        job = Job(
            host=host,
            port=port,
            connections=min(connections, count or len(requests)),
            requests=tuple(requests),
            count=count or len(requests),
            keep_answers=keep_answers,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        write_message(self._process.stdin, msgspec.msgpack.encode(job))
        message = read_message(self._process.stdout)
        if message is None:
            raise MeasurementFailed("the load generator ended early")
        outcome = _OUTCOMES.decode(message)
        if isinstance(outcome, Failed):
            raise MeasurementFailed(f"{outcome.message}: {outcome.answer.decode(errors='replace')}")
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()  # it may be in the middle of a job, which nobody waits for any more
        try:
            self._process.communicate(timeout=_END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
