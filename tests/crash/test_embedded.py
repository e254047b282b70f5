"""The process on the ledger itself, and its oracle: what it tells is what is stored, and a difference is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from crash_tests.embedded import Acknowledged, Plan, Reporter, check, live
from crash_tests.embedded.messages import Judgment, Memory, Message, Opened, Sent, Shown, Told, messages_in
from crash_tests.violation import Violation
from relatum.ledger import Ledger

PLAN = Plan(seed="a", commands=120, threads=2)
LIVES_MAX = 20
WANTED = {"Memory", "Judgment", "Saving", "CredentialChange", "create", "assert", "save"}
"""What two threads ask for is up to them as well as to the dice."""
CREATE = Memory(desk=0, family="record", operation={"type": "create", "record": {"content": "x"}})


def lived(directory: Path, plan: Plan = PLAN) -> bytes:
    """What a life on a store tells."""
    log = directory.with_name(f"{plan.seed}.told")
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT)
    try:
        assert live(directory, plan, Reporter(descriptor))
    finally:
        os.close(descriptor)
    return log.read_bytes()


def encoded(*messages: Message) -> bytes:
    """As the process writes them."""
    return msgspec.json.Encoder().encode_lines(messages)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_life_tells_what_it_leaves(store: Path) -> None:
    told = [lived(store), lived(store, Plan(seed="b", commands=30))]
    while not accepted_in(known := Acknowledged.read(*told)) >= WANTED:
        assert len(told) < LIVES_MAX
        told.append(lived(store, Plan(seed=f"life {len(told)}", commands=30)))
    checked = check(store, known, PLAN)
    assert checked.position > 50
    assert checked.replayed == sum(one.receipt is not None for one in known.commands.values())
    assert checked.present == checked.absent == 0


def accepted_in(known: Acknowledged) -> set[str]:
    """Families of the commands that were accepted, and types of their operations."""
    asked = [one.ask for one in known.commands.values() if one.receipt is not None]
    types = {one.operation["type"] for one in asked if isinstance(one, Memory | Judgment)}
    return {type(one).__name__ for one in asked} | types


def test_two_lives_of_one_seed_and_one_thread_are_the_same(store: Path) -> None:
    plan = Plan(seed="same", commands=40, threads=1, readers=0)
    told = [lived(store.with_name(name), plan) for name in ("one", "other")]
    asked = [[one.ask for one in messages_in(lines) if isinstance(one, Sent)] for lines in told]
    one, other = ([ask for ask in asks if isinstance(ask, Memory | Judgment)] for asks in asked)
    assert len(one) > 30
    assert one == other  # down to the ids that the ledger drew; digests depend on the key of each store


def test_commands_in_doubt_are_settled_and_counted(store: Path) -> None:
    told = lived(store)
    whole = list(messages_in(told))
    last = next(one for one in reversed(whole) if isinstance(one, Told) and one.receipt is not None)
    in_doubt = [one for one in whole if not (isinstance(one, Told) and one.id == last.id)]
    known = Acknowledged.read(encoded(*in_doubt, Sent(id="never submitted", ask=CREATE)))
    checked = check(store, known, PLAN)
    assert (checked.present, checked.absent) == (1, 1)
    assert not list(known.doubtful())


def test_a_judgment_in_doubt_is_settled_and_counted(store: Path) -> None:
    whole = list(messages_in(lived(store)))
    judgments = {one.id for one in whole if isinstance(one, Sent) and isinstance(one.ask, Judgment)}
    accepted = {one.id for one in whole if isinstance(one, Told) and one.id in judgments and one.receipt is not None}
    known = Acknowledged.read(encoded(*(one for one in whole if not (isinstance(one, Told) and one.id in judgments))))
    checked = check(store, known, PLAN)
    assert (checked.present, checked.absent) == (len(accepted), len(judgments - accepted))
    assert not list(known.doubtful())


def test_a_judgment_that_was_told_otherwise_is_noticed(store: Path) -> None:
    whole = list(messages_in(lived(store)))
    refused = {one.id for one in whole if isinstance(one, Sent) and isinstance(one.ask, Judgment)}
    lost = [Told(id=one.id, refusal="x") if isinstance(one, Told) and one.id in refused else one for one in whole]
    with pytest.raises(Violation, match=r"judgment.* is stored, and was refused or never sent"):
        check(store, Acknowledged.read(encoded(*lost)), PLAN)


def test_a_line_that_was_not_written_to_its_end_was_not_said() -> None:
    sent = Sent(id="1", ask=Memory(desk=0, family="record", operation={"type": "delete"}))
    told = encoded(sent, Told(id="1", receipt="{}"))
    assert not list(Acknowledged.read(told).doubtful())
    assert [one.sent for one in Acknowledged.read(told[:-1]).doubtful()] == [sent]


def test_what_is_told_while_a_state_is_fixed_may_be_there_or_not() -> None:
    sent = Sent(id="1", ask=Memory(desk=0, family="record", operation={"type": "delete"}))
    told = encoded(sent, Told(id="1", receipt="{}"))
    known = Acknowledged.read_split(told[:20], told[20:])
    [doubtful] = known.doubtful()
    assert doubtful.later == "{}"


def test_a_receipt_that_is_not_stored_is_noticed(store: Path) -> None:
    lived(store)
    sent = Sent(id="x", ask=CREATE)
    other = next(one for one in messages_in(lived(store.with_name("other"))) if isinstance(one, Told) and one.receipt)
    with pytest.raises(Violation, match=r"not stored|refused or never sent"):
        check(store, Acknowledged.read(encoded(Opened(), sent, Told(id="x", receipt=other.receipt))), PLAN)


def test_a_command_that_was_never_sent_is_noticed(store: Path) -> None:
    told = list(messages_in(lived(store)))
    memory = next(one.id for one in told if isinstance(one, Sent) and isinstance(one.ask, Memory))
    without = [one for one in told if not (isinstance(one, Sent | Told) and one.id == memory)]
    with pytest.raises(Violation, match="refused or never sent"):
        check(store, Acknowledged.read(encoded(*without)), PLAN)


def test_a_position_that_a_reader_was_shown_and_is_not_there_is_noticed(store: Path) -> None:
    told = lived(store)
    last = [one for one in messages_in(told) if isinstance(one, Shown)][-1]
    ahead = Shown(position=last.position + 1000, heads={})
    with pytest.raises(Violation, match="a reader was shown position"):
        check(store, Acknowledged.read(told + encoded(ahead)), PLAN)


def test_a_history_that_a_reader_was_shown_and_is_another_one_is_noticed(store: Path) -> None:
    told = lived(store)
    last = [one for one in messages_in(told) if isinstance(one, Shown)][-1]
    heads = {workspace: (sequence, "0" * 64) for workspace, (sequence, _) in last.heads.items()}
    with pytest.raises(Violation, match="a reader was shown event"):
        check(store, Acknowledged.read(told + encoded(Shown(position=1, heads=heads))), PLAN)


def test_a_store_that_was_never_opened_may_be_missing(store: Path) -> None:
    assert check(store, Acknowledged.read(b""), PLAN).position == 0


def test_a_store_that_was_opened_must_not_be_missing(store: Path) -> None:
    with pytest.raises(Violation, match="can't be opened"):
        check(store, Acknowledged.read(encoded(Opened())), PLAN)


def test_a_life_that_can_t_open_its_store_says_so(store: Path) -> None:
    log = store.with_name("told")
    with Ledger.open(store, create=True), log.open("wb") as output:
        assert not live(store, PLAN, Reporter(output.fileno()))
    with pytest.raises(Violation, match="directory in use"):
        Acknowledged.read(log.read_bytes())
