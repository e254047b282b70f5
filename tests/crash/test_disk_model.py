"""The model of a disk: what is certain, what is pending, and what a crash may leave of either."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.random_draws import seeded
from crash_tests.system_calls.crash_outcomes import (
    BLOCK_BYTES,
    SECTOR_BYTES,
    Fate,
    crash,
    kept,
    littered,
    lost,
    materialize,
    scattered,
    torn,
)
from crash_tests.system_calls.disk import Disk, File, Lie, Link, Patch, Resize
from crash_tests.system_calls.records import Kind, Record
from crash_tests.violation import Violation

TRIES = 300
OLD = b"o" * 600
NEW = b"n" * 3 * BLOCK_BYTES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with one file in it."""
    place = tmp_path / "root"
    place.mkdir()
    (place / "old").write_bytes(OLD)
    return place


def named(kind: Kind, *paths: Path, inode: int = 0) -> Record:
    return Record(kind, inode, 0, b"\0".join(str(path).encode() for path in paths))


def written(path: Path, offset: int, data: bytes) -> Record:
    return Record(Kind.WRITTEN, path.stat().st_ino, offset, data)


def synced(path: Path) -> Record:
    return Record(Kind.SYNCED, path.stat().st_ino, 0, b"")


def made(path: Path, data: bytes = b"") -> Record:
    """The record of a file that is made here and now."""
    path.write_bytes(data)
    return named(Kind.OPENED, path, inode=path.stat().st_ino)


def leftovers(disk: Disk, path: Path) -> set[bytes | Link | None]:
    """All that crashes were seen to leave of a file; None where its name is gone."""
    return {crash(disk, seeded(number)).state.get(path) for number in range(TRIES)}


def test_what_was_there_and_what_was_synced_is_left_by_every_crash(root: Path) -> None:
    disk, old = Disk(root), root / "old"
    assert {OLD} == leftovers(disk, old)
    disk.follow(written(old, 600, b"more"))
    disk.follow(synced(old))
    assert {OLD + b"more"} == leftovers(disk, old)


def test_what_was_not_synced_is_left_by_some_crashes_only(root: Path) -> None:
    disk, old = Disk(root), root / "old"
    disk.follow(written(old, 600, b"more"))
    assert {OLD, OLD + b"more"} <= leftovers(disk, old)


def test_a_new_name_is_lost_until_its_folder_is_synced_whatever_is_synced_besides(root: Path) -> None:
    disk, new = Disk(root), root / "new"
    disk.follow(made(new))
    disk.follow(synced(new))
    assert {None, b""} == leftovers(disk, new)
    disk.follow(synced(root))
    assert {b""} == leftovers(disk, new)


def test_names_are_lost_from_the_last_change_backwards(root: Path) -> None:
    disk, first, second, renamed = Disk(root), root / "first", root / "second", root / "renamed"
    disk.follow(made(first))
    disk.follow(made(second))
    disk.follow(named(Kind.RENAMED, first, renamed))
    left = {frozenset(path.name for path in crash(disk, seeded(number)).state) for number in range(TRIES)}
    assert {
        frozenset({"old"}),
        frozenset({"old", "first"}),
        frozenset({"old", "first", "second"}),
        frozenset({"old", "renamed", "second"}),
    } == left


def test_what_lies_in_a_folder_is_lost_with_it(root: Path) -> None:
    disk, folder = Disk(root), root / "folder"
    folder.mkdir()
    disk.follow(named(Kind.MADE, folder, inode=folder.stat().st_ino))
    disk.follow(made(folder / "within"))
    disk.follow(synced(folder))
    assert {None, b""} == leftovers(disk, folder / "within")
    for number in range(TRIES):
        state = crash(disk, seeded(number)).state
        assert (folder in state) == (folder / "within" in state)


def test_a_symbolic_link_is_there_or_not_and_leads_to_where_it_led(root: Path, tmp_path: Path) -> None:
    disk, link, left = Disk(root), root / "link", tmp_path / "left"
    link.symlink_to(root / "old")
    disk.follow(named(Kind.LINKED_SYMBOLICALLY, root / "old", link))
    disk.require_followed()
    assert {None, Link(root / "old")} == leftovers(disk, link)
    disk.follow(synced(root))
    assert {Link(root / "old")} == leftovers(disk, link) == leftovers(Disk(root), link)
    left.mkdir()
    materialize(crash(disk, seeded(1)).state, root, left)
    assert root / "old" == (left / "link").readlink()


