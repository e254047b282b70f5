"""The company's credentials over HTTP, as its administrator sees and changes them."""

from __future__ import annotations

from contextlib import closing
from types import TracebackType
from typing import Literal, Self

import msgspec

from crash_tests.company import EVERYWHERE
from crash_tests.history import Json
from crash_tests.violation import require
from crash_tests.wire import Connection, Response

CREDENTIALS = "/api/v1/credentials"
PAGE = 100
WIDE: Json = {"grants": [], "scope_policy": EVERYWHERE}
"""The authority that changes of scopes give: what a credential could address before, it still can."""

Change = Literal["rotate", "revoke", "scope-authority"]


class Registry:
    """One connection of the administrator. A context manager."""

    def __init__(self, port: int, admin_secret: str) -> None:
        self._port = port
        self._connection = Connection(port, admin_secret)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def issue(self, spec: Json) -> Response:
        """A new credential."""
        return self._connection.post(CREDENTIALS, _body(spec=spec))

    def change(self, credential_id: str, change: Change, expected_revision: int) -> Response:
        """A new secret for a credential, its end, or every scope for it."""
        path, members = f"{CREDENTIALS}/{credential_id}/{change}", {"expected_revision": expected_revision}
        if change == "scope-authority":
            return self._connection.post(path, _body(authority=WIDE, **members))
        return self._connection.post(path, _body(**members))

    def all(self) -> list[Json]:
        """Every credential of the company."""
        found: list[Json] = []
        after = ""
        while True:
            answer = self._connection.get(f"{CREDENTIALS}?contract_version=1&limit={PAGE}{after}")
            require(answer.status == 200, f"the credentials were answered with {answer.status} {answer.body!r}")
            page = answer.json()
            found += page["credentials"]
            if page["next_after"] is None:
                return found
            after = f"&after={page['next_after']}"

    def identity(self, secret: str) -> Response:
        """What a server says to a secret."""
        with closing(Connection(self._port, secret)) as connection:
            return connection.get("/api/v1/identity")


def _body(**members: object) -> bytes:
    return msgspec.json.encode({"contract_version": 1, **members})
