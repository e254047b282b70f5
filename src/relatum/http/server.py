"""The server: uvicorn in one process, from the first socket to the last answer.

Always holds: the address is announced once connections are accepted. A stop lets running requests finish within the
time to drain and closes the ledger last, so that whatever was taken is decided; what was acknowledged is never lost,
whichever way the process ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from time import monotonic
from typing import Final, TextIO

import uvicorn
from starlette.types import ASGIApp

from relatum.errors import StorageFailure
from relatum.http.app import application, while_busy
from relatum.http.connections import Connections
from relatum.http.library_logs import told_in, unhandled_in
from relatum.http.listeners import BACKLOG, address_of, file_listener, port_listener
from relatum.http.mcp_endpoint import PATH as MCP_PATH
from relatum.http.mcp_endpoint import McpEndpoint, is_served
from relatum.http.openapi.document import document
from relatum.http.openapi.page import page
from relatum.http.operator import Operating, OperatorToken
from relatum.http.protocol import BoundedProtocol, Bounds
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.server_state import Pages, Services, StreamBounds
from relatum.http.settings import Settings
from relatum.http.sweeper import sweep_for_ever
from relatum.http.tracing import RequestSpans
from relatum.ledger import Ledger
from relatum.store.verify.scrub import scrubbing
from relatum.telemetry import Log, Scalar

KEEP_ALIVE_SECONDS: Final = 75
"""Longer than the minute after which most clients and proxies let go of a connection: else both ends race."""

THREAD_SWITCH_SECONDS: Final = 0.0001
"""How long a thread that computes may keep the event loop waiting; with the interpreter's own 5 ms each of several
threads adds as much to every answer."""

CLOSING_SECONDS_MIN: Final = 1.0
"""For the ledger to be closed in order where nothing is left of the time to drain."""

_Listeners = Sequence[contextlib.AbstractContextManager[socket.socket]]

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def serve(
    ledger: Ledger,
    settings: Settings,
    log: Log,
    *,
    operator_token: OperatorToken | None = None,
    told: Mapping[str, Scalar] | None = None,
    announce: TextIO = sys.stdout,
    tracing: RequestSpans | None = None,
) -> bool:
    """Serve `ledger` until SIGTERM or SIGINT, then drain and close it; to be called from the main thread.

    Writes one line with the address to `announce` once it is ready. Answers whether everything that ran was finished
    in time; what was not may run on in threads, and an ordinary end of the process waits for it. Raises
    `AddressUnavailable`, the ledger closed, where a port can't be had.
    """
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    services = services_of(ledger, settings, log, tracing)
    time = _Time(settings.drain_timeout_seconds)
    operating = _operating(operator_token, services)
    try:
        agents = McpEndpoint(services, settings) if is_served(settings) else None
        with contextlib.ExitStack() as stack:
            stack.enter_context(told_in(log))
            stack.enter_context(
                scrubbing(ledger.view, ledger.metrics, log, ledger.clock, settings.scrub_hours, patience=time.left)
            )
            connections = Connections(settings.connections_max, ledger.metrics)
            servers = [
                _Server(
                    _config(app, _bounds(app, connections, services, settings), settings),
                    [stack.enter_context(listener) for listener in listeners],
                )
                for app, listeners in _applications(services, settings, operating, agents)
            ]
            log.info("started", **(told or {}))
            sweep_seconds = 60.0 * settings.sweep_interval_minutes
            finished = _run(servers, services, time, sweep_seconds, lambda: _announce(servers, announce, log))
    finally:
        closed = _closed(services, ledger, time, log)
    log.info("stopped", finished=finished and closed)
    return finished and closed


def services_of(ledger: Ledger, settings: Settings, log: Log, tracing: RequestSpans | None = None) -> Services:
    """What the endpoints of a server share, as `settings` say."""
    described = document((*ROUTES, METRICS_ROUTE))
    pages = Pages(described.as_json(), page(described))
    if tracing is not None:
        ledger.trace_writes(tracing)
    return Services(
        ledger,
        log,
        pages,
        slots_max=settings.slots,
        read_threads=settings.read_threads,
        stream_bounds=StreamBounds(settings.streams_max, settings.stream_write_seconds),
        tracing=tracing,
    )


def _operating(token: OperatorToken | None, services: Services) -> Mapping[str, ASGIApp]:
    """What is served to an operator: nothing without a token."""
    return {} if token is None else Operating(token, services).endpoints()


def _applications(
    services: Services, settings: Settings, operating: Mapping[str, ASGIApp], agents: McpEndpoint | None
) -> list[tuple[ASGIApp, _Listeners]]:
    """What is served, and on which listeners."""
    host, port, uds, metrics_port = settings.host, settings.port, settings.uds, settings.metrics_port
    listeners: _Listeners = [] if port is None else [port_listener(host, port)]
    listeners = [*listeners, *([] if uds is None else [file_listener(uds)])]
    routes = (*ROUTES, METRICS_ROUTE) if metrics_port is None else ROUTES
    app = application(routes, services, operating if agents is None else {**operating, MCP_PATH: agents})
    if agents is not None:
        agents.app = app
    if metrics_port is None:
        return [(app, listeners)]
    return [(app, listeners), (application((METRICS_ROUTE,), services), [port_listener(host, metrics_port)])]


def _bounds(app: ASGIApp, connections: Connections, services: Services, settings: Settings) -> Bounds:
    return Bounds(
        connections,
        services.metrics,
        busy=while_busy(app),
        request_seconds=settings.body_timeout_seconds,
        answer_seconds=settings.answer_timeout_seconds,
    )


def _config(app: ASGIApp, bounds_of_all: Bounds, settings: Settings) -> uvicorn.Config:
    class Protocol(BoundedProtocol):
        bounds = bounds_of_all

    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.drain_timeout_seconds,
    )


class _Server(uvicorn.Server):
    """A uvicorn server on listeners, which leaves signals to its caller and tells when it accepts connections."""

    def __init__(self, config: uvicorn.Config, listeners: list[socket.socket]) -> None:
        super().__init__(config)
        self._listeners = listeners
        self.addresses = [address_of(listener) for listener in listeners]
        self.accepting = asyncio.Event()
        self.finished = True
        """Whether the stop left no request behind."""

    async def run_on_listeners(self) -> None:
        """Serve until told to stop."""
        await self.serve(sockets=self._listeners)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        self.accepting.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what runs, as long as there is time for it."""
        await super().shutdown(sockets)
        self.finished = not self.server_state.tasks

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Nothing: uvicorn would end the process by the signal it was stopped with."""
        yield

    def stop(self) -> None:
        """Accept nothing more and finish what runs; told twice, don't wait for it."""
        self.force_exit = self.should_exit
        self.should_exit = True


