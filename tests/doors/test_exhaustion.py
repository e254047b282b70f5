"""Clients that would use a server up: it goes on answering the others, and keeps nothing of them when they are gone."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relatum.limits import BODY_BYTES_MAX, JSON_DEPTH_MAX
from tests.doors.conftest import SLOTS, STREAMS, Running
from tests.doors.crowd import answers, crowd, ended, offer, until_ended
from tests.doors.watching import Watcher, returning_to_base, watching
from tests.feeds.wire import Feed
from tests.http.client import BUSY, INVALID, RECORDS, RELATIONS, TOO_LARGE, Api, Caller, Json, fresh, issue, refusal
from tests.http.serving import Server, initialise
from tests.http.wire import head, post
from tests.support.matrix import first_of
from tests.support.polling import until

MANY = 1_000
HEALTH = head("GET", "/health")
CREATE: Json = {"type": "create", "record": {"content": "c"}}


def create(caller: Caller) -> bytes:
    return post(caller, f"{RECORDS}/commands", idempotency_key=fresh("key"), operation=CREATE)


def query(caller: Caller) -> bytes:
    return post(caller, f"{RECORDS}/query", filter={})


def all_is_well(watcher: Watcher, caller: Caller) -> None:
    """Health and another's requests are answered."""
    assert watcher.healthy()
    assert 200 == caller.command(RECORDS, **CREATE).status_code


def twice(watcher: Watcher, attack: Callable[[], None]) -> None:
    """The second time costs the server nothing that lasts: what it makes once is made the first time."""
    attack()
    with returning_to_base(watcher):
        attack()


# Connections


def test_a_thousand_idle_connections_cost_the_others_nothing(patient: Running, caller: Caller) -> None:
    def attack() -> None:
        with crowd(patient.port, MANY) as members:
            for member in members:
                member.sendall(HEALTH)
            assert {200} == {answer.status for answer in answers(members)}
            assert patient.watcher.connections >= MANY
            all_is_well(patient.watcher, caller)
            assert 0 == ended(members)

    twice(patient.watcher, attack)


def test_a_thousand_clients_at_once_are_answered_or_told_to_wait(patient: Running, caller: Caller) -> None:
    def attack() -> None:
        with crowd(patient.port, MANY) as members:
            for number, member in enumerate(members):
                member.sendall(query(caller) if number % 2 else create(caller))
            assert patient.watcher.healthy()
            told = answers(members)
        statuses = Counter(answer.status for answer in told)
        assert {200, 503} >= set(statuses)
        assert statuses[200] >= MANY // 2  # no command is shed: as many fit into the queue
        assert {BUSY} >= {answer.refusal() for answer in told if answer.status != 200}
        all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


