"""A running server, asked by its operator: for an image of its store, or to compact it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import httpx
import msgspec

from relatum.errors import StoreUnavailable
from relatum.store.backup.archive import unpacked
from relatum.store.backup.backup_errors import BackupFailed
from relatum.store.backup.image_contents import Source
from relatum.store.backup.operator_paths import COMPACT_PATH, IMAGE_PATH

CONNECT_SECONDS_MAX: Final = 10.0
READ_SECONDS_MAX: Final = 120.0
"""Between two pieces of an image; before the first one the server moves what its log holds into files."""

_UNREACHABLE: Final = (httpx.HTTPError, httpx.InvalidURL)


@contextmanager
def remote_source(url: str, token: str) -> Iterator[Source]:
    """The store of the server at `url`, which goes on serving. Raises StoreUnavailable and BackupFailed."""
    try:
        with (
            _client(url, READ_SECONDS_MAX) as client,
            client.stream("POST", IMAGE_PATH, headers=_headers(token)) as response,
        ):
            if response.status_code != httpx.codes.OK:
                response.read()
                _explain(response, url)
            yield unpacked(response.iter_raw())
    except _UNREACHABLE as error:
        raise BackupFailed(f"the server at {url} can't be reached, or ended before it had sent everything") from error


def compact(url: str, token: str) -> dict[str, int]:
    """Let the server at `url` compact its store; what it says about it. However long that takes."""
    try:
        with _client(url, None) as client:
            response = client.post(COMPACT_PATH, headers=_headers(token))
    except _UNREACHABLE as error:
        raise StoreUnavailable(f"the server at {url} can't be reached, or ended before it was done") from error
    if response.status_code != httpx.codes.OK:
        _explain(response, url)
    return msgspec.json.decode(response.content, type=dict[str, int])


def _client(url: str, read_seconds_max: float | None) -> httpx.Client:
    """A client with a transport of its own, so that the token goes through no proxy that the environment names."""
    timeout = httpx.Timeout(read_seconds_max, connect=CONNECT_SECONDS_MAX)
    return httpx.Client(base_url=url, timeout=timeout, transport=httpx.HTTPTransport())


def _headers(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _explain(response: httpx.Response, url: str) -> NoReturn:
    match response.status_code:
        case httpx.codes.NOT_FOUND:
            why = "serves nothing to operators; start it with the setting operator_token_file"
        case httpx.codes.UNAUTHORIZED:
            why = "does not take this operator's token"
        case _:
            why = f"refused with {response.status_code}: {_message(response)}"
    raise StoreUnavailable(f"the server at {url} {why}")


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "no reason given"
