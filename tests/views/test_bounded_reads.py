"""What views cost is counted in reads of the engine: none asks for a row per row, and each says where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from relatum.clock import ManualClock
from relatum.core.answers.context import Context
from relatum.core.answers.survey import Health
from relatum.core.ids import Ref
from relatum.core.links import Link
from relatum.core.queries import RecordFilter
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import context as contexts
from relatum.ledger.reads import (
    context_edges,
    context_ranking,
    health,
    overview,
    partition_statistics,
    status,
    validate,
)
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from tests.support.builders import PARTITION, SCOPE, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

SIZES = (120, 240)


class Counted:
    """A reader that counts what is asked of it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.gets = self.scans = self.rows = 0

    def get(self, key: bytes) -> bytes | None:
        self.gets += 1
        return self._reader.get(key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        self.scans += 1
        for row in self._reader.scan(start, stop, reverse=reverse):
            self.rows += 1
            yield row


Read = Callable[[Ledger, PartitionReader, int], object]


def read_context(ledger: Ledger, partition: PartitionReader, now: int) -> object:
    with ledger.view() as view:
        around = view.surroundings(partition, "ferry")
    return contexts.context(partition, now, around)


def read_broadly(ledger: Ledger, partition: PartitionReader, now: int) -> object:
    with ledger.view() as view:
        around = view.surroundings(partition, "everything of the same day")
    return contexts.context(partition, now, around)


READS: dict[str, Read] = {
    "health": lambda _, partition, now: health.health(partition, now),
    "overview": lambda _, partition, now: overview.overview(partition, now, 10),
    "validate": lambda _, partition, _now: validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE)),
    "context": read_context,
    "context of a prompt that everything matches": read_broadly,
}


def filled(records: int) -> Ledger:
    """A ledger whose records are joined by relations and links, some of them pinned, marked, superseded or waiting."""
    clock = ManualClock(START_MILLIS)
    ledger = Ledger.in_memory(clock=clock)
    desk, judging = Desk(ledger), JudgingDesk(ledger)
    refs = []
    for at in range(records):
        clock.advance(1)
        refs.append(desk.create(f"everything of the same day {at} " + "filling " * 80, fact_key=f"fact {at}"))
    for at in range(0, records - 2, 2):
        desk.relate(refs[at], refs[at + 2])
        link = Link(source_id=refs[at].record_id, target_id=refs[at + 1].record_id, kind="related")
        ledger.submit(ledger.command(PARTITION, desk.author, f"link {at}", link))
        judging.submit((refs[at], refs[at + 1]))
    for ferry in range(3):
        ferries = [desk.create(f"ferry {ferry} " + "filling " * 80), refs[ferry]]
        desk.relate(ferries[0], ferries[1])
        judging.pin(ferries[0])
    judging.compare(refs[-1], refs[-2], "supersedes")
    return ledger


@pytest.fixture(scope="module")
def ledgers() -> Iterator[list[Ledger]]:
    opened = [filled(size) for size in SIZES]
    yield opened
    for ledger in opened:
        ledger.close()


@pytest.mark.parametrize("name", READS)
def test_look_ups_and_scans_do_not_grow_with_the_partition(name: str, ledgers: list[Ledger]) -> None:
    costs = []
    for ledger in ledgers:
        with ledger.view() as view:
            partition = view.partition(PARTITION)
            READS[name](ledger, partition, view.now_millis)  # the index comes up to date
            counted = Counted(partition.reader)
            READS[name](ledger, PartitionReader(counted, PARTITION), view.now_millis)
            costs.append((counted.gets, counted.scans))
    assert costs[0] == costs[1]


def test_a_filter_of_statuses_reads_no_further_than_its_page(ledgers: list[Ledger]) -> None:
    costs = []
    for ledger in ledgers:
        asked = StatusQuery(contract_version=1, scope=SCOPE, filter=RecordFilter(limit=10, order="created_asc"))
        with ledger.view() as view:
            counted = Counted(view.partition(PARTITION).reader)
            found = validate.statuses(PartitionReader(counted, PARTITION), view.now_millis, view.store_key, asked)
        assert not isinstance(found, Refusal)
        assert (10, "record_limit") == (len(found.statuses), found.stop_reason)
        costs.append((counted.gets, counted.scans))
    assert costs[0] == costs[1]


def group(desk: Desk, members: int) -> list[Ref]:
    """Records that all say something else of one fact."""
    return [desk.create(f"at {number}", fact_key="departure") for number in range(members)]


def test_a_fact_is_read_once_however_many_say_something_of_it(desk: Desk, ledger: Ledger) -> None:
    refs = group(desk, 40)
    asked = StatusQuery(contract_version=1, scope=SCOPE, record_ids=tuple(one.record_id for one in refs))
    with ledger.view() as view:
        counted = Counted(view.partition(PARTITION).reader)
        found = validate.statuses(PartitionReader(counted, PARTITION), view.now_millis, view.store_key, asked)
    assert not isinstance(found, Refusal)
    assert (40, True) == (found.coverage.fact_entries_examined, found.coverage.complete)
    assert {39} == {len(one.reasons) for one in found.statuses}
    assert counted.rows == 40, "and nothing else is scanned: nobody has relations, nobody replaces"


