"""What consumers ask of their checkpoints, and what they must not be answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from crash_tests.consumers.checkpoint_writer import Saver
from crash_tests.consumers.consumer import Consumer
from crash_tests.history import Command
from crash_tests.random_draws import seeded
from crash_tests.store_clients import Ground
from crash_tests.violation import Violation
from tests.crash.scripted import Running, Scripted, answer, error
from tests.crash.told import ACCOUNT, DESK, cursor, delivery, save, saved


@dataclass
class Rig:
    """A consumer that has taken two changes, and one who saves for it."""

    connection: Scripted = field(default_factory=Scripted)
    server: Running = field(default_factory=Running)
    ground: Ground = field(default_factory=lambda: Ground([ACCOUNT], [DESK]))
    sendings: int = 0

    def __post_init__(self) -> None:
        self.saver = Saver(self.ground, self.server, seeded(3), self.count)  # type: ignore[arg-type]  # a stand-in
        self.consumer = self.ground.consumers("pager")[0]
        self.consumer.heard.begin(cursor(0))
        for sequence in (1, 2):
            self.consumer.take(delivery(sequence))

    def count(self) -> None:
        self.sendings += 1

    def sent(self, command: Command) -> None:
        self.saver._send(self.connection, self.consumer, command)  # type: ignore[arg-type]  # a stand-in

    def save(self, key: str = "key 1", **operation: Any) -> Command:
        """A command of its own, entered."""
        command = save(self.consumer, key, **operation)
        command.owner = self.consumer.owner
        self.ground.history.enter(command)
        return command

    def accepted(self, command: Command) -> None:
        """Sent, and answered as it must be."""
        self.connection.told(200, answer(receipt_of(command)))
        self.sent(command)


def receipt_of(command: Command) -> bytes:
    assert command.owner is not None
    receipt = saved(command, consumer_id=command.owner.consumer_id).receipt
    command.receipt = None
    assert receipt is not None
    return receipt


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_an_accepted_save_is_remembered_as_it_was_answered(rig: Rig) -> None:
    command = rig.save()
    rig.accepted(command)
    assert ([command], None, 1) == (rig.consumer.saved, rig.consumer.doubt, rig.sendings)
    assert [command] == rig.ground.history.saved()
    assert [] == rig.ground.history.accepted()


def test_a_save_without_an_answer_stays_in_doubt_and_is_the_only_thing_that_is_sent(rig: Rig) -> None:
    command = rig.save()
    rig.connection.told(503, error("write_busy"))
    rig.sent(command)
    assert rig.consumer.doubt is command
    rig.connection.told(200, answer(receipt_of(command)))
    rig.saver.step(rig.connection, rig.consumer)  # type: ignore[arg-type]  # a stand-in
    assert [command] == rig.consumer.saved
    assert not command.unknown


def test_a_sound_save_that_is_refused_is_noticed(rig: Rig) -> None:
    rig.connection.told(409, error("checkpoint_regression"))
    with pytest.raises(Violation, match="expected None, found '409 checkpoint_regression'"):
        rig.sent(rig.save())


def test_an_unsound_save_that_is_refused_for_another_reason_is_noticed(rig: Rig) -> None:
    rig.accepted(rig.save())
    backwards = rig.save("key 2", cursor=cursor(1))
    rig.connection.told(409, error("checkpoint_regression"))
    rig.sent(backwards)
    assert backwards.refused
    rig.connection.told(409, error("revision_conflict"))
    with pytest.raises(Violation, match="expected '409 checkpoint_regression', found '409 revision_conflict'"):
        rig.sent(rig.save("key 3", cursor=cursor(1)))


@pytest.mark.parametrize(("status", "code"), [(500, "storage_inconsistency"), (503, "storage_unavailable")])
def test_what_a_healthy_server_never_answers_to_a_save_is_noticed(rig: Rig, status: int, code: str) -> None:
    rig.connection.told(status, error(code))
    with pytest.raises(Violation, match=f"{status} {code}"):
        rig.sent(rig.save())


def test_a_replay_with_another_byte_is_noticed(rig: Rig) -> None:
    command = rig.save()
    rig.accepted(command)
    assert command.receipt is not None
    rig.connection.told(200, answer(command.receipt.replace(b":7,", b":8,")))
    with pytest.raises(Violation, match="replayed with another receipt"):
        rig.saver._replay(rig.connection, command)  # type: ignore[arg-type]  # a stand-in


def test_a_key_that_is_taken_and_taken_again_is_noticed(rig: Rig) -> None:
    command = rig.save()
    rig.accepted(command)
    rig.connection.told(409, error("journal_history_conflict"))
    with pytest.raises(Violation, match=r"another command under the key of .* 409 journal_history_conflict"):
        rig.saver._reuse_taken_key(rig.connection, rig.consumer, command)  # type: ignore[arg-type]  # a stand-in


def test_commands_are_sound_and_unsound_in_every_way(rig: Rig) -> None:
    refusals: dict[str | None, int] = {}
    kinds: set[str] = set()
    for number in range(400):
        command = rig.saver._command(rig.consumer)
        assert command is not None
        refusal = rig.consumer.refusal_of(command)
        refusals[refusal] = refusals.get(refusal, 0) + 1
        kinds.add(command.operation["type"])
        if refusal is None:
            command.idempotency_key = f"key {number}"
            rig.consumer.learn(saved(command, consumer_id=rig.consumer.owner.consumer_id))
    assert {"advance", "reconcile"} == kinds
    expected = {None, "revision_conflict", "journal_history_conflict", "checkpoint_regression", "invalid_request"}
    assert expected >= refusals.keys() >= expected - {"invalid_request"}
    assert 280 < refusals[None]


def test_nothing_is_saved_of_a_stream_that_has_not_begun() -> None:
    ground = Ground([ACCOUNT], [DESK])
    saver = Saver(ground, Running(), seeded(3), lambda: None)  # type: ignore[arg-type]  # a stand-in
    one: Consumer = ground.consumers("pager")[0]
    assert saver._command(one) is None
