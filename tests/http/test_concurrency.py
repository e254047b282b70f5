"""Many clients at once: one relation of many identical asserts, one winner of many retires, slots given back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.http.client import RECORDS, RELATIONS, STALE, Api, Caller, Json, accepted, fresh, issue, refusal, relation
from tests.http.serving import Server, initialise

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
