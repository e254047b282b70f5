"""The credentials of the tour: what an extraction worker, a reviewer and a reader may do, and no more."""

from __future__ import annotations

from typing import Final, NamedTuple

import httpx

from relatum.cli.quickstart.api import SCOPE, Api
from relatum.client import Client, CredentialSpec, Scope
from relatum.core.answers.access import Capability

CAPABILITIES: Final[dict[str, tuple[Capability, ...]]] = {
    "writer": ("memory_read", "memory_write"),
    "reviewer": ("memory_read", "memory_review"),
    "reader": ("memory_read",),
}


class Keys(NamedTuple):
    """A caller for each part in the tour."""

    admin: Api
    writer: Api
    reviewer: Api
    reader: Api


def issue(http: httpx.Client, admin_secret: str) -> Keys:
    """Issues the credentials over HTTP with the administrator's."""

    def one(name: str) -> Api:
        spec = CredentialSpec(subject_id=name, capabilities=CAPABILITIES[name], grants=(Scope(**SCOPE),))
        return Api(http, client.credentials.issue(spec).secret.reveal())

    with Client(str(http.base_url), secret=admin_secret) as client:
        return Keys(Api(http, admin_secret), one("writer"), one("reviewer"), one("reader"))
