"""Whatever is wrong with a directory is noticed before anything is written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.ledger.text_export.export_errors import ExportRefused, ImportRefused, TextUnusable
from relatum.ledger.text_export.importer import import_text
from tests.cli.program import init, run, serving
from tests.support import builders
from tests.support.builders import PARTITION, PRIVATE
from tests.support.desk import Desk
from tests.text_export.carrying import empty_ledger, exported, files


@pytest.fixture
def text(desk: Desk, tmp_path: Path) -> Path:
    """The text of three records and a relation in one partition, and of one record in another."""
    desk.relate(desk.create("one\nand a line", tags=("a", "b"), data={"n": 1}), desk.create("two"))
    desk.create("three", topic_key="t")
    Desk(desk.ledger, PRIVATE).create("private")
    exported(desk.ledger, tmp_path / "text")
    return tmp_path / "text"


def nothing_in(ledger: Ledger) -> bool:
    with ledger.view() as view:
        return not list(view.partitions()) and view.partition(PARTITION).head().sequence == 0


def refused(directory: Path) -> str:
    """Why a directory is not imported; that nothing was written for it."""
    with empty_ledger() as ledger:
        with pytest.raises(TextUnusable) as failure:
            import_text(ledger, directory)
        assert nothing_in(ledger)
    return str(failure.value)


def record_files(text: Path) -> list[Path]:
    return [path for path in sorted(text.rglob("*.txt")) if path.name not in ("manifest.txt", "partition.txt")]


def test_any_line_removed_from_any_file_is_noticed(text: Path) -> None:
    for path in sorted(text.rglob("*.txt")):
        whole = path.read_bytes()
        lines = whole.splitlines(keepends=True)
        for place in range(len(lines)):
            path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))
            assert refused(text)
        path.write_bytes(whole)
    with empty_ledger() as ledger:
        import_text(ledger, text)


def test_any_line_altered_or_repeated_in_any_file_is_noticed(text: Path) -> None:
    for path in sorted(text.rglob("*.txt")):
        whole = path.read_bytes()
        lines = whole.splitlines(keepends=True)
        for place, line in enumerate(lines):
            for instead in (line + line, line[:-1] + b"x\n", line.replace(b"1", b"2").replace(b"a", b"b")):
                if instead != line:
                    path.write_bytes(b"".join([*lines[:place], instead, *lines[place + 1 :]]))
                    assert refused(text)
        path.write_bytes(whole)


def test_any_file_that_is_missing_is_noticed(text: Path) -> None:
    for path in sorted(text.rglob("*.txt")):
        whole = path.read_bytes()
        path.unlink()
        assert refused(text)
        path.write_bytes(whole)


def test_two_records_that_change_their_names_are_noticed(text: Path) -> None:
    first, second, *_ = record_files(text)
    swapped = first.with_suffix(".swap")
    first.rename(swapped)
    second.rename(first)
    swapped.rename(second)
    assert "has the name of another record" in refused(text)


def _extra(text: Path) -> None:
    (text / "README").write_text("hello")


def _extra_below(text: Path) -> None:
    (record_files(text)[0].parent / "notes.txt").write_text("hello")


def _extra_folder(text: Path) -> None:
    (text / ("0" * 64)).mkdir()
    shutil.copy(record_files(text)[0], text / ("0" * 64))


def _nested_folder(text: Path) -> None:
    (record_files(text)[0].parent / "11111111-1111-7111-8111-111111111111.txt").mkdir()


def _extra_record(text: Path) -> None:
    path = record_files(text)[0]
    new = "11111111-1111-7111-8111-111111111111"
    (path.parent / f"{new}.txt").write_bytes(path.read_bytes().replace(path.stem.encode(), new.encode()))


def _renamed(text: Path) -> None:
    record_files(text)[0].rename(record_files(text)[0].parent / "11111111-1111-7111-8111-111111111111.txt")


def _renamed_folder(text: Path) -> None:
    record_files(text)[0].parent.rename(text / ("0" * 64))


def _moved(text: Path) -> None:
    one, *_, other = record_files(text)
    one.rename(other.parent / one.name)


def _symbolic(text: Path) -> None:
    path = record_files(text)[0]
    path.rename(text.parent / "elsewhere.txt")
    path.symlink_to(text.parent / "elsewhere.txt")


def _symbolic_folder(text: Path) -> None:
    folder = record_files(text)[0].parent
    folder.rename(text.parent / "elsewhere")
    folder.symlink_to(text.parent / "elsewhere")


def _pipe(text: Path) -> None:
    path = record_files(text)[0]
    path.unlink()
    os.mkfifo(path)


def _no_utf8(text: Path) -> None:
    record_files(text)[0].write_bytes(b"relatum-record: 1\nid: \xff\n")


def _long_line(text: Path) -> None:
    record_files(text)[0].write_bytes(b"relatum-record: 1\ntitle: " + b"x" * 2_000_000 + b"\n")


def _unended(text: Path) -> None:
    path = record_files(text)[0]
    path.write_bytes(path.read_bytes()[:-1])


def _carriage_returns(text: Path) -> None:
    path = record_files(text)[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _deep(text: Path) -> None:
    path = next(path for path in record_files(text) if b"data:" in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'|  "n": 1', b'|"n": ' + b"[" * 5000 + b"]" * 5000))


def _newer_manifest(text: Path) -> None:
    path = text / "manifest.txt"
    path.write_bytes(path.read_bytes().replace(b"relatum-export: 1", b"relatum-export: 2"))


def _newer_record(text: Path) -> None:
    path = record_files(text)[0]
    path.write_bytes(path.read_bytes().replace(b"relatum-record: 1", b"relatum-record: 2"))


def _no_manifest(text: Path) -> None:
    (text / "manifest.txt").unlink()


def _empty_file(text: Path) -> None:
    record_files(text)[0].write_bytes(b"")


DAMAGES: dict[Callable[[Path], None], str] = {
    _extra: "README is not of the export",
    _extra_below: "notes.txt is not of the export",
    _extra_folder: "a folder without partition.txt",
    _nested_folder: "is no plain file",
    _extra_record: "something was altered|another file disagrees",
    _renamed: "has the name of another record",
    _renamed_folder: "has the name of another partition",
    _moved: "spoken of|something was altered|another file disagrees|nothing else",
    _symbolic: "is no plain file",
    _symbolic_folder: "is not of the export",
    _pipe: "is no plain file",
    _no_utf8: "line 2 is not UTF-8",
    _long_line: "line 2 can't be understood",
    _unended: "the last line has no end",
    _carriage_returns: "can't be understood",
    _deep: "can't be understood",
    _newer_manifest: "a version that this program does not know; it knows 1",
    _newer_record: "a version that this program does not know",
    _no_manifest: "is no export: it has no manifest.txt",
    _empty_file: "is missing",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.strip("_"))
def test_each_damage_is_named(text: Path, damage: Callable[[Path], None]) -> None:
    damage(text)
    said = refused(text)
    assert any(part in said for part in DAMAGES[damage].split("|")), said


# Where it goes


def test_a_partition_that_is_not_empty_takes_no_import(text: Path, ledger: Ledger) -> None:
    with pytest.raises(ImportRefused, match="is not empty"):
        import_text(ledger, text)


def test_what_was_added_after_an_import_is_not_imported_over(text: Path) -> None:
    with empty_ledger() as ledger:
        import_text(ledger, text)
        Desk(ledger).create("later")
        with pytest.raises(ImportRefused, match="is not empty"):
            import_text(ledger, text)


def test_another_export_does_not_go_where_one_has_gone(text: Path, desk: Desk, tmp_path: Path) -> None:
    desk.create("one more")
    exported(desk.ledger, tmp_path / "more")
    with empty_ledger() as ledger:
        import_text(ledger, text)
        with pytest.raises(ImportRefused, match="is not empty"):
            import_text(ledger, tmp_path / "more")


def test_a_company_that_is_not_there_is_named(text: Path) -> None:
    with Ledger.in_memory() as ledger:
        with pytest.raises(ImportRefused, match=r"no company 'acme'.*relatum init"):
            import_text(ledger, text)
        assert nothing_in(ledger)


def test_an_export_goes_into_an_empty_directory_only(text: Path, ledger: Ledger) -> None:
    before = files(text)
    with pytest.raises(ExportRefused, match="is not empty"):
        exported(ledger, text)
    assert before == files(text)


def test_of_an_export_of_nothing_there_is_a_manifest(tmp_path: Path) -> None:
    with empty_ledger() as ledger:
        exported(ledger, tmp_path / "text")
        assert ["manifest.txt"] == list(files(tmp_path / "text"))
        assert 0 == import_text(ledger, tmp_path / "text").manifest.files


# Exit statuses


def test_bad_text_is_status_2_and_one_line(text: Path, tmp_path: Path) -> None:
    init(tmp_path / "store")
    record_files(text)[0].unlink()
    ended = run("import", tmp_path / "store", "--links", text)
    assert (2, "") == (ended.returncode, ended.stdout)
    assert ended.stderr.startswith("Error: ")
    assert 1 == ended.stderr.count("\n")


def test_a_directory_that_is_not_there_or_not_readable_is_status_2(text: Path, tmp_path: Path) -> None:
    init(tmp_path / "store")
    missing = run("import", tmp_path / "store", "--links", tmp_path / "nowhere")
    assert 2 == missing.returncode
    assert "is no export" in missing.stderr


def test_a_store_that_is_served_or_missing_is_status_1(text: Path, tmp_path: Path) -> None:
    init(tmp_path / "store")
    with serving(tmp_path / "store"):
        for command in ("import", "export"):
            refused_command = run(command, tmp_path / "store", "--links", text)
            assert 1 == refused_command.returncode
            assert 1 == refused_command.stderr.count("\n")
    assert 1 == run("import", tmp_path / "nowhere", "--links", text).returncode
    assert not (tmp_path / "nowhere").exists()


def test_what_would_be_lost_is_status_1_and_said(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        ledger.bootstrap("acme", "root")
        desk = Desk(ledger)
        one = desk.create("one")
        desk.relate(one, desk.create("two"))
        desk.accept(builders.delete(one))
    stopped = run("export", tmp_path / "store", "--links", tmp_path / "text")
    assert 1 == stopped.returncode
    assert "end-deleted-or-left-out: 1 memhtml-supports" in stopped.stderr
    assert not (tmp_path / "text").exists()
    ended = run("export", tmp_path / "store", "--links", tmp_path / "text", "--leave-out-ineligible")
    assert 0 == ended.returncode
    told = json.loads(ended.stdout)["left_out"]
    assert {"deleted": {"memory": 1}, "end-deleted-or-left-out": {"memhtml-supports": 1}} == told
