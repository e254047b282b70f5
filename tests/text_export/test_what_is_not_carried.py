"""What does not come back is counted, nothing active is lost unless somebody says so, and ids are given out once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from relatum.clock import ManualClock
from relatum.core.commands import SaveRecord
from relatum.core.digests import text_digest, text_root
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.text_export.export_errors import ExportRefused, ImportRefused
from relatum.ledger.text_export.importer import import_text
from relatum.ledger.text_export.manifest import MANIFEST_NAME
from tests.support import builders
from tests.support.builders import ADA, PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.history import every_kind_of_event
from tests.support.judging import JudgingDesk
from tests.support.steps import reached
from tests.text_export.carrying import carry, events, exported, files


def test_deleted_and_retired_are_counted_and_stop_nobody(desk: Desk, again: Ledger, tmp_path: Path) -> None:
    desk.delete(desk.create("gone", type="person"))
    desk.retire(desk.relate(desk.create("one"), desk.create("two")))
    left_out = carry(desk.ledger, again, tmp_path)
    assert {"deleted": {"person": 1}, "retired": {"memhtml-supports": 1}} == left_out


def test_equal_memory_has_an_equal_root_whatever_the_store_held_besides(
    desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    one, two = desk.create("one"), desk.create("two")
    desk.relate(one, two)
    before = exported(desk.ledger, tmp_path / "before")
    gone = desk.create("gone")
    desk.retire(desk.relate(gone, one))
    desk.delete(gone)
    after = exported(desk.ledger, tmp_path / "after")
    assert {"deleted": {"memory": 1}, "retired": {"memhtml-supports": 1}} == after.left_out
    assert (before.root, before.manifest) == (after.root, after.manifest)
    assert files(tmp_path / "before") == files(tmp_path / "after")


def test_a_manifest_that_still_tells_what_was_left_out_is_read(desk: Desk, again: Ledger, tmp_path: Path) -> None:
    desk.create("one")
    exported(desk.ledger, tmp_path / "text")
    manifest = tmp_path / "text" / MANIFEST_NAME
    counted = manifest.read_bytes().rpartition(b"root: ")[0] + b"left-out: deleted\n  memory: 3\n"
    found = {path: text_digest(data) for path, data in (files(tmp_path / "text") | {MANIFEST_NAME: counted}).items()}
    manifest.write_bytes(counted + f"root: {text_root(found)}\n".encode())
    assert {"deleted": {"memory": 3}} == import_text(again, tmp_path / "text").manifest.left_out


def test_earlier_revisions_and_candidates_are_told_as_history(judging: JudgingDesk, tmp_path: Path) -> None:
    desk = Desk(judging.ledger)
    one = judging.save("one")
    other = desk.revise(desk.revise(judging.save("another")))
    judging.submit((one, other))
    judging.confirm(one)
    told = exported(judging.ledger, tmp_path / "text").history
    assert {"earlier_revisions": 2, "pending_candidates": 1, "confirmations": 1} == {
        name: count for name, count in told.items() if count
    }


def _of_another_type(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two", type="person")
    desk.relate(one, two, "about_person")
    desk.revise(two, type="session")


def _to_deleted(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two")
    desk.relate(one, two)
    desk.delete(one)


def _to_expired(desk: Desk) -> None:
    desk.relate(desk.create("one"), desk.create("two", valid_until_millis=START_MILLIS + 10))


def _on_expired_evidence(desk: Desk) -> None:
    proof = desk.create("proof", valid_until_millis=START_MILLIS + 10)
    desk.relate(desk.create("one"), desk.create("two"), evidence_sources=(proof,))


def _derived_from_expired(desk: Desk) -> None:
    source = desk.create("one", valid_until_millis=START_MILLIS + 10)
    desk.relate(desk.derive(source), desk.create("two"))


def _superseded_by_deleted(desk: Desk) -> None:
    judging = JudgingDesk(desk.ledger)
    judging.save("nine", topic_key="t")
    desk.delete(judging.save("ten", topic_key="t"))
    judging.save("eleven", topic_key="t")


LOST = {
    _of_another_type: {"pinned-to-another-revision": {"memhtml-about-person": 1}},
    _to_deleted: {"end-deleted-or-left-out": {"memhtml-supports": 1}, "deleted": {"memory": 1}},
    _to_expired: {"end-ineligible": {"memhtml-supports": 1}},
    _on_expired_evidence: {"evidence-ineligible": {"memhtml-supports": 1}},
    _derived_from_expired: {
        "ancestry-ineligible": {"memory": 1},
        "end-deleted-or-left-out": {"memhtml-supports": 1},
    },
    _superseded_by_deleted: {
        "deleted": {"memory": 1},
        "end-deleted-or-left-out": {"memhtml-supersedes": 1},
        "superseder-left-out-so-archived": {"memory": 1},
    },
}


@pytest.mark.parametrize("history", LOST, ids=lambda history: history.__name__.strip("_"))
def test_what_is_active_is_left_out_only_where_somebody_says_so(
    desk: Desk, clock: ManualClock, again: Ledger, tmp_path: Path, history: Any
) -> None:
    history(desk)
    clock.advance(20)
    with pytest.raises(ExportRefused, match=r"would be lost: .*--leave-out-ineligible"):
        exported(desk.ledger, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
    assert LOST[history] == carry(desk.ledger, again, tmp_path, leave_out=True)


def test_what_expires_after_the_export_stops_the_import_before_anything_is_written(
    desk: Desk, clock: ManualClock, again: Ledger, tmp_path: Path
) -> None:
    soon = desk.create("one", valid_until_millis=START_MILLIS + 10)
    desk.relate(soon, desk.create("two"))
    desk.judge(desk.relate(soon, desk.derive(soon)), "approved")
    exported(desk.ledger, tmp_path / "text")
    clock.advance(20)
    with pytest.raises(ImportRefused, match="not eligible any more"):
        import_text(again, tmp_path / "text")
    assert [] == events(again)
    lost = import_text(again, tmp_path / "text", leave_out=True).lost
    assert {"memhtml-supports": 2, "memory": 1} == lost
    assert 2 == len(events(again))


def test_what_one_request_may_look_up_bounds_no_export(
    desk: Desk, again: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [desk.create(f"source {number}") for number in range(20)]
    for number in range(0, 20, 2):
        desk.relate(desk.derive(*sources[number : number + 2]), sources[0])
    monkeypatch.setattr("relatum.limits.DEPENDENCY_LOOKUPS_MAX", 4)
    assert {} == carry(desk.ledger, again, tmp_path)


def test_every_kind_of_history_can_be_carried(
    ledger: Ledger, clock: ManualClock, again: Ledger, tmp_path: Path
) -> None:
    with Ledger.in_memory(clock=clock) as lived:
        every_kind_of_event(lived, clock)
        left_out = carry(lived, again, tmp_path, leave_out=True)
    assert {"deleted", "retired", "end-deleted-or-left-out"} <= left_out.keys()


# The door for ids


def test_an_id_that_something_has_is_not_given_out_again(ledger: Ledger) -> None:
    desk = Desk(ledger)
    there = desk.create("there")
    for operation in (builders.create("another"), SaveRecord(record=builders.record("another"))):
        taken = ledger.restoration(PARTITION, ADA, "import/x", operation, {"record": there.record_id})
        [outcome] = ledger.restore([taken])
        assert isinstance(outcome, Refusal)
        assert "revision_conflict" == outcome.code


def test_a_command_of_an_import_is_refused_like_any_other(ledger: Ledger) -> None:
    blank = ledger.restoration(PARTITION, ADA, "import/x", builders.create(" "), {"record": builders.unknown_id()})
    [outcome] = ledger.restore([blank])
    assert isinstance(outcome, Refusal)
    assert reached(Desk(ledger).accept(builders.create())).revision == 1
