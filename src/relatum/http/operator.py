"""What an operator may ask a running server for: an image of its store, and a compaction (docs/operations.md).

None of it is part of the contract or of the document. What always holds: no credential of a company reaches anything
here, whatever it may do; the operator's token is compared in constant time; where the server was given no token, there
are no such routes. One thing is done at a time, beside whatever the server serves.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal, Self, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from relatum.core import digests
from relatum.core.wire import Closed
from relatum.errors import Failure
from relatum.http import errors
from relatum.http.disconnect import cut, end_on_departure
from relatum.http.headers import bearer_token
from relatum.http.request_id import identified
from relatum.http.responses import ALWAYS, Response, encoded, write
from relatum.http.server_state import Services
from relatum.http.settings import SettingsError
from relatum.http.subscriptions import Watch
from relatum.limits import TOKEN_CHARACTERS_MAX
from relatum.store.backup.archive import MEDIA_TYPE, packed
from relatum.store.backup.operator_paths import COMPACT_PATH, IMAGE_PATH
from relatum.telemetry import Scalar

TOKEN_CHARACTERS_MIN: Final = 32

Result = TypeVar("Result")
Work = Callable[[Scope, Receive, Send], Awaitable[Response | None]]
"""Answers the response, or None where it has sent one itself."""

_STOP: Final = "operator"
"""No workspace is called so: a watch over it is rung by nothing but its end, when the server is told to stop."""

_START: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", MEDIA_TYPE.encode()), *ALWAYS],
}
_END: Final = {"type": "http.response.body", "body": b"", "more_body": False}


class Sizes(Closed, frozen=True, kw_only=True):
    """What a compaction came to."""

    bytes_before: int
    bytes_after: int


class OperatorToken:
    """The secret that makes a caller the operator of this server."""

    def __init__(self, token: str, *, open_to_all: bool = False) -> None:
        self._token = token.encode()
        self.open_to_all = open_to_all
        """Whether it comes from a file that everybody may read."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file that is not open to others than `readers` permits. Raises SettingsError."""
        try:
            found = path.stat()
            token = path.read_text(encoding="utf-8-sig", errors="replace").strip()
        except OSError as error:
            raise SettingsError((f"operator_token_file {path} can't be read: {error.strerror}",)) from error
        who = readers(found, {os.getegid(), *os.getgroups()})
        if who == "others":
            raise SettingsError((f"operator_token_file {path} must be readable by its owner alone: chmod 600",))
        sound = token.isascii() and token.split() == [token]
        if not sound or not TOKEN_CHARACTERS_MIN <= len(token) <= TOKEN_CHARACTERS_MAX:
            limits = f"{TOKEN_CHARACTERS_MIN} to {TOKEN_CHARACTERS_MAX} ASCII characters"
            raise SettingsError((f"operator_token_file {path} must hold one token of {limits} without blanks",))
        return cls(token, open_to_all=who == "all")

    def is_given_in(self, scope: Scope) -> bool:
        """Whether a request comes with it."""
        given = bearer_token(scope["headers"])
        return given is not None and digests.same(given.encode(), self._token)


def readers(found: os.stat_result, groups: Collection[int]) -> Literal["owner", "group", "all", "others"]:
    """Who may read a file with a secret; `others` is what must not be. `groups` are those of this process.

    Docker and Kubernetes hand a secret over in a file of root's, which a server that is not root can read by its group
    (0440) or as everybody can (0444, 0644). One that systemd hands over is root's and its group's by its mode, whoever
    may read it beside them. Nobody but its owner may ever write to one.
    """
    if found.st_mode & 0o022:
        return "others"
    if found.st_mode & 0o004:
        return "all"
    if not found.st_mode & 0o077:
        return "owner"
    return "group" if found.st_uid == 0 and found.st_gid in {0, *groups} else "others"


