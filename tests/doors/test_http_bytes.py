"""Whole requests of any bytes, over the wire: refused in the envelope, answered, or cut, and nobody else notices."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from typing import Final

import pytest

from tests.doors.conftest import Running
from tests.doors.crowd import answers, crowd, offer
from tests.doors.mutating import JSON_TOKENS, Mutator
from tests.doors.watching import returning_to_base
from tests.http.client import IDENTITY, RECORDS, RELATIONS, Caller
from tests.http.wire import head, post
from tests.support.matrix import first_of

ROUND = 250
CUT: Final = 0
ANSWERED: Final = {CUT, 100, 200, 307, 400, 401, 403, 404, 405, 409, 413, 431, 503}

HTTP_TOKENS: Final = (
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b" ",
        b"\t",
        b":",
        b"\0",
        b"\x80",
        b"\xff" * 9,
        b"%00",
        b"%",
        b"?",
        b"#",
        b"//",
    ),
    *(b"Content-Length: 0\r\n", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Content-Length: 5, 5\r\n"),
    *(b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n"),
    *(
        b"Transfer-Encoding : chunked\r\n",
        b"0\r\n\r\n",
        b"5\r\nabcde\r\n",
        b"ffffffffffffffff\r\n",
        b"-1\r\n",
        b"5;a=b\r\n",
    ),
    *(
        b"Expect: 100-continue\r\n",
        b"Connection: close\r\n",
        b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        b" folded\r\n",
    ),
    *(b"Authorization: Bearer x\r\n", b"Authorization: Basic x\r\n", b"Content-Type: text/plain\r\n", b"Host: a\r\n"),
    *(
        b"HTTP/1.0",
        b"HTTP/2.0",
        b"HTTP/9.9",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"DELETE ",
    ),
    *(b"http://relatum/health", b"*", b"name: " + b"v" * 70_000 + b"\r\n", b"n: v\r\n" * 12_000, b"/" * 70_000),
)


def requests(caller: Caller) -> list[bytes]:
    """Sound ones, of every framing."""
    create = {"type": "create", "record": {"content": "c"}}
    query = post(caller, f"{RECORDS}/query", filter={})
    body = query.partition(b"\r\n\r\n")[2]
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json", "Transfer-Encoding: chunked"]
    chunked = head("POST", f"{RECORDS}/query", *lines) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return [
        query,
        chunked,
        query + query,
        post(caller, f"{RECORDS}/commands", idempotency_key="key", operation=create),
        post(caller, f"{RELATIONS}/changes/stream", query={}),
        head("GET", IDENTITY, f"Authorization: Bearer {caller.secret}"),
        head("GET", "/health") + head("GET", "/"),
        head("GET", "/metrics", "Connection: close"),
    ]


@pytest.mark.parametrize("rounds", first_of([2, 6]))
def test_any_bytes_are_answered_as_the_contract_says(rounds: int, hasty: Running, hurried: Caller) -> None:
    cases = Mutator(requests(hurried), (*HTTP_TOKENS, *JSON_TOKENS), "http").cases(rounds * ROUND)
    told = hasty.server.log_path.read_text()
    seen: Counter[int] = Counter()

    def one_round() -> None:
        with crowd(hasty.port, ROUND) as members:
            for member, case in zip(members, islice(cases, ROUND), strict=True):
                offer(member, case)
            for answer in answers(members):
                seen[answer.status] += 1
                assert answer.status in ANSWERED
                if answer.status >= 400:
                    answer.refusal()

    one_round()
    with returning_to_base(hasty.watcher):
        for _ in range(rounds - 1):
            one_round()
    assert {200, 400, 401, 404} < set(seen)
    assert "" == warnings_in(hasty.server.log_path.read_text().removeprefix(told))


def warnings_in(log: str) -> str:
    """Lines that are worse than what an operator expects."""
    return "".join(line for line in log.splitlines() if json.loads(line)["level"] in ("warning", "error"))
