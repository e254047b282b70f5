"""What the endpoints of one server share, and what each is called with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from relatum.core.access import Credential
from relatum.core.ids import Partition, Scope, memory_partition
from relatum.http.fairness import Pace
from relatum.http.loop_delay import Heart
from relatum.http.responses import Header
from relatum.http.slots import Lease, Slots
from relatum.http.subscriptions import Watches
from relatum.http.tracing import RequestSpans
from relatum.ledger import Ledger
from relatum.ledger.ledger import CLOSE_SECONDS_MAX
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION, STREAM_IDLE_SECONDS
from relatum.store.partition import PartitionReader
from relatum.telemetry import Log

Result = TypeVar("Result")


class Versioned(Protocol):
    """What a route takes: a body or a query string."""

    @property
    def contract_version(self) -> int:
        """The version of the contract that the client speaks."""
        ...


class Scoped(Versioned, Protocol):
    """A body that addresses a partition."""

    @property
    def scope(self) -> Scope:
        """The part of the partition's identity that the client may name."""
        ...


class Nothing:
    """What a route takes that takes neither a body nor a query string."""

    contract_version: Final = CONTRACT_VERSION


BodyT = TypeVar("BodyT", bound=Versioned)
BodyT_co = TypeVar("BodyT_co", bound=Versioned, covariant=True)


class Pages(NamedTuple):
    """What is served about the routes themselves."""

    document: bytes
    """The OpenAPI document, JSON."""
    reference: bytes
    """The same for people, HTML."""


class StreamBounds(NamedTuple):
    """What a server allows to those who follow a change stream."""

    streams_max: int = 64
    write_seconds: float = 10.0
    """For a reader to take what was sent."""
    idle_seconds: float = STREAM_IDLE_SECONDS
    """Until a stream on which nothing happens says so."""


DEFAULT_BOUNDS: Final = StreamBounds()


Line = Literal["reads", "index", "mined", "sweep"]
"""Who waits for whom in threads. What asks the search index, or the mined edges, is in a line of its own: each of them
serves one at a time, so whatever waits for it would hold a thread that other reads need. So does the sweep, which waits
for the writer."""


class Services:
    """One ledger and what serves it. Event loop only, but for `ledger` and `log`."""

    def __init__(
        self,
        ledger: Ledger,
        log: Log,
        pages: Pages,
        *,
        slots_max: int,
        read_threads: int,
        stream_bounds: StreamBounds = DEFAULT_BOUNDS,
        tracing: RequestSpans | None = None,
    ) -> None:
        self.ledger = ledger
        self.log = log
        self.pages = pages
        self.metrics = ledger.metrics
        self.tracing = tracing
        self.heart = Heart(self.metrics)
        self.pace = Pace()
        self.slots = Slots(slots_max, self.metrics.slots_in_use)
        self.stream_bounds = stream_bounds
        self.streams = Slots(stream_bounds.streams_max, self.metrics.streams)
        self.watches = Watches(ledger)
        self.stopping = False
        """Set once the server is told to stop: what runs is finished, readiness says so. Any thread may look."""
        threads: dict[Line, int] = {"reads": read_threads, "index": 2, "mined": 1, "sweep": 1}
        self._lines = {
            line: ThreadPoolExecutor(number, thread_name_prefix=f"relatum-{line}") for line, number in threads.items()
        }
        self._running: set[Future[Any]] = set()

    def readiness(self) -> Literal["ready", "starting", "poisoned", "draining", "clock_ahead"]:
        """Whether commands are accepted, and if not, why."""
        found = self.ledger.readiness()
        return "draining" if self.stopping and found == "ready" else found

    def stop(self) -> None:
        """The server was told to stop: streams and long polls end, other requests are finished."""
        self.stopping = True
        self.watches.end()

    async def in_thread(self, work: Callable[[], Result], line: Line = "reads") -> Result:
        """Run what takes longer than the event loop may stand still."""
        if self.tracing is not None:
            work = partial(copy_context().run, work)  # in the thread the request is still the current one
        running = self._lines[line].submit(work)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(running)

    def close(self, timeout_seconds: float = CLOSE_SECONDS_MAX) -> bool:
        """End the threads; what has not begun in them never will. Whether all that had begun was finished in time.

        A thread that works on keeps an ordinary end of the process waiting.
        """
        for threads in self._lines.values():
            threads.shutdown(wait=False, cancel_futures=True)
        return not wait(tuple(self._running), timeout_seconds).not_done


class Call(Generic[BodyT_co]):
    """One request that passed every check before the operation itself."""

    __slots__ = ("body", "credential", "headers", "lease", "path_id", "services")

    def __init__(
        self,
        services: Services,
        credential: Credential,
        body: BodyT_co,
        path_id: str,
        headers: Sequence[Header],
        lease: Lease,
    ) -> None:
        self.services = services
        self.credential = credential
        self.body = body
        self.path_id = path_id
        """The UUID in the path; empty where the path has none."""
        self.headers = headers
        self.lease = lease
        """The admission slot, for an answer that has to wait and must not hold it meanwhile."""

    @property
    def ledger(self) -> Ledger:
        """The ledger that is served."""
        return self.services.ledger


def partition_of(call: Call[Scoped]) -> Partition:
    """The partition that a scoped request addresses: its company and its private subject come from the credential."""
    credential = call.credential
    return memory_partition(credential.company_id, credential.spec.subject_id, call.body.scope)


def reader_of(call: Call[Scoped], view: RequestView) -> PartitionReader:
    """The addressed partition as `view` shows it."""
    return view.partition(partition_of(call))
