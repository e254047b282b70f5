"""Archive and pin over the wire: receipts, entries of the stream, a standing beside the record (views.md)."""

from __future__ import annotations

import pytest

from relatum.limits import PINS_MAX
from tests.http.client import (
    ABSENT,
    INVALID,
    KEY_CONFLICT,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    STALE,
    Caller,
    Json,
    accepted,
    fresh,
    refusal,
)
from tests.judgments.over_http.calling import answered, change, compare, search, standing
from tests.views.over_http.calling import context, ids, mark, stand, status

UNTOUCHED = {"state": "current", "pinned": False, "superseded_by": None, "replaces": []}
ACTIONS = {"archive": "archived", "unarchive": "unarchived", "pin": "pinned", "unpin": "unpinned"}
UNDOES = {"unarchive": "archive", "unpin": "pin"}
LEAVES = {
    "archive": {**UNTOUCHED, "state": "archived"},
    "pin": {**UNTOUCHED, "pinned": True},
    "unarchive": UNTOUCHED,
    "unpin": UNTOUCHED,
}


def prepared(caller: Caller, kind: str) -> Json:
    """A record that a command may be given for."""
    record = caller.create()
    if kind in UNDOES:
        accepted(stand(caller, UNDOES[kind], record))
    return record


def last_change(caller: Caller) -> tuple[str, Json, str]:
    """What the record stream tells last: the kind of change, the record, the digest of the receipt."""
    page = answered(caller.ask(f"{RECORDS}/changes", query={"limit": 256}))["page"]
    told = page["changes"][-1]["change"]
    record = {"record_id": told["record_id"], "revision": told["record_revision"]}
    return told["kind"], record, told["receipt_digest"]


@pytest.mark.parametrize("kind", ACTIONS)
def test_a_command_has_a_receipt_and_an_entry_and_makes_no_revision(caller: Caller, kind: str) -> None:
    answered(caller.ask(f"{RECORDS}/changes/activate"))
    record = prepared(caller, kind)
    related = caller.relate(record, caller.create())
    before = answered(caller.ask(f"{RECORDS}/read", record_id=record["record_id"]))["record"]
    receipt = accepted(stand(caller, kind, record, key=f"the {kind}"))
    assert (ACTIONS[kind], record["record_id"], record["revision"]) == (
        receipt["action"],
        receipt["record_id"],
        receipt["revision"],
    )
    assert LEAVES[kind] == standing(caller, record)
    assert before == answered(caller.ask(f"{RECORDS}/read", record_id=record["record_id"]))["record"]
    told = answered(caller.ask("/api/v1/memory/relations/read", relation_id=related["relation_id"]))
    assert related["relation_id"] == told["relation"]["relation_id"]
    assert (ACTIONS[kind], record, receipt["receipt_digest"]) == last_change(caller)
    again = stand(caller, kind, record, key=f"the {kind}")
    assert receipt == accepted(again)
    known = caller.ask(RECEIPTS, family="record", idempotency_key=f"the {kind}")
    assert receipt == answered(known)["receipt"]
    assert KEY_CONFLICT == refusal(stand(caller, kind, caller.create(), key=f"the {kind}"))


@pytest.mark.parametrize("kind", ACTIONS)
def test_what_is_refused_and_in_which_order(caller: Caller, kind: str) -> None:
    record, gone = prepared(caller, kind), caller.create("gone")
    change(caller, "delete", gone)
    assert INVALID == refusal(stand(caller, kind, record, expected_revision=0))
    assert NO_RECORD == refusal(stand(caller, kind, record, record_id=ABSENT))
    assert STALE == refusal(stand(caller, kind, record, expected_revision=2))
    assert STALE == refusal(stand(caller, kind, gone))
    assert NO_RECORD == refusal(stand(caller, kind, gone, expected_revision=2))
    accepted(stand(caller, kind, record))
    assert INVALID == refusal(stand(caller, kind, record)), "what is so already"


