"""The look at checkpoints after a restart notices progress that is lost, and progress that nobody made."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from crash_tests.consumers.consumer import Consumer
from crash_tests.history import Command, Json, Owner
from crash_tests.progress import Progress
from crash_tests.random_draws import seeded
from crash_tests.violation import Violation
from tests.crash.told import OWNER, consumer, cursor, save, saved


class Server:
    """Stands where a restarted server would: a sound one, until a test makes it say something else."""

    def __init__(self, receipts: list[bytes], tip: int) -> None:
        self.receipts = receipts
        self.tip = tip
        self.replayed: bytes | str | None = None
        self.read: bytes | None = None
        self.diagnosed: Json = {}

    def checkpoint(self, owner: Owner) -> Json | None:
        if not self.receipts:
            return None
        found: Json = msgspec.json.decode(self.receipts[-1])["checkpoint"]
        return found

    def checkpoint_receipt(self, owner: Owner, revision: int) -> bytes | None:
        return self.receipts[revision - 1] if revision <= len(self.receipts) else None

    def send(self, command: Command) -> bytes | str | None:
        return self.replayed or command.receipt

    def receipt_of(self, command: Command) -> bytes | None:
        return self.read or command.receipt

    def diagnosis(self, owner: Owner, place: Json | None) -> Json:
        checkpoint = self.checkpoint(owner)
        assert checkpoint is not None
        assert place is not None
        saved_at = checkpoint["cursor"]["sequence"]
        told = {
            "consumer_id": OWNER.consumer_id,
            "active": True,
            "baseline": cursor(0),
            "high_watermark": cursor(self.tip),
            "checkpoint": checkpoint,
            "checkpoint_status": "compatible",
            "pending_positions": self.tip - saved_at,
            "witness_status": "compatible",
            "checkpoint_relative_to_witness": "before" if saved_at < place["sequence"] else "equal",
        }
        return told | self.diagnosed


def at_revision(number: int) -> Consumer:
    """A consumer with so many acknowledged saves."""
    one = consumer(2)
    for key in range(1, number + 1):
        one.learn(saved(save(one, f"key {key}")))
    return one


def receipts_of(one: Consumer) -> list[bytes]:
    return [command.receipt for command in one.saved if command.receipt is not None]


def look(one: Consumer, server: Server) -> Progress:
    progress = Progress([one])
    progress.look(server)  # type: ignore[arg-type]  # a stand-in
    return progress


def judge(one: Consumer, server: Server) -> int:
    return look(one, server).check(server, seeded(1))  # type: ignore[arg-type]  # a stand-in


def test_what_was_acknowledged_is_there() -> None:
    one = at_revision(3)
    assert 3 == judge(one, Server(receipts_of(one), one.heard.last))


def test_a_command_in_doubt_may_be_there_or_not() -> None:
    one = at_revision(2)
    one.asked = save(one, "key 3")
    before = receipts_of(one)
    look(one, Server(before, 5))
    look(one, Server([*before, receipt(save(one, "key 3"))], 5))


def receipt(command: Command) -> bytes:
    found = saved(command).receipt
    assert found is not None
    return found


def ahead(one: Consumer) -> bytes:
    """What would save a place further on."""
    return receipt(save(one, "key 9", cursor=cursor(4)))


BEYOND: dict[str, tuple[Callable[[Consumer], list[bytes]], bool]] = {
    "an acknowledged save is lost": (lambda one: receipts_of(one)[:-1], True),
    "every save is lost": (lambda _: [], True),
    "progress was made that nobody asked for": (lambda one: [*receipts_of(one), ahead(one)], False),
    "the command in doubt saved another place": (lambda one: [*receipts_of(one), ahead(one)], True),
}


@pytest.mark.parametrize(("receipts", "in_doubt"), BEYOND.values(), ids=BEYOND)
def test_progress_beyond_what_was_acknowledged_and_asked_for_is_noticed(
    receipts: Callable[[Consumer], list[bytes]], in_doubt: bool
) -> None:
    one = at_revision(2)
    found = receipts(one)
    if in_doubt:
        one.asked = save(one, "key 3")
    with pytest.raises(Violation, match="the checkpoint of the consumer 'mirror'"):
        look(one, Server(found, 5))


def test_a_command_in_doubt_that_must_be_refused_may_not_be_there() -> None:
    one = at_revision(2)
    one.asked = save(one, "key 3", cursor=cursor(1))
    with pytest.raises(Violation, match="the checkpoint of the consumer 'mirror'"):
        look(one, Server([*receipts_of(one), receipt(save(one, "key 3", cursor=cursor(1)))], 5))


def test_a_save_that_was_there_and_is_settled_as_another_is_noticed() -> None:
    one = at_revision(2)
    one.asked = save(one, "key 3")
    first = receipt(save(one, "key 3"))
    progress = look(one, Server([*receipts_of(one), first], 5))
    one.learn(saved(save(one, "key 3"), updated_at_millis=8))
    with pytest.raises(Violation, match="not among the last ones any more"):
        progress.check(Server(receipts_of(one), 5), seeded(1))  # type: ignore[arg-type]  # a stand-in


def test_a_revision_beyond_the_last_is_noticed() -> None:
    one = at_revision(2)
    server = Server(receipts_of(one), 5)
    server.checkpoint_receipt = lambda owner, revision: b"{}"  # type: ignore[method-assign]
    with pytest.raises(Violation, match="beyond its last revision"):
        judge(one, server)


def test_a_revision_that_is_missing_or_another_is_noticed() -> None:
    one = at_revision(3)
    first, second, third = receipts_of(one)
    for receipts in ([first, first, third], [second, first, third]):
        with pytest.raises(Violation, match="the receipt of revision"):
            judge(one, Server(receipts, 5))


@pytest.mark.parametrize("answer", [b"{}", "checkpoint_regression"])
def test_a_replay_that_differs_is_noticed(answer: bytes | str) -> None:
    one = at_revision(2)
    server = Server(receipts_of(one), 5)
    server.replayed = answer
    with pytest.raises(Violation, match="replayed"):
        judge(one, server)


def test_a_receipt_that_is_read_otherwise_is_noticed() -> None:
    one = at_revision(2)
    server = Server(receipts_of(one), 5)
    server.read = b"{}"
    with pytest.raises(Violation, match=", read: expected"):
        judge(one, server)


DIAGNOSED: dict[str, Json] = {
    "changes are missing": {"high_watermark": cursor(4), "pending_positions": 2},
    "the checkpoint is off its journal": {"checkpoint_status": "history_incompatible"},
    "the consumer's place is off its journal": {"witness_status": "history_incompatible"},
    "another place is pending": {"pending_positions": 1},
}


@pytest.mark.parametrize("diagnosed", DIAGNOSED.values(), ids=DIAGNOSED)
def test_a_diagnosis_that_knows_less_is_noticed(diagnosed: Json) -> None:
    one = at_revision(2)
    server = Server(receipts_of(one), 5)
    server.diagnosed = diagnosed
    with pytest.raises(Violation, match="the diagnosis of the consumer 'mirror'"):
        judge(one, server)
