"""A command that fails inside the ledger leaves nothing in its group: no row, no head, no count, nothing remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from relatum.core.changes import JournalHead
from relatum.core.events import Event
from relatum.core.receipts import RelationReceipt
from relatum.core.streams import Stream
from relatum.errors import Failure, Refusal, StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.writer.group import CommandFailed, Group
from relatum.ledger.writer.submission import MemorySubmission, Outcome
from relatum.limits import U64_MAX
from relatum.store import rows
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging
from relatum.store.rows import Position
from tests.support import builders
from tests.support.desk import Desk
from tests.support.steps import Operation

FAILING = "failing"
"""The key of the command at which the projection breaks, after it has staged everything."""


class Draws:
    """Draws by number, so that a command gets the same ones whatever else its group decides."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def draw(self, size: int) -> bytes:
        return next(self._numbers).to_bytes(size, "big")


@pytest.fixture(autouse=True)
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    advance = Staging.advance

    def breaking(staging: Staging, event: Event, streams: dict[Stream, JournalHead]) -> None:
        advance(staging, event, streams)
        receipt = getattr(event, "receipt", None)
        if receipt is not None and receipt.idempotency_key == FAILING:
            raise RuntimeError("a planted fault")

    monkeypatch.setattr(Staging, "advance", breaking)


def decided(
    ledger: Ledger, commands: Sequence[MemorySubmission], numbers: Sequence[int]
) -> tuple[list[Outcome], dict[bytes, bytes | None], Position]:
    """The outcomes of a group, all rows it would write, and where the store would stand."""
    group = Group(ledger._database.store, Draws(numbers), ledger.clock.millis())
    outcomes = [group.decide(one) for one in commands]
    return outcomes, group.staged.rows(), group.position_after(ledger._database.position)


class Scene:
    """Two records, a relation between them, and a record that holds a slot and says something of a fact."""

    def __init__(self, desk: Desk) -> None:
        self.source, self.target = desk.create("one"), desk.create("two")
        self.holder = desk.create("three", topic_key="slot", fact_key="moon")
        self.known = desk.relate(self.source, self.target)

    def neighbours(self) -> list[Operation]:
        """What the others of the group do, on the rows that the failing command touches too."""
        return [
            builders.assertion(self.source, self.target),
            builders.create("four", topic_key="free", fact_key="moon"),
            builders.retire(self.known.relation_id, 1),
            builders.revise(self.holder, "five", topic_key="other"),
            builders.assertion(self.target, self.source),
        ]


FAILURES: dict[str, Callable[[Scene], Operation]] = {
    "assert": lambda scene: builders.assertion(scene.source, scene.target),
    "retire": lambda scene: builders.retire(scene.known.relation_id, 1),
    "create": lambda scene: builders.create("six", topic_key="free", fact_key="moon"),
    "revise": lambda scene: builders.revise(scene.holder, "seven", topic_key="third", fact_key="sun"),
    "delete": lambda scene: builders.delete(scene.holder),
}


REFUSED_FROM = {"create": 2, "retire": 3, "revise": 4, "delete": 4}
"""Behind this neighbour a command is refused before it comes to the fault, since it sees what the neighbour did."""


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("place", range(6))
def test_a_group_is_what_it_would_be_without_a_command_that_fails(
    ledger: Ledger, desk: Desk, kind: str, place: int
) -> None:
    scene = Scene(desk)
    commands = [desk.command(one) for one in scene.neighbours()]
    failing = desk.command(FAILURES[kind](scene), FAILING)
    numbers = range(100, 105)
    alone = decided(ledger, commands, numbers)
    outcomes, rows, position = decided(
        ledger, [*commands[:place], failing, *commands[place:]], [*numbers[:place], 999, *numbers[place:]]
    )
    failed = outcomes.pop(place)
    assert isinstance(failed, Refusal if place >= REFUSED_FROM.get(kind, 6) else CommandFailed)
    assert not any(isinstance(one, Refusal | Failure) for one in outcomes)
    assert alone == (outcomes, rows, position)


def test_a_group_of_failures_alone_writes_nothing(ledger: Ledger, desk: Desk) -> None:
    scene = Scene(desk)
    commands = [desk.command(make(scene), FAILING) for make in FAILURES.values()]
    outcomes, rows, position = decided(ledger, commands, range(5))
    assert [CommandFailed] * 5 == [type(one) for one in outcomes]
    assert {} == rows
    assert ledger._database.position.position == position.position


@pytest.mark.parametrize("counted", [0, U64_MAX])
def test_a_header_that_cannot_have_counted_what_is_there_fails_its_command_alone(
    ledger: Ledger, desk: Desk, counted: int
) -> None:
    scene, other = Scene(desk), desk.create("eight")
    store = ledger._database.store
    header = PartitionReader(store, desk.partition).keys.header(scene.source.record_id, scene.source.revision)
    store.write({header: rows.seal(header, rows.Completeness(outgoing_count=counted).pack())})
    on_it = scene.neighbours()[0] if counted else builders.retire(scene.known.relation_id, 1)
    commands = [desk.command(one) for one in (on_it, builders.assertion(other, scene.target))]
    outcomes, written, _ = decided(ledger, commands, [1, 2])
    assert [StorageInconsistency, RelationReceipt] == [type(one) for one in outcomes]
    assert header not in written
