"""Clients at work notice, then and there, what a server must never answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import pytest

from crash_tests import client, wire
from crash_tests.client import Client
from crash_tests.history import Json
from crash_tests.operations import Author, Sight
from crash_tests.random_draws import seeded
from crash_tests.store_clients import Ground
from crash_tests.violation import Violation
from crash_tests.wire import Connection, Response, Unreachable
from tests.crash.scripted import Running, Scripted, answer, error
from tests.crash.told import ACCOUNT, DESK, RECORD_ID, accepted, create, receipt


@dataclass
class Rig:
    """One client with a scripted connection."""

    client: Client
    connection: Scripted = field(default_factory=lambda: Scripted([]))
    server: Running = field(default_factory=Running)

    def told(self, status: int, body: bytes) -> None:
        self.connection.answers.append(Response(status, body))


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    connection, server = Scripted([]), Running()
    monkeypatch.setattr(client, "Connection", connection)
    at_work = Client(Ground([ACCOUNT], [DESK]), server, seeded(1), lambda: None)  # type: ignore[arg-type]  # a stand-in
    yield Rig(at_work, connection, server)
    assert [] == connection.answers, "every answer was taken"


def test_an_accepted_command_is_remembered_as_it_was_answered(rig: Rig) -> None:
    command = create()
    rig.told(200, answer(receipt(command, 1)))
    rig.client._single(command)
    assert receipt(command, 1) == command.receipt


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (500, "storage_inconsistency"),
        (500, "internal_error"),
        (503, "storage_unavailable"),
        (409, "idempotency_conflict"),
        (403, "forbidden"),
        (401, "unauthorized"),
    ],
)
def test_what_a_healthy_server_never_answers_to_a_fresh_command_is_noticed(rig: Rig, status: int, code: str) -> None:
    rig.told(status, error(code))
    with pytest.raises(Violation, match=f"{status} {code}"):
        rig.client._single(create())


def test_a_busy_or_a_stopping_server_may_leave_an_outcome_unknown(rig: Rig) -> None:
    rig.told(503, error("write_busy"))
    first, second = create(), create("key 2")
    rig.client._single(first)
    rig.server.stopping = True
    rig.told(503, error("storage_unavailable"))
    rig.client._single(second)
    assert (True, True) == (first.unknown, second.unknown)


def test_a_sequence_that_runs_backwards_is_noticed(rig: Rig) -> None:
    first, second = create(), create("key 2")
    rig.told(200, answer(receipt(first, 5)))
    rig.told(200, answer(receipt(second, 5)))
    rig.client._single(first)
    with pytest.raises(Violation, match="commit sequence 5 after"):
        rig.client._single(second)


def test_a_replay_with_another_byte_is_noticed(rig: Rig) -> None:
    command = accepted(create(), 1)
    rig.told(200, answer(receipt(command, 1, committed_at_millis=8)))
    with pytest.raises(Violation, match="replayed with another receipt"):
        rig.client._replay(command)


def test_a_key_that_is_taken_and_taken_again_is_noticed(rig: Rig) -> None:
    taken = accepted(create(), 1)
    rig.told(200, answer(receipt(taken, 1)))
    with pytest.raises(Violation, match=r"another command under the key of .* 200 accepted"):
        rig.client._reuse_taken_key(taken)


def test_a_read_of_less_than_was_acknowledged_is_noticed(rig: Rig) -> None:
    newer = accepted(create(), 2, revision=2)
    rig.client._ground.sight(DESK).learn(newer)
    record: Json = {"record_id": RECORD_ID, "revision": 1}
    rig.told(200, msgspec.json.encode({"inspection": {"record": record}}))
    with pytest.raises(Violation, match="an older revision"):
        rig.client._read(DESK)


def test_a_connection_that_breaks_is_a_violation_unless_the_server_was_to_stop(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise Unreachable("reset")

    monkeypatch.setattr(rig.client, "_step", broken)
    monkeypatch.setattr(Scripted, "close", lambda _: None, raising=False)
    with pytest.raises(Violation, match="dropped a connection"):
        rig.client.work(lambda: False)
    rig.server.stopping = True
    rig.client.work(lambda: False)


def test_a_server_that_does_not_answer_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ANSWER_SECONDS_MAX", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Violation, match="no answer from /path"):
        Connection(silent.getsockname()[1], "secret").post("/path", b"{}")


def test_operations_follow_from_the_seed_and_from_what_is_known() -> None:
    def think(seed: int) -> list[tuple[str, Json]]:
        sight = Sight()
        sight.learn(accepted(create(), 1))
        sight.learn(accepted(create("key 2"), 2, record_id=RECORD_ID[:-1] + "2"))
        author = Author(seeded(seed), sight)
        return [author.operation() for _ in range(400)]

    assert think(1) == think(1) != think(2)
    thought = {(family, operation["type"]) for family, operation in think(1)}
    assert {("record", kind) for kind in ("create", "revise", "delete", "derive", "review")} < thought
    assert ("relation", "assert") in thought
