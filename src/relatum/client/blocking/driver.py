"""Carries out the steps of a call in a thread that may wait."""

from __future__ import annotations

import os
from threading import Event, Lock
from time import monotonic
from typing import Any, Final, TypeVar

import httpx

from relatum.client import log, pool
from relatum.client.attempts import Got, Lost, NotSent, Plan, Refresh, Refreshed, Result, Send, Wait, attempts
from relatum.client.errors import ClientClosed
from relatum.client.requests import Request, decoded, draw
from relatum.client.secret import Secret
from relatum.client.settings import SecretSource
from relatum.client.tracing import Tracing

T = TypeVar("T")

_INHERITED: Final[list[httpx.Client]] = []
"""Pools of a parent process: kept, so that nothing closes what only the parent may close."""


class Driver:
    """A pool of connections for any number of threads, and the calls that go over it; a forked child makes its own."""

    def __init__(
        self,
        options: pool.PoolOptions,
        secret: SecretSource,
        tracing: Tracing,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.secret = secret
        self._options = options
        self._tracing = tracing
        self._transport = transport
        self._lock = Lock()
        self._closed = Event()
        self._process = os.getpid()
        self._http = self._made()

    def run(self, request: Request[T], plan: Plan) -> T:
        """The answer to a request. Raises what `attempts` raises, ClientClosed and ConfigurationError."""
        with self._tracing.call(request) as span:
            steps = attempts(request, plan, monotonic(), draw)
            step = next(steps)
            number = 0
            used: Secret | None = None
            try:
                while True:
                    result: Result = None
                    match step:
                        case Send(seconds):
                            number += 1
                            begun = monotonic()
                            used = None if request.public else self.secret.secret
                            result = self._attempt(request, seconds, span.headers)
                            log.attempt(request, number, result, monotonic() - begun)
                            span.attempt(number, result)
                        case Wait(seconds):
                            self.wait(seconds)
                        case Refresh():
                            result = Refreshed(self.secret.refresh(used))
                    step = steps.send((monotonic(), result))
            except StopIteration as stop:
                answer: Got = stop.value
                return decoded(request, answer.status, answer.media_type, answer.body)
            except BaseException as error:
                if request.key is not None and not isinstance(error, Exception):
                    error.add_note(f"idempotency key: {request.key}")
                raise

    def wait(self, seconds: float) -> None:
        """Let time pass. Raises ClientClosed as soon as the client is closed."""
        if self._closed.wait(seconds):
            raise ClientClosed

    def close(self) -> None:
        """Close all connections and end all waits; any number of times."""
        self._closed.set()
        if self._process == os.getpid():
            self._http.close()

    def _check(self) -> None:
        if self._closed.is_set():
            raise ClientClosed

    def _made(self) -> httpx.Client:
        if self._transport is not None:
            return httpx.Client(base_url=self._options.url, transport=self._transport, trust_env=False)
        return httpx.Client(trust_env=False, **pool.arguments(self._options))

    def _own(self) -> httpx.Client:
        """The pool of this process."""
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    _INHERITED.append(self._http)
                    self._http, self._process = self._made(), os.getpid()
        return self._http

    def _attempt(self, request: Request[Any], seconds: float, headers: dict[str, str]) -> Got | NotSent | Lost:
        self._check()
        http = self._own()
        left = _Left(seconds)
        prepared = http.build_request(
            request.method,
            request.path,
            content=request.content,
            headers={**pool.headers(self.secret, request), **headers},
            extensions={"timeout": left},
        )
        try:
            response = http.send(prepared, stream=True)
            try:
                return pool.got(response, b"".join(left.while_any(response)))
            finally:
                response.close()
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            self._check()
            return pool.failed(error, sent=True)
        except RuntimeError:
            self._check()  # the HTTP library's own word for a closed client
            raise


class _Left(dict[str, float]):
    """The time-outs of an attempt, which the transport looks up phase by phase: each gets what is left by then."""

    def __init__(self, seconds: float) -> None:
        connect = min(pool.CONNECT_SECONDS_MAX, seconds)
        super().__init__(connect=connect, read=seconds, write=seconds, pool=seconds)
        self._ends = monotonic() + seconds

    def get(self, name: str, default: Any = None) -> Any:
        """The seconds of a phase that begins now."""
        return max(min(self[name], self._ends - monotonic()), 0.001) if name in self else default

    def while_any(self, response: httpx.Response) -> Any:
        """The pieces of a body. Raises httpx.ReadTimeout where they are too long in coming."""
        for piece in response.iter_bytes():
            if monotonic() > self._ends:
                raise httpx.ReadTimeout("the answer took too long", request=response.request)
            yield piece
