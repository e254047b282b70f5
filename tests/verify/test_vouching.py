"""`relatum rebuild --watermark`: a store that lost its watermark can be served, and whoever asks is told the price."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crash_tests.failpoints.torn import BEGINNING, tear
from relatum.cli import main
from relatum.errors import StorageFailure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store.keys import Table
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.watermark_repair import survey, vouch
from relatum.store.watermark import WatermarkFile, read_watermark
from tests.verify.damage import remove_rows, stored
from tests.verify.test_directory import files_of


def run(directory: Path, copy: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["rebuild", str(directory), "--watermark", "--backup", str(copy), *options])


def lose(store: Path) -> None:
    (store / "watermark").unlink()


def damage(store: Path) -> None:
    (store / "watermark").write_bytes(b"\x01" * 8192)


def cut_short(store: Path) -> None:
    content = (store / "watermark").read_bytes()
    (store / "watermark").write_bytes(content[:1000])


@pytest.mark.parametrize("harm", [lose, damage, cut_short])
def test_a_store_that_lost_its_watermark_gets_one_that_says_what_it_holds(
    store: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    before, mark = stored(store), read_watermark(store / "watermark")
    harm(store)
    with pytest.raises(StoreUnavailable):
        Ledger.open(store)
    finished = run(store, tmp_path / "copy", "--yes")
    assert 0 == finished.exit_code, finished.stderr
    printed = json.loads(finished.stdout)
    assert printed["report"]["clean"]
    assert mark is not None
    assert (mark.position, mark.head.hex()) == (printed["watermark"]["position"], printed["watermark"]["digest"])
    assert mark == read_watermark(store / "watermark")
    assert before == stored(store)
    with Ledger.open(store) as ledger:
        ledger.bootstrap("one more", "root")
    assert verify_directory(store).clean


def test_it_says_what_it_vouches_for_and_what_it_can_not_know(store: Path, tmp_path: Path) -> None:
    position = verify_directory(store).position
    lose(store)
    finished = run(store, tmp_path / "copy", "--yes")
    assert f"ends at position {position}; its last commit was at 20" in finished.stderr
    assert "commands that were acknowledged later would be missing" in finished.stderr
    assert "no whole record" not in finished.stderr


def test_the_torn_end_of_a_log_is_told_of_cut_and_kept(store: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    with Ledger.open(store) as ledger:
        ledger.bootstrap("one more", "root")
        shutil.copytree(store, left)
    tear(left)
    lose(left)
    finished = run(left, tmp_path / "copy", "--yes")
    assert 0 == finished.exit_code, finished.stderr
    assert f"ends in {len(BEGINNING)} bytes that are no whole record" in finished.stderr
    assert [BEGINNING] == [path.read_bytes() for path in left.glob("engine/*.torn-at-*")]
    assert any(path.read_bytes().endswith(BEGINNING) for path in (tmp_path / "copy").glob("engine/*.log"))


def test_the_copy_is_the_store_as_it_was(store: Path, tmp_path: Path) -> None:
    damage(store)
    before = stored(store)
    run(store, tmp_path / "copy", "--yes")
    assert before == stored(tmp_path / "copy")
    assert b"\x01" * 8192 == (tmp_path / "copy" / "watermark").read_bytes()


def behind(store: Path) -> None:
    """Its watermark knows of more than the store holds."""
    mark = WatermarkFile.open(store / "watermark", create=False)
    mark.write(verify_directory(store).position + 1, bytes(32))
    mark.close()


@pytest.mark.parametrize("harm", [lambda _: None, behind])
def test_a_watermark_that_can_be_read_is_never_replaced(
    store: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    harm(store)
    before = files_of(store)
    finished = run(store, tmp_path / "copy", "--yes")
    assert (1, "") == (finished.exit_code, finished.stdout)
    assert "watermark that can be read" in finished.stderr
    assert before == files_of(store)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("table", [Table.EVENT, Table.RECORD_REVISION, Table.HEAD])
def test_a_store_that_contradicts_itself_is_not_vouched_for(store: Path, tmp_path: Path, table: Table) -> None:
    remove_rows(store, table, 1)
    lose(store)
    before = files_of(store)
    finished = run(store, tmp_path / "copy", "--yes")
    assert 1 == finished.exit_code
    assert "not to be vouched for" in finished.stderr
    assert not json.loads(finished.stdout)["report"]["clean"]
    assert before == files_of(store)
    assert not (tmp_path / "copy").exists()


def test_where_indexes_are_lost_too_both_repairs_lead_to_a_sound_store(store: Path, tmp_path: Path) -> None:
    before = stored(store)
    remove_rows(store, Table.DEPENDENT, 1)
    lose(store)
    finished = run(store, tmp_path / "first", "--yes")
    assert 1 == finished.exit_code, "the watermark is made, and the indexes still have findings"
    assert {"dependent", "header"} == {
        finding["family"] for finding in json.loads(finished.stdout)["report"]["findings"]
    }
    second = ["rebuild", str(store), "--indexes", "--backup", str(tmp_path / "second"), "--yes"]
    assert 0 == CliRunner().invoke(main, second).exit_code
    assert before == stored(store)


def test_it_asks_before_it_writes(store: Path, tmp_path: Path) -> None:
    lose(store)
    before = files_of(store)
    finished = run(store, tmp_path / "copy")
    assert 1 == finished.exit_code
    assert "Keep a copy" in finished.stderr
    assert before == files_of(store)


def test_one_thing_is_named_at_a_time(store: Path, tmp_path: Path) -> None:
    lose(store)
    assert 2 == run(store, tmp_path / "copy", "--indexes", "--yes").exit_code


def test_a_store_that_was_written_to_since_is_not_vouched_for(store: Path) -> None:
    surveyed = survey(store)
    with Ledger.open(store) as ledger:
        ledger.bootstrap("one more", "root")
    lose(store)
    with pytest.raises(StorageFailure, match="somebody has written"):
        vouch(store, surveyed)
    assert not (store / "watermark").exists()


def test_a_store_to_which_nothing_was_ever_committed_needs_no_watermark(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "store", create=True).close()
    lose(tmp_path / "store")
    finished = run(tmp_path / "store", tmp_path / "copy", "--yes")
    assert 1 == finished.exit_code
    assert "nothing to vouch for" in finished.stderr
    Ledger.open(tmp_path / "store").close()


def test_a_store_that_somebody_serves_is_left_to_them(store: Path, tmp_path: Path) -> None:
    with Ledger.open(store):
        lose(store)
        finished = run(store, tmp_path / "copy", "--yes")
        assert 2 == finished.exit_code
        assert "directory in use" in finished.stderr
        assert not (store / "watermark").exists()
