"""What both pools of connections have in common: limits, proxies, time-outs, and the headers of a request."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from relatum.client.attempts import Got, Lost, NotSent
from relatum.client.requests import Request
from relatum.client.settings import SecretSource

CONNECT_SECONDS_MAX: Final = 5.0
IDLE_CONNECTIONS: Final = 16
IDLE_SECONDS: Final = 60.0
NEVER_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
SENDING: Final = ("http11.send_request_headers.started", "http2.send_request_headers.started")
"""What the transport tells as soon as it puts a request on a connection."""


class PoolOptions(NamedTuple):
    """How connections are made."""

    url: str
    connections: int
    proxy: str | None
    verify: ssl.SSLContext | str | bool


def arguments(options: PoolOptions) -> dict[str, Any]:
    """The arguments of a client of the HTTP library."""
    secure = options.url.startswith("https") or (options.proxy or "").startswith("https")
    verify: Any = options.verify
    if secure and isinstance(verify, str):
        folder = Path(verify).is_dir()
        verify = ssl.create_default_context(capath=verify) if folder else ssl.create_default_context(cafile=verify)
    elif secure and isinstance(verify, bool):
        verify = httpx.create_ssl_context(verify=verify, trust_env=True)
    return {
        "base_url": options.url,
        "proxy": options.proxy or _proxy_of_the_environment(options.url),
        "verify": verify if secure else False,
        "limits": httpx.Limits(
            max_connections=options.connections,
            max_keepalive_connections=min(IDLE_CONNECTIONS, options.connections),
            keepalive_expiry=IDLE_SECONDS,
        ),
        "follow_redirects": False,
    }


def timeouts(seconds: float) -> httpx.Timeout:
    """The time-outs of one attempt."""
    return httpx.Timeout(seconds, connect=min(CONNECT_SECONDS_MAX, seconds))


def headers(secret: SecretSource, request: Request[Any]) -> dict[str, str]:
    """The headers of a request."""
    found = {"Accept": "application/json"}
    if not request.public:
        found["Authorization"] = f"Bearer {secret.secret.reveal()}"
    if request.content is not None:
        found["Content-Type"] = "application/json"
    return found


def got(response: httpx.Response, body: bytes) -> Got:
    """An answer that has come whole."""
    return Got(
        response.status_code,
        response.headers.get("content-type", ""),
        _seconds(response.headers.get("retry-after", "")),
        body,
    )


def failed(error: Exception, *, sent: bool) -> NotSent | Lost:
    """What an attempt that ended in an error has come to."""
    return NotSent(error) if isinstance(error, NEVER_SENT) or not sent else Lost(error)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _proxy_of_the_environment(url: str) -> str | None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return None
    proxies = getproxies()
    if proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if found is None or "://" in found else f"http://{found}"


def _seconds(text: str) -> float:
    """A `Retry-After` in seconds; 0 for none, or a date."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0
