"""`identity`: whose credential this is (access.md, credentials)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.access import CredentialAnswer
from relatum.http.routes import Route
from relatum.http.server_state import Call, Nothing
from relatum.limits import CONTRACT_VERSION


async def read(call: Call[Nothing]) -> CredentialAnswer:
    """The caller's own credential."""
    return CredentialAnswer(contract_version=CONTRACT_VERSION, credential=call.credential)


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/v1/identity",
        tag="access",
        summary="The credential of the caller",
        access="any",
        takes=Nothing,
        answers=CredentialAnswer,
        handle=read,
    ),
)
