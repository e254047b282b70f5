"""Many clients at once: one relation of many identical asserts, one winner of many retires, slots given back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import httpx

from tests.http.client import (
    BUSY,
    RECORDS,
    RELATIONS,
    STALE,
    Api,
    Caller,
    Json,
    accepted,
    fresh,
    issue,
    refusal,
    relation,
)
from tests.http.serving import Server, initialise
from tests.http.wire import Wire, post
from tests.support.polling import WAIT_SECONDS

CLIENTS = 16


def at_once(send: Callable[[int], httpx.Response], requests: int = 4 * CLIENTS) -> list[httpx.Response]:
    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(send, range(requests)))


def test_many_identical_asserts_under_one_key_are_one_relation(caller: Caller) -> None:
    key, given = fresh("key"), relation(caller.create(), caller.create())
    answers = at_once(lambda _: caller.command(RELATIONS, key, type="assert", relation=given))
    assert {200} == {answer.status_code for answer in answers}
    assert 1 == len({answer.content for answer in answers})
    page = caller.ask(f"{RELATIONS}/query", filter={}).json()["page"]
    assert 1 == len(page["relations"])


def test_of_many_competing_retires_one_wins(caller: Caller) -> None:
    at = caller.relate()
    answers = at_once(lambda _: caller.change("retire", at))
    won = [answer for answer in answers if answer.status_code == 200]
    assert 1 == len(won)
    assert {STALE} == {refusal(answer) for answer in answers if answer.status_code != 200}
    assert 2 == accepted(won[0])["revision"]


def test_commands_of_many_clients_take_consecutive_places_in_the_partition(caller: Caller) -> None:
    answers = at_once(lambda number: caller.command(RECORDS, type="create", record={"content": str(number)}))
    places = sorted(accepted(answer)["commit_sequence"] for answer in answers)
    assert list(range(1, len(answers) + 1)) == places


def test_slots_are_given_back_whatever_the_outcome(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--slots", "2") as server, Api(server.url) as api:
        caller = issue(Caller(api, secret))
        bodies: list[Json] = [{"filter": {}}, {"filter": {"cursor": "x"}}, {"filter": {"limit": 0}}]
        answers = at_once(lambda number: caller.ask(f"{RECORDS}/query", **bodies[number % 3]), 90)
        statuses = Counter(answer.status_code for answer in answers)
        assert {200, 400, 503} >= statuses.keys()
        assert statuses[200]
        for _ in range(4):
            assert 200 == caller.ask(f"{RECORDS}/query", filter={}).status_code
        assert "relatum_slots_in_use 0.0" in api.send("GET", "/metrics").text


def test_a_slot_is_held_until_a_slow_client_has_taken_its_answer_or_gone(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--slots", "1") as server, Api(server.url) as api:
        caller = issue(Caller(api, secret))
        request = post(caller, f"{RECORDS}/batch", record_ids=_records_of_a_long_answer(caller))
        with Wire(server.port) as slow:
            slow.send(request)
            slow.begin()
            for _ in range(4):
                assert BUSY == refusal(caller.ask(f"{RECORDS}/query", filter={"tag": "none"}))
            assert 200 == slow.answer().status
            _wait_for_a_slot(caller)
            slow.send(request)
            slow.begin()
            assert BUSY == refusal(caller.ask(f"{RECORDS}/query", filter={"tag": "none"}))
            slow.reset()
        _wait_for_a_slot(caller)


def _records_of_a_long_answer(caller: Caller) -> list[str]:
    """Records that take 11 MiB as JSON: more than an operating system buffers for one connection."""
    content = "x" + "\x01" * (48 * 1024 - 1)  # six bytes of JSON for each control character
    create = {"type": "create", "record": {"content": content}}
    made: list[str] = []
    while len(made) < 39:
        commands = [{"idempotency_key": fresh("key"), "operation": create} for _ in range(3)]
        results = caller.ask(f"{RECORDS}/commands/batch", commands=commands).json()["results"]
        made += [result["receipt"]["record_id"] for result in results]
    return made


def _wait_for_a_slot(caller: Caller) -> None:
    deadline = monotonic() + WAIT_SECONDS
    while caller.ask(f"{RECORDS}/query", filter={"tag": "none"}).status_code != 200:
        assert monotonic() < deadline, "the slot was not given back"
