"""One route at work: every check in the order of the contract, then the operation (transport.md, order of checks).

Always holds: the first check that fails answers, and nothing behind it has happened. A slot is held until the response
is written. Whatever goes wrong, the client gets the error envelope, unless it has gone.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Final, Generic, cast

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from relatum.core.access import Credential
from relatum.core.wire import canonical_uuid
from relatum.errors import Failure, Refusal, Refused, WriteBusy, WritesRefused, invalid
from relatum.http import errors
from relatum.http.decoding import BodyDecoder, ClientGone, QueryDecoder, read_body
from relatum.http.headers import bearer_token, is_json
from relatum.http.problems import negotiated
from relatum.http.request_id import identified
from relatum.http.responses import Header, Response, encoded, write
from relatum.http.routes import PATH_ID, Needs, Route
from relatum.http.server_state import BodyT, Call, Nothing, Scoped, Services
from relatum.http.slots import Lease
from relatum.ledger.reads import credentials
from relatum.limits import BODY_BYTES_MAX, CONTRACT_VERSION

NO_ROOM: Final = "relatum.no_room"
"""An extension of a request's scope: as many requests are at work as may be, so that this one finds no free slot."""


class Endpoint(Generic[BodyT]):
    """The ASGI application of one `Route`."""

    def __init__(self, route: Route[BodyT], services: Services) -> None:
        self._route = route
        self._services = services
        self._decoder = _decoder(route)
        self._seconds = services.metrics.request_seconds(route.path)
        self._succeeded = services.metrics.requests(route.path, str(route.status))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        tracing = self._services.tracing
        if tracing is None:
            await self._serve(scope, receive, send)
            return
        with tracing.request(scope, self._route.method, self._route.path) as answered:
            response = await self._serve(scope, receive, send)
            if response is not None:
                answered(response)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """The response as it was written; None where the client has gone, or the answer goes on by itself."""
        started = perf_counter()
        self._services.heart.stir()
        with self._services.slots.lease() as lease:
            try:
                response = await self._respond(scope, receive, lease)
            except ClientGone:
                return None
            if not isinstance(response, Response):
                self._count(self._route.status)
                await response(scope, receive, send)
                return None
            response = negotiated(scope, response)
            await write(scope, send, response)
        self._seconds.observe(perf_counter() - started)
        self._count(response.status)
        return response

    def _count(self, status: int) -> None:
        if status == self._route.status:
            self._succeeded.inc()
        else:
            self._services.metrics.requests(self._route.path, str(status)).inc()

    async def _respond(self, scope: Scope, receive: Receive, lease: Lease) -> Response | ASGIApp:
        try:
            if _has_room(scope):  # what is refused does not wait for what is not
                await self._services.pace.turn()
            call = await self._checked(scope, receive, lease)
            if isinstance(call, Refusal):
                return self._refused(call)
            answer = await self._route.handle(call)
        except Refused as refused:
            return errors.refused(refused.refusal)
        except (WriteBusy, WritesRefused) as failure:
            return self._refused(errors.told(failure))  # expected under load; what stopped the writer is in the log
        except Failure as failure:
            self._log_failure("a request met a failure", failure, scope)
            return self._refused(errors.told(failure))
        except asyncio.CancelledError:
            return errors.refused(errors.STOPPED)  # the time to finish what runs is over
        except ClientGone:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of the program: the client is told, the log has the place
            self._log_failure("a request failed inside the server", error, scope)
            return errors.refused(errors.INTERNAL)
        return self._response(answer)

    def _log_failure(self, message: str, error: Exception, scope: Scope) -> None:
        self._services.log.failure(message, error, route=self._route.path, **identified(scope))

    def _refused(self, refusal: Refusal) -> Response:
        """The response to what never came to a decision; refusals by the operation are counted where it decides."""
        self._services.metrics.refusals(refusal.code).inc()
        return errors.refused(refusal)

    def _response(self, answer: Struct | bytes | Refusal | ASGIApp) -> Response | ASGIApp:
        if isinstance(answer, Refusal):
            return errors.refused(answer)
        if callable(answer):
            return answer
        return Response(self._route.status, answer if isinstance(answer, bytes) else encoded(answer))

    async def _checked(self, scope: Scope, receive: Receive, lease: Lease) -> Call[BodyT] | Refusal:
        """IMPORTANT: the order of the checks is part of the contract."""
        route = self._route
        credential = self._authenticated(scope["headers"])
        if credential is None:
            return errors.UNAUTHORIZED
        if route.access == "admin" and not credential.holds("credential_admin"):
            return errors.FORBIDDEN
        body = await self._taken(scope, receive)
        if isinstance(body, Refusal):
            return body
        path_id = _path_id(scope)
        if isinstance(path_id, Refusal):
            return path_id
        if body.contract_version != CONTRACT_VERSION:
            return errors.UNSUPPORTED_VERSION
        if isinstance(route.access, Needs):
            refused = _scope_refusal(credential, cast("Scoped", body), route.access)
            if refused is not None:
                return refused
        if not _has_room(scope) or (route.slot and not lease.take()):
            return errors.BUSY
        return Call(self._services, credential, body, path_id, scope["headers"], lease)

    def _authenticated(self, headers: list[Header]) -> Credential | None:
        token = bearer_token(headers)
        if token is None:
            return None
        with self._services.ledger.view() as view:
            return credentials.authenticate(view, token)

    async def _taken(self, scope: Scope, receive: Receive) -> BodyT | Refusal:
        """The typed body or query string."""
        decoder = self._decoder
        if isinstance(decoder, QueryDecoder):
            return decoder.decode(scope["query_string"])
        if decoder is None:
            return self._route.takes()
        body = await read_body(receive, self._route.body_bytes_max)
        if isinstance(body, Refusal):
            return body
        if not is_json(scope["headers"]):
            return invalid("the Content-Type must be application/json")
        if len(body) <= BODY_BYTES_MAX:
            return decoder.decode(body)
        return await self._services.in_thread(lambda: decoder.decode(body))


def _decoder(route: Route[BodyT]) -> BodyDecoder[BodyT] | QueryDecoder[BodyT] | None:
    if route.takes is Nothing:
        return None
    return BodyDecoder(route.takes) if route.method == "POST" else QueryDecoder(route.takes)


def _has_room(scope: Scope) -> bool:
    return NO_ROOM not in scope.get("extensions", {})


def _path_id(scope: Scope) -> str | Refusal:
    parameters: dict[str, str] = scope.get("path_params", {})
    try:
        return canonical_uuid(parameters[PATH_ID]) if parameters else ""
    except ValueError:
        return invalid("the id in the path is not a UUID")


def _scope_refusal(credential: Credential, body: Scoped, needs: Needs) -> Refusal | None:
    """Scope identifiers first, then capabilities and grant together: a client can't tell which of the two it lacks."""
    if not body.scope.well_formed():
        return invalid("the scope's identifiers must be 1 to 256 bytes, not blank, without control characters")
    granted = credential.holds(*needs.of(body, credential.spec.subject_id)) and credential.spec.authority.covers(
        body.scope
    )
    return None if granted else errors.FORBIDDEN
