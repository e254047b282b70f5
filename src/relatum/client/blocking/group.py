# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""What the groups of a memory's routes share: how a command and a read are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from relatum.client.blocking.scoped import Scoped
from relatum.client.requests import CallOptions, Request, calling, fresh_key, post
from relatum.core.ids import Scope

T = TypeVar("T")


class Group:
    """Some routes at one scope."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped

    def _command(
        self, path: str, family: str, make: Callable[[Scope, str], object], answers: type[T], options: Mapping[str, Any]
    ) -> T:
        """A command: its body is made of the scope and the key, and stays the same for all attempts."""
        key = options.get("idempotency_key") or fresh_key()

        def request(scope: Scope) -> Request[T]:
            return post(path, make(scope, key), answers, "command", key=key, family=family)

        return self._scoped.send(request, calling(options))

    def _read(
        self, path: str, make: Callable[[Scope], object], answers: type[T], options: CallOptions, wait: float = 0.0
    ) -> T:
        def request(scope: Scope) -> Request[T]:
            return post(path, make(scope), answers, wait=wait)

        return self._scoped.send(request, options)