class Operating:
    """The operator's endpoints of one server. Event loop only."""

    def __init__(self, token: OperatorToken, services: Services) -> None:
        self._token = token
        self._services = services
        self._at_work = False
        # Of its own: what it does may outlast the event loop, and is cut short when the ledger closes.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="relatum-operator")

    def endpoints(self) -> Mapping[str, ASGIApp]:
        """By path; all of them take POST."""
        work: dict[str, Work] = {IMAGE_PATH: self._image, COMPACT_PATH: self._compact}
        return {path: self._endpoint(path, one) for path, one in work.items()}

    def _endpoint(self, path: str, work: Work) -> ASGIApp:
        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            response = await self._guarded(path, work, scope, receive, send)
            if response is not None:
                await write(scope, send, response)
            self._services.metrics.requests(path, str(200 if response is None else response.status)).inc()

        return serve

    async def _guarded(self, path: str, work: Work, scope: Scope, receive: Receive, send: Send) -> Response | None:
        told: dict[str, Scalar] = {"route": path, **identified(scope)}
        if not self._token.is_given_in(scope):
            self._services.log.warning(
                "somebody without the operator's credential was refused", client=_client(scope), **told
            )
            return errors.refused(errors.UNAUTHORIZED)
        if self._at_work:
            return errors.refused(errors.BUSY)
        self._at_work = True
        try:
            return await work(scope, receive, send)
        except Failure as failure:
            self._services.log.failure("an operator's request met a failure", failure, **told)
            return errors.refused(errors.told(failure))
        except Exception as error:  # noqa: BLE001 - as for every other route
            self._services.log.failure("an operator's request failed inside the server", error, **told)
            return errors.refused(errors.INTERNAL)
        finally:
            self._at_work = False

    async def _image(self, scope: Scope, receive: Receive, send: Send) -> None:
        with_image, ledger, begun = ExitStack(), self._services.ledger, monotonic()
        chunks = await self._in_thread(lambda: packed(with_image.enter_context(ledger.image())))
        try:
            sent = await self._stream(chunks, scope, receive, send)
            told = "a backup was sent" if sent else "a backup was cut short"
            self._services.log.info(told, seconds=round(monotonic() - begun, 3), **identified(scope))
        finally:
            await self._in_thread(with_image.close)

    async def _stream(self, chunks: Iterator[bytes], scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether everything was sent."""
        with self._services.watches.watch(_STOP) as watch:
            departure = asyncio.create_task(end_on_departure(receive, watch))
            sending = asyncio.create_task(self._send(chunks, send))
            try:
                finished = await _unless_ended(sending, watch)
                failure = sending.exception() if finished else None
                if failure is not None:
                    self._services.log.failure("a backup could not be sent to its end", failure, **identified(scope))
                if failure is None and finished:
                    return True
                await cut(scope, departure)
                return False
            finally:
                sending.cancel()
                departure.cancel()

    async def _send(self, chunks: Iterator[bytes], send: Send) -> None:
        await send(_START)
        while (chunk := await self._in_thread(lambda: next(chunks, None))) is not None:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send(_END)

    async def _compact(self, scope: Scope, receive: Receive, send: Send) -> Response:
        begun = monotonic()
        work = asyncio.create_task(self._in_thread(self._services.ledger.compact))
        with self._services.watches.watch(_STOP) as watch:
            if not await _unless_ended(work, watch):
                work.cancel()
                return errors.refused(errors.STOPPED)
        before, after = await work
        seconds = round(monotonic() - begun, 3)
        told = {"bytes_before": before, "bytes_after": after, "seconds": seconds, **identified(scope)}
        self._services.log.info("the store was compacted", **told)
        return Response(200, encoded(Sizes(bytes_before=before, bytes_after=after)))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _client(scope: Scope) -> str | None:
    """The address a request comes from; None through a Unix socket."""
    client = scope.get("client")
    return None if client is None else str(client[0])


async def _unless_ended(work: asyncio.Task[Any], watch: Watch) -> bool:
    """Waits for work, or until the watch has ended, whichever comes first; whether it was the work."""
    ended = asyncio.create_task(watch.moved(None))
    try:
        await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
    return work.done()
