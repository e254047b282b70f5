"""The order of checks (transport.md), tried on one route after another of a server without a free slot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import httpx

from relatum.limits import BODY_BYTES_MAX
from tests.http.client import Api, Caller, Json, issue, refusal
from tests.http.serving import Server, initialise

EVERYTHING = ("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine")
BUSY = (503, "retrieval_busy")


@dataclass(frozen=True)
class People:
    """Callers of one server without a free slot: one who may do everything, and ones who lack one thing each."""

    sound: Caller
    elsewhere: Caller
    lacking: dict[str, Caller]


@dataclass(frozen=True)
class Row:
    """A route: the capabilities it needs, a body that only the state refuses, and what is answered to that body."""

    path: str
    needs: tuple[str, ...]
    body: Json
    answer: tuple[int, str] | None = None
    slot: bool = False
    body_bytes_max: int = BODY_BYTES_MAX


@contextmanager
def people_without_slots(directory: Path) -> Iterator[People]:
    """A server on a store of its own, and who calls it."""
    secret = initialise(directory)
    with Server(directory, "--slots", "0") as server, Api(server.url) as api:
        admin = Caller(api, secret)
        sound = issue(admin, capabilities=list(EVERYTHING))
        lacking = {
            name: issue(admin, capabilities=[one for one in EVERYTHING if one != name], scope=sound.scope)
            for name in EVERYTHING
        }
        yield People(sound, replace(issue(admin, capabilities=list(EVERYTHING)), scope=sound.scope), lacking)


@dataclass(frozen=True)
class Request:
    """A request in the making; what is left alone is right."""

    row: Row
    caller: Caller
    path: str = ""
    method: str = "POST"
    token: str | None = None
    version: int = 1
    project: str | None = None
    extra: bool = False
    padding: int = 0

    def send(self) -> httpx.Response:
        at = {**self.caller.scope, **({"project_id": self.project} if self.project else {})}
        body = {"contract_version": self.version, "scope": at, **self.row.body, **({"weight": 1} if self.extra else {})}
        content = json.dumps(body).encode()
        content += b" " * max(0, self.padding - len(content))
        headers = {"authorization": f"Bearer {self.token or self.caller.secret}", "content-type": "application/json"}
        path = f"{self.row.path}{self.path}"
        return self.caller.api.send(self.method, path, content=content, headers=headers)


Fault = Callable[[Request, People], Request]
FAULTS: dict[str, tuple[tuple[int, str], Fault]] = {
    "an unknown path": ((404, "not_found"), lambda r, _: replace(r, path="/nowhere")),
    "a wrong method": ((405, "method_not_allowed"), lambda r, _: replace(r, method="PUT")),
    "a bad token": ((401, "unauthorized"), lambda r, _: replace(r, token="nobody")),
    "a body too large": ((413, "invalid_request"), lambda r, _: replace(r, padding=r.row.body_bytes_max + 1)),
    "an unknown member": ((400, "invalid_request"), lambda r, _: replace(r, extra=True)),
    "another version": ((400, "unsupported_contract_version"), lambda r, _: replace(r, version=2)),
    "a blank project": ((400, "invalid_request"), lambda r, _: replace(r, project=" ")),
    "no grant": ((403, "forbidden"), lambda r, p: replace(r, caller=p.elsewhere)),
    "no capability": ((403, "forbidden"), lambda r, p: replace(r, caller=p.lacking[r.row.needs[-1]])),
}


def check_faults(row: Row, people: People) -> None:
    """Each fault alone, and the earlier of two, is answered as the contract says."""
    for expected, spoil in FAULTS.values():
        assert expected == refusal(spoil(Request(row, people.sound), people).send())
    for earlier, later in combinations(FAULTS, 2):
        expected, spoil = FAULTS[earlier]
        both = spoil(FAULTS[later][1](Request(row, people.sound), people), people)
        assert expected == refusal(both.send()), (earlier, later)


def check_greatest_body(row: Row, people: People) -> None:
    """A body of the greatest size passes, and the slot comes after authorization."""
    answer = Request(row, people.sound, padding=row.body_bytes_max).send()
    expected = BUSY if row.slot else row.answer
    if expected is None:
        assert 200 == answer.status_code, answer.text
    else:
        assert expected == refusal(answer)


def check_capabilities(row: Row, people: People) -> None:
    """Exactly those of the contract are needed."""
    for name, caller in people.lacking.items():
        answer = Request(row, caller).send()
        assert (403 == answer.status_code) is (name in row.needs), (name, answer.text)
