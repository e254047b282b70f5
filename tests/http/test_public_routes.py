"""Routes without a credential (transport.md, public routes), and the page that people read."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from relatum import __version__
from tests.http.client import BUSY, IDENTITY, RECORDS, Api, Caller, issue, refusal
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS

PUBLIC = ["/health", "/ready", "/openapi.json", "/docs", "/", "/metrics"]


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_route_needs_no_token_and_ignores_a_bad_one(path: str, api: Api) -> None:
    plain = api.send("GET", path)
    assert plain.status_code in {200, 307}
    assert plain.status_code == api.send("GET", path, headers={"authorization": "Bearer x"}).status_code


@pytest.mark.parametrize("path", [*PUBLIC, IDENTITY])
def test_head_is_get_without_a_body(path: str, api: Api, caller: Caller) -> None:
    head = api.send("HEAD", path, headers=caller.headers)
    assert head.status_code == api.send("GET", path, headers=caller.headers).status_code
    assert head.content == b""


def test_health_tells_the_version(api: Api) -> None:
    healthy = {"contract_version": 1, "status": "healthy", "version": __version__}
    assert healthy == api.send("GET", "/health").json()


def test_ready_while_commands_are_accepted(api: Api) -> None:
    assert {"contract_version": 1, "status": "ready"} == api.send("GET", "/ready").json()


def test_home_leads_to_the_page(api: Api) -> None:
    home = api.send("GET", "/")
    assert (307, "/docs") == (home.status_code, home.headers["location"])


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.ids: set[str] = set()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in {"href", "src", "action"}:
                self.targets.add(value or "")
            elif name == "id":
                assert value not in self.ids, f"{value} is not unique"
                self.ids.add(value or "")


def test_the_page_shows_every_route_and_schema_and_needs_nothing_from_elsewhere(api: Api) -> None:
    found = api.send("GET", "/docs")
    links = Links()
    links.feed(found.text)
    inside = {target.removeprefix("#") for target in links.targets if target.startswith("#")}
    assert {"/openapi.json"} == {target for target in links.targets if not target.startswith("#")}
    assert inside <= links.ids
    assert not {"script", "img", "iframe", "link", "form", "object"} & links.tags
    assert "default-src 'none'" in found.headers["content-security-policy"]
    document = api.described.document
    for path, methods in document["paths"].items():
        assert f"<code>{path}</code>" in found.text
        assert {operation["operationId"] for operation in methods.values()} <= links.ids
    assert {f"schema-{name}" for name in document["components"]["schemas"]} <= links.ids


def test_metrics_count_requests_by_template_and_never_by_a_path_that_a_client_made_up(api: Api, caller: Caller) -> None:
    api.send("GET", "/made/up/by/a/client")
    caller.get(f"/api/v1/credentials/{caller.credential['id']}")
    caller.create()
    text = api.send("GET", "/metrics").text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    routes = {sample.labels["route"] for sample in families["relatum_requests"].samples}
    assert {"(none)", "/api/v1/credentials/{id}", f"{RECORDS}/commands"} <= routes
    assert routes <= {*api.described.document["paths"], "(none)"}
    assert not re.search("made/up", text)


def test_metrics_may_have_a_listener_of_their_own(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--metrics-port", "0") as server:
        lines = [json.loads(line) for line in server.log_path.read_text().splitlines()]
        [apart] = [line["address"] for line in lines if line.get("serves") == "metrics"]
        assert 404 == httpx.get(f"{server.url}/metrics", timeout=WAIT_SECONDS).status_code
        assert b"relatum_syncs_total" in httpx.get(f"{apart}/metrics", timeout=WAIT_SECONDS).content
        assert 404 == httpx.get(f"{apart}/health", timeout=WAIT_SECONDS).status_code


SLOT_ROUTES = [
    "records/commands/batch", "records/batch", "records/query", "records/inspect", "records/revision",
    "relations/commands", "relations/commands/batch", "relations/read", "relations/inspect", "relations/revision",
    "relations/query",
]  # fmt: skip
FREE_ROUTES = ["records/commands", "records/read", "receipts/read"]


def test_without_slots_the_slot_routes_are_busy_and_the_others_go_on(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--slots", "0") as server, Api(server.url) as api:
        caller = issue(Caller(api, secret))
        for route in (*SLOT_ROUTES, *FREE_ROUTES):
            path = f"/api/v1/memory/{route}"
            shown = api.described.document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            for name, example in shown["examples"].items():
                found = caller.post(path, **{**example["value"], "scope": caller.scope})
                if route in SLOT_ROUTES:
                    assert BUSY == refusal(found), (route, name)
                else:
                    assert found.status_code < 500, (route, name)
