"""Every route of judgments: who may call it, and the order of checks, on a server without a free slot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import httpx
import pytest

from relatum.http.table import ROUTES
from relatum.limits import BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX
from tests.http.client import ABSENT, RECORDS, Api, Caller, Json, issue, refusal
from tests.http.serving import Server, initialise
from tests.judgments.over_http.calling import JUDGMENTS, TOPIC_KEYS

READ, WRITE, REVIEW = "memory_read", "memory_write", "memory_review"
KEY = {"idempotency_key": "key"}
CONFIRMATION = {"record_id": ABSENT, "outcome": "affirmed", "evidence_ref": "note/1"}
JUDGMENT = {"candidate_id": ABSENT, "relation": "related"}
OTHER = ABSENT.replace("f", "e")


@dataclass(frozen=True)
class Row:
    """A route: the capabilities it needs, a body that only the state refuses, and what is answered to that body."""

    path: str
    needs: tuple[str, ...]
    body: Json
    answer: tuple[int, str] | None = None
    slot: bool = False

    @property
    def body_bytes_max(self) -> int:
        return BATCH_BODY_BYTES_MAX if self.path.endswith("/batch") else BODY_BYTES_MAX


ROWS = [
    Row(f"{RECORDS}/commands", (READ, WRITE), {**KEY, "operation": {"type": "save", "record": {"content": "c"}}}),
    Row(
        f"{JUDGMENTS}/candidates",
        (READ, WRITE),
        {**KEY, "candidates": [{"source": ABSENT, "target": OTHER}]},
        (404, "record_not_found"),
    ),
    Row(f"{JUDGMENTS}/batch", (READ, WRITE), {"idempotency_key": "batch", "judgments": [JUDGMENT]}),
    Row(
        f"{JUDGMENTS}/compare",
        (READ, WRITE),
        {**KEY, "source_id": ABSENT, "target_id": OTHER, "relation": "related", "confidence": 1},
        (404, "record_not_found"),
    ),
    Row(f"{JUDGMENTS}/query", (READ,), {"limit": 5}),
    Row(f"{JUDGMENTS}/sweep", (READ, REVIEW), {"idempotency_key": "sweep"}),
    Row(f"{JUDGMENTS}/undo", (READ, REVIEW), {**KEY, "run_id": ABSENT}, (404, "candidate_not_found")),
    Row(f"{RECORDS}/annotated", (READ,), {"record_ids": [ABSENT]}, slot=True),
    Row(f"{RECORDS}/search", (READ,), {"text": "tide"}, slot=True),
    Row(f"{RECORDS}/confirm", (READ, WRITE), {**KEY, "confirmations": [CONFIRMATION]}, (404, "record_not_found")),
    Row(f"{RECORDS}/needs-review", (READ,), {"limit": 5}),
    Row(TOPIC_KEYS, (READ,), {"title": "t", "content": "c"}),
]
EVERYTHING = (READ, WRITE, REVIEW, "memory_checkpoint", "memory_mine")
BUSY = (503, "retrieval_busy")


@dataclass(frozen=True)
class People:
    """Callers of one server without a free slot: one who may do everything, and ones who lack one thing each."""

    sound: Caller
    elsewhere: Caller
    lacking: dict[str, Caller]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    directory = tmp_path_factory.mktemp("judging") / "store"
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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_each_fault_alone_and_the_earlier_of_two_answer_as_the_contract_says(row: Row, people: People) -> None:
    for expected, spoil in FAULTS.values():
        assert expected == refusal(spoil(Request(row, people.sound), people).send())
    for earlier, later in combinations(FAULTS, 2):
        expected, spoil = FAULTS[earlier]
        both = spoil(FAULTS[later][1](Request(row, people.sound), people), people)
        assert expected == refusal(both.send()), (earlier, later)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_a_body_of_the_greatest_size_passes_and_the_slot_comes_after_authorization(row: Row, people: People) -> None:
    answer = Request(row, people.sound, padding=row.body_bytes_max).send()
    expected = BUSY if row.slot else row.answer
    if expected is None:
        assert 200 == answer.status_code, answer.text
    else:
        assert expected == refusal(answer)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_exactly_the_capabilities_of_the_contract_are_needed(row: Row, people: People) -> None:
    for name, caller in people.lacking.items():
        answer = Request(row, caller).send()
        assert (403 == answer.status_code) is (name in row.needs), (name, answer.text)


def test_every_route_of_judgments_stands_in_the_table() -> None:
    tagged = {route.path for route in ROUTES if route.tag == "judgments"}
    assert tagged == {row.path for row in ROWS} - {f"{RECORDS}/commands"}


def test_a_busy_server_still_takes_verdicts(people: People) -> None:
    first, second = people.sound.create("nine"), people.sound.create("ten")
    pair = {"source_id": first["record_id"], "target_id": second["record_id"]}
    body = {"idempotency_key": "busy", **pair, "relation": "related", "confidence": 1}
    assert 200 == people.sound.ask(f"{JUDGMENTS}/compare", **body).status_code
