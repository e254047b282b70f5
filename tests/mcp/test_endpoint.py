"""The rules of HTTP at `/mcp`, before the protocol begins (mcp.md, transports)."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.http.client import Caller
from tests.support.polling import WAIT_SECONDS

LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
ACCEPT = {"accept": "application/json", "content-type": "application/json"}


def ask(url: str, caller: Caller | None, *, method: str = "POST", query: str = "", **more: Any) -> httpx.Response:
    """One request; the headers that every answer has are looked at."""
    headers = {**ACCEPT, **({} if caller is None else caller.headers), **more.pop("headers", {})}
    content = more.pop("content", LIST if method == "POST" else None)
    found = httpx.request(
        method, f"{url}/mcp{query}", content=content, headers=headers, timeout=WAIT_SECONDS, trust_env=False
    )
    assert ("no-store", "nosniff") == (found.headers["cache-control"], found.headers["x-content-type-options"])
    return found


def code(response: httpx.Response) -> str:
    assert {"contract_version", "error"} == set(response.json())
    return str(response.json()["error"]["code"])


def test_post_alone_is_answered_in_json_without_a_session(caller: Caller, url: str) -> None:
    answer = ask(url, caller)
    assert (200, "application/json") == (answer.status_code, answer.headers["content-type"])
    assert "mcp-session-id" not in answer.headers
    assert "memory_context" == answer.json()["result"]["tools"][0]["name"]
    for method in ("GET", "DELETE", "PUT"):
        refused = ask(url, caller, method=method)
        assert (405, "POST", "method_not_allowed") == (refused.status_code, refused.headers["allow"], code(refused))


def test_a_stranger_is_challenged_without_the_address_of_an_authorization_server(url: str) -> None:
    refused = ask(url, None)
    assert (401, "Bearer", "unauthorized") == (refused.status_code, refused.headers["www-authenticate"], code(refused))
    for path in ("oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"):
        assert 404 == httpx.get(f"{url}/.well-known/{path}", trust_env=False).status_code


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:8080", 200),
        ("https://desk.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
    ],
)
def test_an_origin_must_be_of_this_machine(caller: Caller, url: str, origin: str, status: int) -> None:
    answer = ask(url, caller, headers={"origin": origin})
    assert status == answer.status_code
    if status == 403:
        assert "forbidden" == code(answer)


def test_a_body_has_a_bound(caller: Caller, url: str) -> None:
    fill = b" " * ((1 << 20) - len(LIST))
    assert 200 == ask(url, caller, content=LIST + fill).status_code
    refused = ask(url, caller, content=LIST + fill + b" ")
    assert (413, "invalid_request") == (refused.status_code, code(refused))


@pytest.mark.parametrize("query", ["?tools=all", "?colour=blue", "?read_only=yes", "?tools=core&tools=full"])
def test_a_query_that_says_something_else_is_refused(caller: Caller, url: str, query: str) -> None:
    refused = ask(url, caller, query=query)
    assert (400, "invalid_request") == (refused.status_code, code(refused))


def test_what_is_no_request_of_the_protocol_gets_its_own_error(caller: Caller, url: str) -> None:
    answer = ask(url, caller, content=b"{")
    assert 400 == answer.status_code
    assert -32700 == answer.json()["error"]["code"]


def test_the_document_does_not_describe_it(url: str) -> None:
    assert "/mcp" not in httpx.get(f"{url}/openapi.json", trust_env=False).json()["paths"]
