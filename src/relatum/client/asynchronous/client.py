"""The client of a server: what it is made of, and the routes that need no scope."""

from __future__ import annotations

import os
import ssl
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, cast

import httpx

from relatum.client.asynchronous.company import AsyncCompany
from relatum.client.asynchronous.credentials import AsyncCredentials
from relatum.client.asynchronous.driver import AsyncDriver
from relatum.client.asynchronous.memory import AsyncMemory
from relatum.client.asynchronous.scoped import AsyncScoped
from relatum.client.asynchronous.session import AsyncSession
from relatum.client.attempts import Plan
from relatum.client.errors import ConfigurationError
from relatum.client.pool import PoolOptions
from relatum.client.requests import CallOptions, Policy, Request, get, post
from relatum.client.secret import Secret
from relatum.client.settings import SecretSource, Settings, gather
from relatum.client.tracing import OpenTelemetry, Tracing
from relatum.core.answers.access import Credential, CredentialAnswer
from relatum.core.answers.public import Health, NotReady, Readiness, Ready
from relatum.core.ids import Visibility
from relatum.core.relations import Provenance

T = TypeVar("T")


class AsyncClient:
    """A client of one server under one credential; a context manager.

    `url`, `secret` and the scope come from the arguments, else the environment, else a profile (docs/client.md).
    `timeout` are the seconds of one attempt, `deadline` those of a call with all its attempts and waits. Every method
    raises the exceptions of `relatum.client`, and nothing of the HTTP library's. Raises ConfigurationError.
    """

    credentials: AsyncCredentials
    company: AsyncCompany

    def __init__(
        self,
        url: str | None = None,
        *,
        secret: str | Secret | None = None,
        secret_file: str | os.PathLike[str] | None = None,
        profile: str | None = None,
        timeout: float = 10.0,
        deadline: float = 60.0,
        retry: bool = True,
        connections: int = 64,
        proxy: str | None = None,
        verify: ssl.SSLContext | str | bool = True,
        tracing: bool = False,
    ) -> None:
        settings = gather(url, secret, secret_file, profile)
        options = PoolOptions(settings.url, connections, proxy, verify)
        try:
            driver = AsyncDriver(options, settings.secret, OpenTelemetry() if tracing else Tracing())
        except (httpx.InvalidURL, ValueError, OSError):
            raise ConfigurationError("the proxy or the certificates can't be used") from None
        self._set_up(AsyncSession(driver, Plan(timeout, deadline, retry)), settings)

    @classmethod
    def over(
        cls,
        transport: httpx.AsyncBaseTransport,
        *,
        secret: str | Secret | None = None,
        timeout: float = 10.0,
        deadline: float = 60.0,
        retry: bool = True,
    ) -> Self:
        """A client over a transport of the HTTP library's, for a server in this process; it reads no settings."""
        client = cls.__new__(cls)
        given = secret if secret is None or isinstance(secret, Secret) else Secret(secret)
        settings = Settings("http://localhost", SecretSource(given), {})
        driver = AsyncDriver(PoolOptions(settings.url, 64, None, verify=False), settings.secret, Tracing(), transport)
        client._set_up(AsyncSession(driver, Plan(timeout, deadline, retry)), settings)  # noqa: SLF001 - of this class
        return client

    def _set_up(self, session: AsyncSession, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        self.credentials = AsyncCredentials(session)
        self.company = AsyncCompany(session)

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._settings.url

    def with_options(
        self, *, timeout: float | None = None, deadline: float | None = None, retry: bool | None = None
    ) -> Self:
        """A client with other bounds over the same connections; to close one is to close both."""
        before = self._session.plan
        plan = Plan(
            before.timeout if timeout is None else timeout,
            before.deadline if deadline is None else deadline,
            before.retry if retry is None else retry,
        )
        client = type(self).__new__(type(self))
        client._set_up(AsyncSession(self._session.driver, plan), self._settings)  # noqa: SLF001 - of this class
        return client

    def scope(
        self,
        project_id: str | None = None,
        agent_id: str | None = None,
        *,
        mission_id: str | None = None,
        visibility: Visibility = "shared",
        provenance: Provenance | None = None,
    ) -> AsyncMemory:
        """The memory of one scope; nothing is asked.

        Without project and agent: those of the environment or the profile, else the sole grant of the credential, which
        is asked for at the first use; that use raises ConfigurationError where there is none or more than one.
        `provenance` is the default of `relations.assert_`.
        """
        known = self._settings.scope
        if project_id is None and agent_id is None and known:
            mission_id = known.get("mission_id") if mission_id is None else mission_id
            visibility = cast("Visibility", known.get("visibility", visibility))
        project_id = known.get("project_id") if project_id is None else project_id
        agent_id = known.get("agent_id") if agent_id is None else agent_id
        return AsyncMemory(AsyncScoped(self._session, project_id, agent_id, mission_id, visibility, provenance))

    async def identity(self, **options: Unpack[CallOptions]) -> Credential:
        """The credential of this client."""
        return (await self._session.send(get("/api/v1/identity", CredentialAnswer), options)).credential

    async def health(self, **options: Unpack[CallOptions]) -> Health:
        """That the server's process serves; asks for no credential."""
        return await self._session.send(get("/health", Health)._replace(public=True), options)

    async def ready(self, **options: Unpack[CallOptions]) -> Ready | NotReady:
        """Whether commands are accepted, and if not, why; asks for no credential."""
        request = get("/ready", Readiness)._replace(public=True, also=(503,))
        found = await self._session.send(request, options)
        if found.status == "ready":
            return Ready(contract_version=found.contract_version, status=found.status)
        return NotReady(contract_version=found.contract_version, status=found.status)

    async def call(
        self, path: str, body: object = None, *, retry: Policy = "once", **options: Unpack[CallOptions]
    ) -> Any:
        """Any route: a POST of `body`, without one a GET. Answers plain values; integers keep all 64 bits.

        `retry` says what may happen after a lost answer: a `read` and a `command` are repeated, what goes out `once`
        raises OutcomeUnknown.
        """
        key = body.get("idempotency_key") if isinstance(body, dict) else None
        route = path.partition("?")[0]
        request: Request[Any]
        if body is None:
            request = get(path, cast("type[Any]", Any), route)
        else:
            request = post(path, body, cast("type[Any]", Any), retry, key=key, route=route)
        return await self._session.send(request._replace(policy=retry), options)

    async def aclose(self) -> None:
        """Close all connections and end all waits; any number of times. What is called later raises ClientClosed."""
        await self._session.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
