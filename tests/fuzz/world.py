"""The world that the fuzzer meets: a server, callers of several kinds, and what they know of their partitions."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.fuzz.known import Json, Known
from tests.http.client import Caller


@dataclass
class Place:
    """A partition as one subject knows it."""

    scope: Json
    workspace_id: str
    known: Known


@dataclass
class Person:
    """A credential that the fuzzer calls with, and the places that its subject may go to."""

    caller: Caller
    places: list[Place]

    @property
    def credential_id(self) -> str:
        identifier: str = self.caller.credential["id"]
        return identifier


@dataclass
class World:
    """Everything that the fuzzer starts from."""

    url: str
    document: Json
    """What the server says about itself."""
    admin: Person
    workers: list[Person]
    reader: Person
    revoked: Person
    credentials: dict[str, int] = field(default_factory=dict)
    """Credentials that may be rotated and revoked, with their newest revisions."""

    def learn_credential(self, answer: Json) -> None:
        """Takes the credential of an answer, unless it is one of the fuzzer's own."""
        found = answer.get("credential")
        if found is not None and found["id"] not in {person.credential_id for person in self.people}:
            self.credentials.pop(found["id"], None)
            self.credentials[found["id"]] = found["revision"]

    @property
    def people(self) -> list[Person]:
        """Whoever the fuzzer may call as."""
        return [self.admin, *self.workers, self.reader, self.revoked]
