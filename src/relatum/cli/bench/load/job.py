"""What a load generator is asked to do, and what it found."""

from __future__ import annotations

from statistics import quantiles

from msgspec import Struct

MILLIS = 1_000.0
MICROS = 1_000_000.0


class Job(Struct, frozen=True, kw_only=True):
    """Requests to send: `count` of them, from the first again where they come to an end, over so many connections.

    Each connection sends its next request when it has the answer to the one before.
    """

    host: str
    port: int
    connections: int
    requests: tuple[bytes, ...]
    count: int
    keep_answers: bool = False
    """Whether to hand over the bodies of the answers, in the order in which they came."""


class Outcome(Struct, frozen=True, kw_only=True, tag=True):
    """How it went. Latencies are in seconds, from the send to the last byte of the answer."""

    seconds: float
    processor_seconds: float
    latencies: tuple[float, ...]
    answers: tuple[bytes, ...] = ()
    server_processor_seconds: float = 0.0
    """What it cost the server; whoever started that one adds it."""

    @property
    def rate(self) -> float:
        """Requests answered in a second."""
        return len(self.latencies) / self.seconds

    @property
    def processor_share(self) -> float:
        """What part of one processor the generator took."""
        return self.processor_seconds / self.seconds

    @property
    def server_share(self) -> float:
        """What part of one processor the server took."""
        return self.server_processor_seconds / self.seconds

    @property
    def server_micros(self) -> float:
        """Processor time that the server took for one request."""
        return MICROS * self.server_processor_seconds / len(self.latencies)

    def latency_millis(self, percent: int) -> float:
        """The latency that so many of a hundred requests did not exceed."""
        if len(self.latencies) < 2:
            return MILLIS * self.latencies[0]
        return MILLIS * quantiles(self.latencies, n=100, method="inclusive")[percent - 1]


class Failed(Struct, frozen=True, tag=True):
    """Why a job came to nothing: a static text, and the beginning of the answer that was not expected."""

    message: str
    answer: bytes = b""