def test_reasons_are_at_most_a_hundred(desk: Desk, ledger: Ledger) -> None:
    refs = group(desk, status.REASONS_MAX + 5)
    asked = StatusQuery(contract_version=1, scope=SCOPE, record_ids=(refs[0].record_id,))
    with ledger.view() as view:
        found = validate.statuses(view.partition(PARTITION), view.now_millis, view.store_key, asked)
    assert not isinstance(found, Refusal)
    assert ("conflict", status.REASONS_MAX) == (found.statuses[0].status, len(found.statuses[0].reasons))
    assert ("reasons",) == found.statuses[0].incomplete


# Each bound is named where it is met. The bounds are made small; they are read when a view is asked for.


def ask_health(ledger: Ledger) -> Health:
    with ledger.view() as view:
        return health.health(view.partition(PARTITION), view.now_millis)


@pytest.mark.parametrize(
    ("bound", "stop"),
    [
        ("RECORDS_MAX", "record_limit"),
        ("RELATIONS_MAX", "scan_limit"),
        ("LINKS_MAX", "scan_limit"),
        ("STANDINGS_MAX", "scan_limit"),
        ("PENDING_MAX", "scan_limit"),
    ],
)
def test_a_survey_names_the_bound_that_it_met(
    ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch, bound: str, stop: str
) -> None:
    assert ((), True) == ((whole := ask_health(ledgers[0]).coverage).stop_reasons, whole.complete)
    monkeypatch.setattr(partition_statistics, bound, 2)
    cut = ask_health(ledgers[0]).coverage
    assert ((stop,), False) == (cut.stop_reasons, cut.complete)


@pytest.mark.parametrize(("module", "bound"), [(partition_statistics, "RECORDS_MAX"), (validate, "RECORDS_MAX")])
def test_tombstones_count_against_a_bound(
    desk: Desk, ledger: Ledger, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, module: object, bound: str
) -> None:
    desk.create("older than those that are gone")
    clock.advance(1)
    for _ in range(4):
        desk.delete(desk.create())
    monkeypatch.setattr(module, bound, 4)
    with ledger.view() as view:
        partition = view.partition(PARTITION)
        if module is partition_statistics:
            found = health.health(partition, view.now_millis)
            assert (0, ("record_limit",)) == (found.records, found.coverage.stop_reasons)
        else:
            checked = validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE))
            assert not isinstance(checked, Refusal)
            assert (0, ("record_limit",)) == (checked.checked, checked.coverage.stop_reasons)


@pytest.mark.parametrize(
    ("module", "bound", "stop"),
    [
        (context_ranking, "STANDINGS_MAX", "scan_limit"),
        (context_ranking, "PENDING_MAX", "scan_limit"),
        (context_edges, "LINKS_MAX", "scan_limit"),
        (context_edges, "ENTRIES_MAX", "scan_limit"),
        (context_edges, "MATCHES_MAX", "match_limit"),
    ],
)
def test_a_block_names_the_bound_that_it_met(
    ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch, module: object, bound: str, stop: str
) -> None:
    monkeypatch.setattr(module, bound, 1)
    ledger = ledgers[0]
    with ledger.view() as view:
        found = read_context(ledger, view.partition(PARTITION), view.now_millis)
    assert isinstance(found, Context)
    assert ((stop,), False) == (found.coverage.stop_reasons, found.coverage.complete)


def ask_statuses(ledger: Ledger, *refs: Ref) -> validate.StatusPage:
    asked = StatusQuery(contract_version=1, scope=SCOPE, record_ids=tuple(one.record_id for one in refs))
    with ledger.view() as view:
        found = validate.statuses(view.partition(PARTITION), view.now_millis, view.store_key, asked)
    assert not isinstance(found, Refusal)
    return found


def test_a_count_that_a_hub_cut_short_says_so_itself(
    desk: Desk, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet, hub, behind = desk.create("quiet"), desk.create("hub"), desk.create("behind the hub")
    for number in range(6):
        desk.relate(hub, desk.create(f"partner {number}"), "contradicts")
    desk.relate(quiet, behind, "contradicts")
    whole = ask_statuses(ledger, quiet, hub, behind)
    assert [(1, ()), (6, ()), (1, ())] == [(one.contested_count, one.incomplete) for one in whole.statuses]
    monkeypatch.setattr(status, "INDEX_ENTRIES_MAX", 4)
    cut = ask_statuses(ledger, quiet, hub, behind)
    short = ("contested_count",)
    assert [(1, ()), (3, short), (0, short)] == [(one.contested_count, one.incomplete) for one in cut.statuses]
    assert not cut.coverage.complete


def test_a_status_that_a_bound_cut_short_says_so_itself(
    desk: Desk, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = sorted(group(desk, 6), key=lambda one: one.record_id)
    derived, plain = desk.derive(refs[0]), desk.create("of no fact")
    monkeypatch.setattr(status, "FACT_ENTRIES_MAX", 3)
    cut = ask_statuses(ledger, refs[0], derived, plain)
    assert [("conflict", ("reasons",)), ("conflict", ("reasons",)), ("unverified", ())] == [
        (one.status, one.incomplete) for one in cut.statuses
    ]
    monkeypatch.setattr(status, "FACT_ENTRIES_MAX", 1)
    alone = ask_statuses(ledger, refs[0], plain)
    assert [("unverified", ("status", "reasons")), ("unverified", ())] == [
        (one.status, one.incomplete) for one in alone.statuses
    ]


def test_an_overview_has_a_bound_of_edges(ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "EDGES_MAX", 4)
    with ledgers[0].view() as view:
        found = overview.overview(view.partition(PARTITION), view.now_millis, 200)
    assert (4, ("edge_limit",)) == (len(found.edges), found.coverage.stop_reasons)
