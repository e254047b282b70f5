"""The order of checks (transport.md): of several things wrong with a request, the first one in the order answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import httpx
import pytest

from relatum.limits import BODY_BYTES_MAX
from tests.http.client import ABSENT, CREDENTIALS, RELATIONS, Api, Caller, issue, refusal
from tests.http.serving import Server, initialise


@dataclass(frozen=True)
class Request:
    """A request in the making; what is left alone is right."""

    caller: Caller
    path: str = f"{RELATIONS}/read"
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    version: int = 1
    scope_members: tuple[tuple[str, str], ...] = ()
    prefix: bytes = b""
    padding: int = 0

    def send(self) -> httpx.Response:
        scope = {**self.caller.scope, **dict(self.scope_members)}
        body = {"contract_version": self.version, "scope": scope, "relation_id": ABSENT}
        content = self.prefix + json.dumps(body).encode()
        content += b" " * max(0, self.padding - len(content))
        headers = {**self.caller.headers, "content-type": "application/json", **dict(self.headers)}
        return self.caller.api.send(self.method, self.path, content=content, headers=headers)


@dataclass(frozen=True)
class People:
    """Callers of one server without a free slot."""

    sound: Caller
    reader_elsewhere: Caller
    writer: Caller


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    directory = tmp_path_factory.mktemp("busy") / "store"
    secret = initialise(directory)
    with Server(directory, "--slots", "0") as server, Api(server.url) as api:
        admin = Caller(api, secret)
        sound = issue(admin)
        elsewhere = issue(admin)
        writer = issue(admin, capabilities=["memory_write"], grants=[sound.scope])
        yield People(sound, replace(elsewhere, scope=sound.scope), replace(writer, scope=sound.scope))


Fault = Callable[[Request, People], Request]

FAULTS: dict[str, tuple[tuple[int, str], Fault]] = {
    "an unknown path": ((404, "not_found"), lambda r, _: replace(r, path=f"{r.path}/nowhere")),
    "a wrong method": ((405, "method_not_allowed"), lambda r, _: replace(r, method="PUT")),
    "a bad token": (
        (401, "unauthorized"),
        lambda r, _: replace(r, headers=(("authorization", "Bearer nobody"),)),
    ),
    "a body too large": ((413, "invalid_request"), lambda r, _: replace(r, padding=BODY_BYTES_MAX + 1)),
    "a body that is no JSON": ((400, "invalid_request"), lambda r, _: replace(r, prefix=b"}")),
    "another version": ((400, "unsupported_contract_version"), lambda r, _: replace(r, version=2)),
    "a blank project": ((400, "invalid_request"), lambda r, _: replace(r, scope_members=(("project_id", " "),))),
    "no grant": ((403, "forbidden"), lambda r, p: replace(r, caller=p.reader_elsewhere)),
    "no capability": ((403, "forbidden"), lambda r, p: replace(r, caller=p.writer)),
    "no free slot": ((503, "retrieval_busy"), lambda r, _: r),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_alone_is_answered_as_the_contract_says(name: str, people: People) -> None:
    expected, spoil = FAULTS[name]
    assert expected == refusal(spoil(Request(people.sound), people).send())


@pytest.mark.parametrize(("earlier", "later"), list(combinations(FAULTS, 2)))
def test_of_two_faults_the_earlier_one_answers(earlier: str, later: str, people: People) -> None:
    expected, spoil = FAULTS[earlier]
    both = spoil(FAULTS[later][1](Request(people.sound), people), people)
    assert expected == refusal(both.send())


def test_an_unknown_path_and_a_wrong_method_need_no_token(api: Api) -> None:
    assert (404, "not_found") == refusal(api.send("POST", "/api/v1/nowhere"))
    assert (404, "not_found") == refusal(api.send("POST", f"{RELATIONS}/read/"))
    wrong = api.send("GET", f"{RELATIONS}/read")
    assert (405, "method_not_allowed") == refusal(wrong)
    assert "POST" == wrong.headers["allow"]
    assert "GET, HEAD, POST" == api.send("DELETE", CREDENTIALS).headers["allow"]


def test_company_routes_ask_for_the_capability_before_they_read_the_body(caller: Caller, api: Api) -> None:
    oversized = b"x" * (BODY_BYTES_MAX + 1)
    for path in (CREDENTIALS, f"{CREDENTIALS}/no-uuid/rotate", f"{CREDENTIALS}/no-uuid/scope-authority"):
        assert (401, "unauthorized") == refusal(api.send("POST", path, content=oversized))
        assert (403, "forbidden") == refusal(caller.raw(path, oversized))


def test_company_routes_then_check_size_schema_and_version_in_that_order(admin: Caller) -> None:
    path = f"{CREDENTIALS}/no-uuid/rotate"
    assert (413, "invalid_request") == refusal(admin.raw(path, b" " * (BODY_BYTES_MAX + 1)))
    unknown = f"{CREDENTIALS}/{ABSENT}/rotate"
    assert (400, "invalid_request") == refusal(admin.raw(unknown, b'{"contract_version":2}'))
    assert (400, "invalid_request") == refusal(admin.raw(path, b'{"contract_version":2,"expected_revision":1}'))
    unsupported = (400, "unsupported_contract_version")
    assert unsupported == refusal(admin.raw(unknown, b'{"contract_version":2,"expected_revision":1}'))
    assert (403, "forbidden") == refusal(admin.raw(unknown, b'{"contract_version":1,"expected_revision":1}'))


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON", "application/json; charset=utf-8"])
def test_json_is_taken_under_its_media_type_and_any_parameters(content_type: str, caller: Caller) -> None:
    assert 404 == _read(caller, [("content-type", content_type)]).status_code


@pytest.mark.parametrize(
    "content_type", ["text/json", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""]
)
def test_json_under_another_media_type_is_refused(content_type: str, caller: Caller) -> None:
    assert (400, "invalid_request") == refusal(_read(caller, [("content-type", content_type)]))


def test_json_without_a_media_type_or_with_two_is_refused(caller: Caller) -> None:
    assert (400, "invalid_request") == refusal(_read(caller, []))
    assert (400, "invalid_request") == refusal(_read(caller, [("content-type", "application/json")] * 2))


def _read(caller: Caller, headers: list[tuple[str, str]]) -> httpx.Response:
    body = {"contract_version": 1, "scope": caller.scope, "relation_id": ABSENT}
    authorized = [*headers, *caller.headers.items()]
    return caller.api.send("POST", f"{RELATIONS}/read", content=json.dumps(body).encode(), headers=authorized)
