"""Every fault that the crash tests plant in rows, with all checksums in order, is found by the verification too."""

from __future__ import annotations

from pathlib import Path

import pytest

from relatum.core.ids import Ref
from relatum.store.keys import Table, Use
from relatum.store.memory import MemoryStore
from relatum.store.partition import Direction
from relatum.store.projection.staged_partition import Staging
from relatum.store.verify.directory import verify_rows
from tests.crash.past import Past, make_past
from tests.crash.planted import FAULTS, Fault


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    return make_past(tmp_path_factory.mktemp("past") / "store")


def test_a_sound_store_is_clean_and_every_row_was_looked_at(past: Past) -> None:
    report = verify_rows(MemoryStore(past.rows))
    assert report.clean, report.findings
    assert len(past.rows) == report.rows == sum(family.rows for family in report.families.values())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_is_found(past: Past, fault: Fault) -> None:
    found = dict(past.rows)
    fault.plant(found)
    assert not verify_rows(MemoryStore(found)).clean


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_is_found_in_small_steps_as_well(past: Past, fault: Fault) -> None:
    found = dict(past.rows)
    fault.plant(found)
    assert not verify_rows(MemoryStore(found), step_rows=10).clean


class _Forgetful(Staging):
    """The projection with a line too few."""

    def index(
        self, direction: Direction, content: Ref, relation_id: str, body: bytes, *, present: bool, use: Use | None
    ) -> None:
        if direction is not Table.INCOMING:
            super().index(direction, content, relation_id, body, present=present, use=use)


def test_a_projection_that_forgets_an_index_is_found_although_it_derives_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relatum.ledger.writer.group.Staging", _Forgetful)
    monkeypatch.setattr("relatum.store.verify.rebuilt_rows.Staging", _Forgetful)
    monkeypatch.setattr("relatum.store.integrity.verify_relation", lambda *_: None)
    past = make_past(tmp_path / "store")
    findings = {(finding.family, finding.message) for finding in verify_rows(MemoryStore(past.rows)).findings}
    assert {family for family, _ in findings} == {"incoming", "dependent"}
    assert ("incoming", "the rows are not those that the events imply: 0 stored, 3 implied") in findings
