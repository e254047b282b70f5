"""Random histories of links, standings, marks and facts: rows follow from events, and views agree with a model."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from relatum.clock import ManualClock
from relatum.core.answers.receipts import LinkKind
from relatum.core.commands import MarkStale
from relatum.core.ids import Ref
from relatum.core.links import Link, LinkReceipt, Unlink
from relatum.core.view_queries import ValidateQuery
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import overview, validate
from tests.support.builders import PARTITION, SCOPE, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.stores import assert_rebuilds
from tests.views.asking import Asking

RECORDS = 4
NUMBERS = st.integers(0, RECORDS - 1)
KINDS = st.sampled_from(["related", "conflicts", "supports", "supersedes"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("link"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("unlink"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("archive"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("unarchive"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("pin"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("mark"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("revise"), NUMBERS, NUMBERS, KINDS),
        st.tuples(st.just("delete"), NUMBERS, NUMBERS, KINDS),
    ),
    max_size=20,
)


class Told:
    """The ledger, and beside it what somebody would note on paper."""

    def __init__(self, ledger: Ledger) -> None:
        self.desk, self.judging = Desk(ledger), JudgingDesk(ledger)
        self.refs = [self.desk.create("says 0", fact_key="fact") for _ in range(RECORDS)]
        self.says = dict.fromkeys(range(RECORDS), "says 0")
        self.links: dict[frozenset[int], tuple[int, LinkKind, int]] = {}
        self.marks: set[tuple[int, int]] = set()
        self.archived: set[int] = set()

    def take(self, step: str, one: int, other: int, kind: LinkKind) -> None:
        steps: dict[str, Callable[[int, int, LinkKind], None]] = {
            "link": self._link,
            "unlink": self._unlink,
            "mark": self._mark,
            "revise": self._revise,
            "delete": self._delete,
        }
        if step in steps:
            steps[step](one, other, kind)
            return
        outcome = getattr(self.judging, step)(self.refs[one])
        if not isinstance(outcome, Refusal) and step != "pin":
            (self.archived.add if step == "archive" else self.archived.discard)(one)

    def _submit(self, operation: Link | Unlink) -> bool:
        ledger, desk = self.desk.ledger, self.desk
        outcome = ledger.submit(ledger.command(PARTITION, desk.author, self.judging.key(), operation))
        return isinstance(outcome, LinkReceipt)

    def _link(self, one: int, other: int, kind: LinkKind) -> None:
        accepted = self._submit(Link(source_id=self._id(one), target_id=self._id(other), kind=kind))
        assert accepted is (one != other and {one, other} <= self.says.keys() - self.archived)
        if accepted:
            self.links[frozenset((one, other))] = (one, kind, other)

    def _unlink(self, one: int, other: int, _: LinkKind) -> None:
        accepted = self._submit(Unlink(source_id=self._id(one), target_id=self._id(other)))
        assert accepted is (self.links.pop(frozenset((one, other)), None) is not None)

    def _mark(self, one: int, other: int, _: LinkKind) -> None:
        mark = MarkStale(record_id=self._id(one), because=self.refs[other])
        if not isinstance(self.desk.submit(mark), Refusal):
            self.marks.add((one, other))

    def _revise(self, one: int, other: int, _: LinkKind) -> None:
        if one in self.says:
            self.says[one] = f"says {other}"
            self.refs[one] = self.desk.revise(self.refs[one], self.says[one], fact_key="fact")

    def _delete(self, one: int, _: int, __: LinkKind) -> None:
        if one in self.says:
            del self.says[one]
            self.refs[one] = self.desk.delete(self.refs[one])
            self.links = {pair: link for pair, link in self.links.items() if one not in pair}

    def _id(self, number: int) -> str:
        return self.refs[number].record_id


def ids(refs: list[Ref], numbers: set[int]) -> set[str]:
    return {refs[number].record_id for number in numbers}


@settings(deadline=None)
@given(STEPS)
def test_views_of_a_random_history_agree_with_what_was_noted(steps: list[tuple[str, int, int, LinkKind]]) -> None:
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        told = Told(ledger)
        for step in steps:
            told.take(*step)
        assert_rebuilds(ledger)
        with ledger.view() as view:
            partition = view.partition(PARTITION)
            shown = overview.overview(partition, view.now_millis, 200)
            checked = validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE))
        assert not isinstance(checked, Refusal)
        refs, alive = told.refs, told.says.keys()
        active = {link for pair, link in told.links.items() if not pair & told.archived}
        assert {(refs[one].record_id, kind, refs[other].record_id) for one, kind, other in active} == {
            (edge.source_id, edge.kind, edge.target_id) for edge in shown.edges
        }
        stale = {one for one, later in told.marks if one in alive and later in alive}
        conflicting = set(alive) if len({told.says[one] for one in alive}) > 1 else set()
        assert (len(alive), ids(refs, stale), ids(refs, conflicting)) == (
            checked.checked,
            set(checked.stale_ids),
            set(checked.conflict_ids),
        )
        expected = {
            refs[one].record_id: "conflict" if one in conflicting else "stale" if one in stale else "unverified"
            for one in alive
        }
        found = {one.record_id: one.status for one in Asking(ledger).statuses(*refs).statuses}
        assert {record_id: expected.get(record_id) for record_id in found} == found