def test_at_most_twenty_records_are_pinned_and_a_deleted_one_gives_way(caller: Caller) -> None:
    pinned = [caller.create(f"pin {number}") for number in range(PINS_MAX)]
    for one in pinned:
        accepted(stand(caller, "pin", one))
    more = caller.create("one too many")
    assert INVALID == refusal(stand(caller, "pin", more))
    assert UNTOUCHED == standing(caller, more)
    change(caller, "delete", pinned[7])
    accepted(stand(caller, "pin", more))
    assert INVALID == refusal(stand(caller, "pin", caller.create()))
    accepted(stand(caller, "unpin", pinned[3]))
    accepted(stand(caller, "pin", caller.create()))


def test_a_standing_stands_beside_the_record_wherever_it_is_answered(caller: Caller) -> None:
    old, new = caller.create("the ferry leaves at nine"), caller.create("the ferry leaves at ten")
    answered(compare(caller, new, old, "supersedes"))
    accepted(stand(caller, "pin", new))
    expected = {
        old["record_id"]: {**UNTOUCHED, "state": "superseded", "superseded_by": new["record_id"]},
        new["record_id"]: {**UNTOUCHED, "pinned": True, "replaces": ids(old)},
    }
    for record in (old, new):
        mine = expected[record["record_id"]]
        assert mine == standing(caller, record)
        assert mine == status(caller, record)["standing"]
        [annotated] = answered(caller.ask(f"{RECORDS}/annotated", record_ids=ids(record)))["records"]
        assert mine == annotated["standing"]
    [found] = search(caller, "ferry")
    assert expected[new["record_id"]] == found["standing"]
    entries = {one["record_id"]: one["standing"] for one in context(caller, "ferry")["entries"]}
    assert expected == entries
    read = answered(caller.ask(f"{RECORDS}/read", record_id=old["record_id"]))["record"]
    assert "standing" not in read


def test_a_mark_has_a_receipt_and_an_entry_and_makes_no_revision(caller: Caller) -> None:
    answered(caller.ask(f"{RECORDS}/changes/activate"))
    old, new = caller.create("nine"), caller.create("ten")
    receipt = accepted(mark(caller, old, new, confidence=0.5))
    assert ("marked_stale", 1) == (receipt["action"], receipt["revision"])
    assert ("marked_stale", old, receipt["receipt_digest"]) == last_change(caller)
    assert UNTOUCHED == standing(caller, old)


def test_what_is_wrong_with_a_mark(caller: Caller) -> None:
    old, new, gone = caller.create("nine"), caller.create("ten"), caller.create("gone")
    change(caller, "delete", gone)
    unknown = {"record_id": ABSENT, "revision": 1}
    assert INVALID == refusal(mark(caller, old, old))
    assert INVALID == refusal(mark(caller, old, {**new, "revision": 0}))
    assert INVALID == refusal(mark(caller, old, new, confidence=1.5))
    assert NO_RECORD == refusal(mark(caller, unknown, new))
    assert NO_RECORD == refusal(mark(caller, gone, new))
    assert NO_RECORD == refusal(mark(caller, old, unknown))
    assert NO_RECORD == refusal(mark(caller, old, {**gone, "revision": 2}))
    assert STALE == refusal(mark(caller, old, {**new, "revision": 2}))
    for number in range(16):
        accepted(mark(caller, old, caller.create(f"later {number}")))
    assert INVALID == refusal(mark(caller, old, caller.create("one too many")))


def test_commands_of_a_batch_may_change_standings(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    operations = [
        {"type": "archive", "record_id": one["record_id"], "expected_revision": 1},
        {"type": "archive", "record_id": one["record_id"], "expected_revision": 1},
        {"type": "mark_stale", "record_id": one["record_id"], "because": other},
    ]
    commands = [{"idempotency_key": fresh("key"), "operation": each} for each in operations]
    results = answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))["results"]
    assert ["receipt", "error", "receipt"] == [next(iter(result)) for result in results]
