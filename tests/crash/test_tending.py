"""What was asked for in the scope that is tended: whatever was answered lasts, and a difference is noticed."""

from __future__ import annotations

import pytest

from crash_tests.curation_workload.outcomes import Tended
from crash_tests.curation_workload.requests import JUDGMENTS, Ideas, Known, Request
from crash_tests.history import Account, Json
from crash_tests.inspection.claims import NO_RECEIPT, Claim
from crash_tests.violation import Violation
from tests.support.builders import ADA

RECEIPT: Json = {"record_id": "1", "revision": 1}
SAVED: Json = {"receipt": RECEIPT, "candidates": [], "candidates_detected": 0}


def request(kind: str = "save", key: str = "key 1", **members: object) -> Request:
    return Request(kind, "/path", {"idempotency_key": key, **members})


@pytest.fixture
def tended() -> Tended:
    return Tended(Account("acme", ADA.subject_id, ADA.credential_id, "a secret"))


def claims_of(tended: Tended) -> list[tuple[str, str | None, bool]]:
    return [(claim.family, claim.receipt, claim.settled) for claim in tended.claims()]


def test_what_was_not_answered_is_in_doubt_and_may_be_stored(tended: Tended) -> None:
    tended.ask(request())
    assert [request()] == tended.unknown()
    assert [("record", None, False)] == claims_of(tended)


def test_what_was_answered_must_be_stored_with_its_receipt(tended: Tended) -> None:
    tended.ask(request())
    tended.answer(request(), SAVED)
    assert [] == tended.unknown()
    [claim] = tended.claims()
    assert isinstance(claim, Claim)
    assert ("record", '{"record_id":"1","revision":1}', True) == (claim.family, claim.receipt, claim.settled)


def test_what_was_answered_without_a_receipt_must_be_stored_all_the_same(tended: Tended) -> None:
    tended.ask(request("sweep"))
    tended.answer(request("sweep"), {"run_id": "1", "operations": []})
    assert [("judgment", None, True)] == claims_of(tended)


def test_what_was_refused_must_not_be_stored(tended: Tended) -> None:
    tended.ask(request())
    tended.refuse(request())
    assert [] == claims_of(tended)


def test_each_item_of_a_batch_is_looked_up_by_itself(tended: Tended) -> None:
    batch = request("batch", judgments=[{}, {}])
    tended.ask(batch)
    assert [("judgment/0", None, False), ("judgment/1", None, False)] == claims_of(tended)
    receipt = {"relation_id": "2", "revision": 1}
    tended.answer(batch, {"results": [{"ok": False, "code": "x"}, {"ok": True, "receipt": receipt}]})
    told = '{"relation_id":"2","revision":1}'
    assert [("judgment/0", NO_RECEIPT, True), ("judgment/1", told, True)] == claims_of(tended)


def test_another_answer_is_noticed(tended: Tended) -> None:
    tended.answer(request(), SAVED)
    with pytest.raises(Violation, match="the answer to key 1"):
        tended.answer(request(), {**SAVED, "candidates_detected": 1})


def test_what_is_accepted_and_refused_is_noticed(tended: Tended) -> None:
    tended.answer(request(), SAVED)
    with pytest.raises(Violation, match="accepted and then refused"):
        tended.refuse(request())
    tended.refuse(request(key="key 2"))
    with pytest.raises(Violation, match="refused and then accepted"):
        tended.answer(request(key="key 2"), SAVED)


def test_ideas_of_one_name_are_the_same_and_of_every_kind() -> None:
    known = Known(records=["1", "2", "3"], candidates=["4"], relations={"5": 1}, undoable=[{"run_id": "6"}])
    assert Ideas(known, "x").next() == Ideas(known, "x").next()
    ideas = Ideas(known, "y")
    kinds = {ideas.next().kind for _ in range(300)}
    drawn = "save batch compare submit sweep undo confirm change stand mark link promote"
    assert kinds == set(drawn.split())
    assert JUDGMENTS in {ideas.next().path.rpartition("/")[0] for _ in range(100)}