class _Time:
    """What there is to drain in: it runs from the signal on, and is over with the second one."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def run(self) -> None:
        """A signal has come."""
        self._end = monotonic() + (self._seconds if self._end is None else 0.0)

    def left(self) -> float:
        """Seconds."""
        return self._seconds if self._end is None else max(0.0, self._end - monotonic())


def _run(
    servers: Sequence[_Server], services: Services, time: _Time, sweep_seconds: float, ready: Callable[[], None]
) -> bool:
    """Serve until a signal; whether the stop left no request behind."""

    def stop() -> None:
        if not services.stopping:
            services.log.info("stopping", drain_seconds=time.left())
        time.run()
        services.stop()
        for server in servers:
            server.stop()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(unhandled_in(services.log))
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, stop)
        running = asyncio.gather(*(server.run_on_listeners() for server in servers))
        accepting = asyncio.gather(*(server.accepting.wait() for server in servers))
        await asyncio.wait((running, accepting), return_when=asyncio.FIRST_COMPLETED)
        if accepting.done():
            _spare_what_stays()
            heart = loop.create_task(services.heart.beat())
            running.add_done_callback(lambda _: heart.cancel())
            ready()
        else:
            accepting.cancel()
        sweeping = asyncio.create_task(sweep_for_ever(services, sweep_seconds)) if sweep_seconds else None
        with services.ledger.in_turns_with(loop):
            await running
        if sweeping is not None:
            sweeping.cancel()

    with asyncio.Runner(loop_factory=servers[0].config.get_loop_factory()) as runner:
        runner.run(main())
    return all(server.finished for server in servers)


def _spare_what_stays() -> None:
    """Take all that was made so far out of later searches for garbage, each of which would hold up the event loop."""
    gc.collect()
    gc.freeze()


def _announce(servers: Sequence[_Server], stream: TextIO, log: Log) -> None:
    for server, serves in zip(servers, ("everything", "metrics"), strict=False):
        for address in server.addresses:
            log.info("listening", address=address, serves=serves)
    stream.write(f"relatum listening on {servers[0].addresses[0]}\n")
    stream.flush()


class _GivenUp(BaseException):
    """A signal has come to whoever waits for the end. No handler for failures may catch it."""


def _closed(services: Services, ledger: Ledger, time: _Time, log: Log) -> bool:
    """Waits for what still runs in threads, and closes the ledger; whether both were done in time."""
    try:
        with _given_up_by_signals():
            idle = services.close(time.left())
            ledger.close(max(time.left(), CLOSING_SECONDS_MIN))
            if services.tracing is not None:
                services.tracing.close()
    except StorageFailure as failure:
        log.failure("the ledger could not be closed in time", failure)
        return False
    except _GivenUp:
        return False
    return idle


@contextlib.contextmanager
def _given_up_by_signals() -> Generator[None, None, None]:
    """IMPORTANT: the event loop has ended, and the handlers that it leaves behind do nothing."""

    def give_up(*_: object) -> None:
        raise _GivenUp

    before = {number: signal.signal(number, give_up) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
