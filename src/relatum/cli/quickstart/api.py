"""A caller of the server: one credential, one scope, and the routes under `/api/v1`."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from relatum.client import Client
from relatum.limits import CONTRACT_VERSION

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]

SCOPE: Final[Json] = {"project_id": "peps", "mission_id": None, "agent_id": "quickstart", "visibility": "shared"}


class Exchange(NamedTuple):
    """A request as it was sent and the bytes that came back."""

    path: str
    body: Json
    status: int
    answer: bytes

    @property
    def value(self) -> Json:
        """The answer, decoded."""
        decoded: Json = json.loads(self.answer)
        return decoded

    def expect(self, status: int) -> Json:
        """The answer, if it has the status that it must have."""
        if self.status != status:
            code = self.value.get("error", {}).get("code", "no error code")
            raise click.ClickException(f"{self.path} answered {self.status} {code}; expected {status}")
        return self.value


class Api:
    """Requests under one credential. `secret` never leaves this process but to the server and onto a curl line."""

    def __init__(self, http: httpx.Client, secret: str) -> None:
        self._http = http
        self._secret = secret

    def client(self) -> Client:
        """A client under the credential, where the bytes of answers are not what is shown."""
        return Client(str(self._http.base_url), secret=self._secret, timeout=60)

    def memory(self, path: str, **members: object) -> Exchange:
        """A request in the scope of the tour."""
        return self._post(f"/api/v1/memory/{path}", _scoped(members))

    def curl(self, path: str, **members: object) -> str:
        """The request that `memory` would send, as a line for a shell."""
        return self._curl(f"/api/v1/memory/{path}", json.dumps(_scoped(members), ensure_ascii=False))

    def curl_get(self, path: str) -> str:
        """A request without a body as a line for a shell."""
        return self._curl(path, None)

    def _post(self, path: str, body: Json) -> Exchange:
        answer = self._http.post(path, json=body, headers={"Authorization": f"Bearer {self._secret}"})
        return Exchange(path, body, answer.status_code, answer.content)

    def _curl(self, path: str, body: str | None) -> str:
        words = ["curl", "-sS", "-H", f"Authorization: Bearer {self._secret}"]
        if body is not None:
            words += ["-H", "Content-Type: application/json", "-d", body]
        return shlex.join([*words, str(self._http.base_url.join(path))])


def _scoped(members: Json) -> Json:
    return {"contract_version": CONTRACT_VERSION, "scope": SCOPE, **members}
