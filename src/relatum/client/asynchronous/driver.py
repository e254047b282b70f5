"""Carries out the steps of a call on an event loop: asyncio's or trio's."""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from relatum.client import log, pool
from relatum.client.attempts import Got, Lost, NotSent, Plan, Refresh, Refreshed, Result, Send, Wait, attempts
from relatum.client.errors import ClientClosed
from relatum.client.requests import Request, decoded, draw
from relatum.client.secret import Secret
from relatum.client.settings import SecretSource
from relatum.client.tracing import Tracing

if TYPE_CHECKING:
    import anyio

T = TypeVar("T")


class AsyncDriver:
    """A pool of connections that belongs to one event loop, and the calls that go over it."""

    def __init__(
        self,
        options: pool.PoolOptions,
        secret: SecretSource,
        tracing: Tracing,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.secret = secret
        self._tracing = tracing
        self._http = (
            httpx.AsyncClient(base_url=options.url, transport=transport, trust_env=False)
            if transport is not None
            else httpx.AsyncClient(trust_env=False, **pool.arguments(options))
        )
        self._closed = False
        self._waits: set[anyio.CancelScope] = set()

    async def run(self, request: Request[T], plan: Plan) -> T:
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
                            result = await self._attempt(request, seconds, span.headers)
                            log.attempt(request, number, result, monotonic() - begun)
                            span.attempt(number, result)
                        case Wait(seconds):
                            await self.wait(seconds)
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

    async def wait(self, seconds: float) -> None:
        """Let time pass. Raises ClientClosed as soon as the client is closed."""
        import anyio

        self._check()
        with anyio.move_on_after(seconds) as scope:
            self._waits.add(scope)
            try:
                await anyio.sleep(math.inf)
            finally:
                self._waits.discard(scope)
        self._check()

    async def close(self) -> None:
        """Close all connections and end all waits; any number of times."""
        self._closed = True
        for scope in self._waits:
            scope.cancel()
        await self._http.aclose()

    def _check(self) -> None:
        if self._closed:
            raise ClientClosed

    async def _attempt(self, request: Request[Any], seconds: float, headers: dict[str, str]) -> Got | NotSent | Lost:
        import anyio

        self._check()
        sent = False

        async def trace(event: str, _: object) -> None:
            nonlocal sent
            sent = sent or event in pool.SENDING

        prepared = self._http.build_request(
            request.method,
            request.path,
            content=request.content,
            headers={**pool.headers(self.secret, request), **headers},
            timeout=pool.timeouts(seconds),
            extensions={"trace": trace},
        )
        try:
            with anyio.fail_after(seconds):
                response = await self._http.send(prepared)
        except TimeoutError as error:
            return pool.failed(error, sent=sent)
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            self._check()
            return pool.failed(error, sent=True)
        except RuntimeError:
            self._check()  # the HTTP library's own word for a closed client
            raise
        return pool.got(response, response.content)
