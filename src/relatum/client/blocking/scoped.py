# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""A session at one scope, which may have to be asked for first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from relatum.client.blocking.session import Session
from relatum.client.errors import ConfigurationError
from relatum.client.requests import CallOptions, Request, get
from relatum.core.answers.access import CredentialAnswer
from relatum.core.ids import Scope, Visibility
from relatum.core.relations import Provenance

T = TypeVar("T")


class Scoped:
    """Sends requests at one scope: the one given, or the sole grant of the credential."""

    def __init__(
        self,
        session: Session,
        project_id: str | None,
        agent_id: str | None,
        mission_id: str | None,
        visibility: Visibility,
        provenance: Provenance | None,
    ) -> None:
        self.session = session
        self.provenance = provenance
        self._half = (project_id is None) != (agent_id is None)
        self._scope: Scope | None = None
        if project_id is not None and agent_id is not None:
            self._scope = Scope(project_id=project_id, mission_id=mission_id, agent_id=agent_id, visibility=visibility)

    def scope(self) -> Scope:
        """The scope, asked for once where it is the sole grant of the credential. Raises ConfigurationError."""
        if self._scope is None:
            if self._half:
                raise ConfigurationError("a scope has a project and an agent; only one of them is given")
            found = self.session.send(get("/api/v1/identity", CredentialAnswer))
            grants = found.credential.spec.grants
            if len(grants) != 1:
                raise ConfigurationError("the credential has no sole grant: name a project and an agent")
            self._scope = grants[0]
        return self._scope

    def send(self, make: Callable[[Scope], Request[T]], options: CallOptions | None = None) -> T:
        """One request at this scope."""
        return self.session.send(make(self.scope()), options)
