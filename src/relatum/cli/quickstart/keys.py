"""The credentials of the tour: what an extraction worker, a reviewer and a reader may do, and no more."""

from __future__ import annotations

from typing import Final, NamedTuple

import httpx

from relatum.cli.quickstart.api import SCOPE, Api

CAPABILITIES: Final = {
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
    admin = Api(http, admin_secret)

    def one(name: str) -> Api:
        spec = {
            "subject_id": name,
            "capabilities": CAPABILITIES[name],
            "grants": [SCOPE],
            "expires_at_millis": None,
        }
        return Api(http, admin.post("/api/v1/credentials", spec=spec).expect(201)["secret"])

    return Keys(admin, one("writer"), one("reviewer"), one("reader"))