def test_of_more_connections_than_may_be_held_the_idle_ones_give_way(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with (
        Server(tmp_path / "store", "--connections-max", "64") as server,
        Api(server.url) as api,
        watching(server.url) as watcher,
    ):
        caller = issue(Caller(api, secret))
        with crowd(server.port, 500) as members:
            until(lambda: ended(members) >= 500 - 64, "the end of those that are too many")
            assert watcher.connections <= 64
            all_is_well(watcher, caller)
        assert watcher.dropped("gave_way") >= 500 - 64
        assert 0 == watcher.dropped("no_room")


def test_connections_that_close_one_side_are_let_go_of(patient: Running, caller: Caller) -> None:
    def attack() -> None:
        with crowd(patient.port, 200) as members:
            for number, member in enumerate(members):
                member.sendall((HEALTH, create(caller), query(caller)[:-1], b"")[number % 4])
                member.shutdown(socket.SHUT_WR)
            until_ended(members)
            all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


# Time


@pytest.mark.parametrize("part", first_of(["head", "body"]))
def test_requests_that_trickle_in_are_ended(part: str, hasty: Running, hurried: Caller) -> None:
    request = query(hurried)
    start = request.index(b"\r\n\r\n") + 5 if part == "body" else 1

    def attack() -> None:
        with crowd(hasty.port, 100) as members:
            for member in members:
                member.sendall(request[:start])
            sent = start
            while ended(members) < len(members):
                if sent < len(request) - 1 and hasty.watcher.connections > 1:
                    for member in members:
                        offer(member, request[sent : sent + 1])
                    sent += 1
                assert hasty.watcher.healthy()
            all_is_well(hasty.watcher, hurried)

    twice(hasty.watcher, attack)


def test_clients_that_do_not_take_their_answers_keep_slots_from_others_and_nothing_else(
    patient: Running, caller: Caller
) -> None:
    request = post(caller, f"{RECORDS}/batch", record_ids=long_records(caller))

    def attack() -> None:
        with deaf(patient.server, SLOTS) as members:
            for member in members:
                member.sendall(request)
            until(lambda: patient.watcher.slots == SLOTS, "every slot taken")
            assert BUSY == refusal(caller.ask(f"{RECORDS}/query", filter={}))
            all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


def test_clients_that_never_take_their_answers_give_their_slots_back(hasty: Running, hurried: Caller) -> None:
    request = post(hurried, f"{RECORDS}/batch", record_ids=long_records(hurried))

    def attack() -> None:
        with deaf(hasty.server, SLOTS) as members:
            before = hasty.watcher.dropped("unread")
            for member in members:
                member.sendall(request)
            until(lambda: hasty.watcher.dropped("unread") - before == SLOTS, "the end of everybody's time")
            until(lambda: hasty.watcher.slots == 0, "every slot given back")
            assert 200 == hurried.ask(f"{RECORDS}/query", filter={"tag": "none"}).status_code

    twice(hasty.watcher, attack)


def long_records(caller: Caller) -> list[str]:
    """Records that take 11 MiB as JSON: more than an operating system buffers for one connection."""
    record = {"content": "x" + "\x01" * (48 * 1024 - 1)}  # six bytes of JSON for each control character
    made: list[str] = []
    while len(made) < 39:
        operation = {"type": "create", "record": record}
        commands = [{"idempotency_key": fresh("key"), "operation": operation} for _ in range(3)]
        results = caller.ask(f"{RECORDS}/commands/batch", commands=commands).json()["results"]
        made += [result["receipt"]["record_id"] for result in results]
    return made


@contextmanager
def deaf(server: Server, number: int) -> Iterator[list[socket.socket]]:
    """Clients whose systems keep little of what they don't read."""
    members = [socket.socket() for _ in range(number)]
    try:
        for member in members:
            member.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            member.connect(("127.0.0.1", server.port))
        yield members
    finally:
        for member in members:
            member.close()


# Size


def test_huge_heads_are_refused(patient: Running, caller: Caller) -> None:
    def attack() -> None:
        with crowd(patient.port, 50) as members:
            for member in members:
                member.sendall(b"GET /health HTTP/1.1\r\n" + b"name: value\r\n" * 20_000)
            assert {(431, "invalid_request")} == {answer.refusal() for answer in answers(members)}
            all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


def test_large_bodies_are_refused_before_they_have_arrived(patient: Running, caller: Caller) -> None:
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json", f"Content-Length: {2**40}"]

    def attack() -> None:
        with crowd(patient.port, 50) as members:
            for member in members:
                member.sendall(head("POST", f"{RECORDS}/query", *lines) + b" " * (BODY_BYTES_MAX + 1))
            assert {TOO_LARGE} == {answer.refusal() for answer in answers(members)}
            all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


DEEP = {
    "arrays": lambda levels: b"[" * levels + b"]" * levels,
    "arrays without an end": lambda levels: b"[" * levels,
    "objects": lambda levels: b'{"a":' * levels + b"1" + b"}" * levels,
    "objects without an end": lambda levels: b'{"a":' * levels,
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("levels", [JSON_DEPTH_MAX + 1, 1_000, 10_000])
def test_deep_json_is_a_bad_request(shape: str, levels: int, caller: Caller, patient: Running) -> None:
    whole = json.dumps({"contract_version": 1, "scope": caller.scope, "filter": {}}).encode()
    bodies = (DEEP[shape](levels), whole[:-1] + b',"deep":' + DEEP[shape](levels) + b"}")

    def attack() -> None:
        for body in bodies:
            assert INVALID == refusal(caller.raw(f"{RECORDS}/query", body))
        all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


def test_a_flood_of_requests_on_one_connection_is_cut_short(patient: Running, caller: Caller) -> None:
    def attack() -> None:
        with crowd(patient.port, 20) as members:
            for member in members:
                offer(member, head("GET", "/openapi.json") * 20_000)
            until_ended(members)
            all_is_well(patient.watcher, caller)

    twice(patient.watcher, attack)


# Streams


def test_of_more_streams_than_may_be_the_others_are_told_to_wait(patient: Running, caller: Caller) -> None:
    caller.relate()
    request = post(caller, f"{RELATIONS}/changes/stream", query={})

    def attack() -> None:
        until(lambda: patient.watcher.streams == 0, "the end of every earlier stream")
        with crowd(patient.port, 50) as members:
            for member in members:
                member.sendall(request)
            told = answers(members)
            assert {200: STREAMS, 503: 50 - STREAMS} == Counter(answer.status for answer in told)
            assert {BUSY} == {answer.refusal() for answer in told if answer.status == 503}
            assert STREAMS == patient.watcher.streams
            all_is_well(patient.watcher, caller)
            assert 200 == Feed(caller).changes().status_code

    twice(patient.watcher, attack)
