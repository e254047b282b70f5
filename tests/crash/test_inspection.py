"""The inspection of stored rows: content with a sound store, and seen to notice every planted fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from crash_tests.inspection import __main__ as program
from crash_tests.inspection.claims import Claim, write_claims
from crash_tests.inspection.inspect import inspect
from crash_tests.inspection.searching import check_search_index
from crash_tests.inspection.stored import read_store
from crash_tests.violation import Violation
from relatum.core.ids import Ref, uuid_bytes
from relatum.ledger import Ledger
from relatum.ledger.search.index import FILE_NAME
from relatum.ledger.search.tables import Tables
from relatum.store.keys import Table, Use
from relatum.store.partition import Direction
from relatum.store.projection.staged_partition import Staging
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.report import Finding
from tests.crash.past import Past, Teller, live, make_past
from tests.crash.planted import FAULTS, Fault
from tests.support.builders import PARTITION, create


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("past") / "store"


@pytest.fixture(scope="module")
def past(directory: Path) -> Past:
    return make_past(directory)


def test_a_sound_store_passes_and_everything_in_it_was_looked_at(past: Past) -> None:
    findings = inspect(past.rows, past.claims)
    assert (3, len(past.claims), 0) == (findings.partitions, findings.acknowledged, findings.unresolved_present)
    assert len(past.claims) + 4 == findings.events  # two changes of a credential and two activations have no claim
    assert len(past.rows) - 2 == findings.rows  # the format and the position are the store's own


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_planted_fault_is_noticed(past: Past, fault: Fault) -> None:
    found = dict(past.rows)
    fault.plant(found)
    with pytest.raises(Violation, match=fault.told):
        inspect(found, past.claims)


def test_a_store_rolled_back_to_before_an_acknowledgement_is_noticed(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        ledger.bootstrap("acme", "root")
        teller = Teller(ledger)
        live(teller)
    before = read_store(tmp_path / "store")
    with Ledger.open(tmp_path / "store") as ledger:
        teller.ledger = ledger
        teller.record(create("one more"))
        teller.record(create("and another"))
    inspect(read_store(tmp_path / "store"), teller.claims)
    with pytest.raises(Violation, match="2 acknowledged commands are not stored"):
        inspect(before, teller.claims)


def test_a_command_that_was_answered_as_refused_and_is_stored_is_noticed(past: Past) -> None:
    with pytest.raises(Violation, match="is stored, and was refused or never sent"):
        inspect(past.rows, past.claims[:-1])


def test_a_command_of_unknown_outcome_may_be_there_or_not(past: Past) -> None:
    *claims, last = past.claims
    absent = replace(last, idempotency_key="never arrived", receipt=None)
    assert 1 == inspect(past.rows, [*claims, replace(last, receipt=None), absent]).unresolved_present


def test_a_receipt_that_differs_in_one_member_is_noticed(past: Past) -> None:
    *claims, last = past.claims
    assert last.receipt is not None
    altered = last.receipt.replace('"revision":1', '"revision":2')
    with pytest.raises(Violation, match="another receipt than was acknowledged"):
        inspect(past.rows, [*claims, replace(last, receipt=altered)])


class _Forgetful(Staging):
    """The projection with a line too few."""

    def index(
        self, direction: Direction, content: Ref, relation_id: str, body: bytes, *, present: bool, use: Use | None
    ) -> None:
        if direction is not Table.INCOMING:
            super().index(direction, content, relation_id, body, present=present, use=use)


@pytest.fixture
def forgetful_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the writer and in the rebuild alike, and with the check that the writer itself makes switched off."""
    monkeypatch.setattr("relatum.ledger.writer.group.Staging", _Forgetful)
    monkeypatch.setattr("crash_tests.inspection.rederived.Staging", _Forgetful)
    monkeypatch.setattr("relatum.store.integrity.verify_relation", lambda *_: None)


@pytest.mark.usefixtures("forgetful_projection")
def test_a_projection_that_forgets_an_index_is_noticed_although_the_events_agree(tmp_path: Path) -> None:
    past = make_past(tmp_path / "store")
    with pytest.raises(Violation, match="incoming: the row"):
        inspect(past.rows, past.claims)


def test_the_program_prints_its_findings_or_the_violation(
    directory: Path, past: Past, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(claims: list[Claim]) -> int:
        write_claims(tmp_path / "claims", claims)
        return program.main(directory, tmp_path / "claims")

    assert 0 == run(past.claims)
    assert '"acknowledged":27' in capsys.readouterr().out
    assert 1 == run(past.claims[1:])
    assert "was refused or never sent" in capsys.readouterr().err


def test_a_directory_that_is_no_store_is_a_violation(tmp_path: Path) -> None:
    with pytest.raises(Violation, match="can't be opened"):
        read_store(tmp_path)


def test_the_program_reports_what_relatum_verify_finds(
    directory: Path,
    past: Past,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_claims(tmp_path / "claims", past.claims)
    report = verify_directory(directory)
    finding = Finding(family="record", message="a row is missing")
    for found in (
        replace(report, findings=(finding,), findings_count=1),
        replace(report, position=report.position + 1),
    ):
        monkeypatch.setattr(program, "verify_directory", lambda _, found=found: found)
        assert 1 == program.main(directory, tmp_path / "claims")
        assert "relatum verify" in capsys.readouterr().err


def test_the_program_reports_a_store_that_relatum_verify_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_claims(tmp_path / "claims", [])
    assert 1 == program.main(tmp_path, tmp_path / "claims")
    assert "relatum verify can't read the store" in capsys.readouterr().err


# The search index


def test_an_index_that_says_something_else_than_the_records_is_noticed(tmp_path: Path) -> None:
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.bootstrap("acme", "root")
        teller = Teller(ledger)
        refs = [teller.record(create(f"the ferry leaves at {hour}")) for hour in range(5)]
        with ledger.view() as view:
            view.search(view.partition(PARTITION), "ferry")
        teller.record(create("the ferry never leaves"))
    found = read_store(tmp_path)
    assert 12 == check_search_index(tmp_path, found), "one that lies behind is brought up to the end"
    index = Tables(tmp_path / FILE_NAME)
    index.remove_record(1, uuid_bytes(refs[2].record_id))
    index.close()
    with pytest.raises(Violation, match="what is found in partition"):
        check_search_index(tmp_path, found)


def test_a_store_without_an_index_is_not_given_one(directory: Path, past: Past, tmp_path: Path) -> None:
    bare = shutil.copytree(directory, tmp_path / "store", ignore=shutil.ignore_patterns(f"{FILE_NAME}*"))
    assert 0 == check_search_index(bare, past.rows)
    assert not list(bare.glob(f"{FILE_NAME}*"))