def test_a_removed_name_may_come_back_with_what_was_certain_of_its_file(root: Path) -> None:
    disk, old = Disk(root), root / "old"
    disk.follow(named(Kind.UNLINKED, old))
    assert {None, OLD} == leftovers(disk, old)


def test_a_drive_that_lies_loses_what_was_synced(root: Path) -> None:
    disk, log = Disk(root), root / "1.log"
    disk.lie = Lie(".log")
    disk.follow(made(log))
    disk.follow(written(log, 0, b"rows"))
    disk.follow(synced(log))
    disk.follow(synced(root))
    assert {b"", b"rows"} <= leftovers(disk, log)


def test_a_drive_may_lie_about_names_alone(root: Path) -> None:
    disk, new = Disk(root), root / "new"
    disk.lie = Lie(folders=True)
    disk.follow(made(new))
    disk.follow(written(new, 0, b"rows"))
    disk.follow(synced(new))
    disk.follow(synced(root))
    assert {None, b"rows"} == leftovers(disk, new)


def pending(*steps: Patch | Resize) -> File:
    file = File(OLD)
    for step in steps:
        file.do(step)
    return file


def fates(fate: Fate, file: File) -> set[bytes]:
    return {fate(file, seeded(number)) for number in range(TRIES)}


def test_a_torn_write_ends_at_a_sector_and_may_have_its_size_all_the_same() -> None:
    for contents in fates(torn, pending(Patch(600, NEW))):
        assert contents.startswith(OLD)
        whole = OLD + contents[600:].rstrip(b"\0")
        assert contents in (whole, whole.ljust(600 + len(NEW), b"\0"))
        assert len(whole) == 600 or len(whole) % SECTOR_BYTES == 0


def test_blocks_come_in_any_order_and_hold_zeros_until_they_do() -> None:
    seen = fates(scattered, pending(Patch(600, NEW)))
    assert any(b"\0n" in contents for contents in seen), "a later block without an earlier one"
    for contents in seen:
        assert contents.startswith(OLD)
        assert set(contents[600:]) <= {0, ord("n")}


def test_fresh_blocks_that_did_not_come_hold_junk_and_the_one_that_was_there_does_not() -> None:
    seen = fates(littered, pending(Patch(600, NEW)))
    assert any(set(contents[BLOCK_BYTES:]) - {0, ord("n")} for contents in seen)
    for contents in seen:
        assert contents.startswith(OLD)
        assert set(contents[600:BLOCK_BYTES]) <= {0, ord("n")}


def test_what_is_overwritten_in_place_is_old_or_new_or_junk_and_nothing_around_it_changes() -> None:
    file = pending(Patch(100, b"x" * 50))
    assert {OLD, OLD[:100] + b"x" * 50 + OLD[150:]} == fates(scattered, file)
    for contents in fates(littered, file):
        assert (OLD[:100], OLD[150:], 600) == (contents[:100], contents[150:], len(contents))


def test_everything_or_nothing_of_what_is_pending_are_fates_too() -> None:
    file = pending(Resize(10), Patch(20, b"x"))
    assert {OLD[:10] + bytes(10) + b"x"} == fates(kept, file)
    assert {OLD} == fates(lost, file)


def test_a_change_that_the_records_do_not_tell_is_noticed(root: Path) -> None:
    disk = Disk(root)
    disk.require_followed()
    (root / "old").write_bytes(b"changed behind its back")
    with pytest.raises(Violation, match=r"missed a change of .*old"):
        disk.require_followed()
    (root / "another").touch()
    with pytest.raises(Violation, match=r"missed names: .*another"):
        disk.require_followed()


def test_bytes_of_the_engines_diary_are_not_followed(root: Path) -> None:
    diary = root / "LOG"
    diary.write_bytes(b"something happened")
    disk = Disk(root)
    disk.follow(written(diary, 18, b", and then something else"))
    assert {b""} == leftovers(disk, diary)
