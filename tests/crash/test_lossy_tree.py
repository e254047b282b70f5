"""What is left of files and names on the lossy file system once the power has gone."""

from __future__ import annotations

import pytest

from crash_tests.power.lossy.tree import LOSSES, SECTOR_BYTES, Directory, File, Link, Loss
from crash_tests.random_draws import seeded

OLD, NEW = b"o" * 700, b"n" * 2000


def tree() -> tuple[Directory, File]:
    """A directory and a file in it, both synced."""
    root, file = Directory(), File()
    root.change((b"file", file))
    file.write(0, OLD)
    file.sync()
    root.sync()
    return root, file


def left_of(loss: Loss, seed: int) -> bytes:
    """What is left of a file to which something was appended and not synced."""
    root, file = tree()
    file.write(len(OLD), NEW)
    root.lose(loss, seeded(seed))
    return bytes(file.content)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_was_synced_is_left_whatever_the_loss(loss: Loss) -> None:
    for seed in range(20):
        root, file = tree()
        root.lose(loss, seeded(seed))
        assert (bytes(file.content), root.names) == (OLD, {b"file": file})
        assert left_of(loss, seed)[: len(OLD)] == OLD


def test_what_was_not_synced_is_lost() -> None:
    assert left_of("all", 1) == OLD


def test_a_torn_write_ends_at_a_sector() -> None:
    lengths = {len(left_of("torn", seed)) for seed in range(60)}
    assert len(lengths) > 3
    assert all(length in (len(OLD), len(OLD + NEW)) or length % SECTOR_BYTES == 0 for length in lengths)


def test_a_scattered_write_has_holes() -> None:
    first = SECTOR_BYTES - len(OLD) % SECTOR_BYTES
    scattered = [left_of("scattered", seed)[len(OLD) :] for seed in range(60)]
    assert any(b"\0" in left and left.rstrip(b"\0").endswith(b"n") for left in scattered)
    assert all(set(left[:first]) <= {0, ord("n")} and len(set(left[:first])) <= 1 for left in scattered)


def test_a_blanked_write_leaves_zeros_of_its_length() -> None:
    assert {OLD + bytes(len(NEW)), OLD + NEW} == {left_of("zeros", seed) for seed in range(20)}


def test_writes_are_left_in_the_order_in_which_they_were_made() -> None:
    for seed in range(40):
        root, file = tree()
        for _ in range(5):
            file.write(len(file.content), b"x")
        root.lose("some", seeded(seed))
        assert bytes(file.content) in [OLD + b"x" * count for count in range(6)]


def test_a_new_length_that_was_not_synced_is_lost() -> None:
    root, file = tree()
    file.resize(10)
    assert len(file.content) == 10
    root.lose("all", seeded(1))
    assert bytes(file.content) == OLD


def test_a_name_whose_directory_was_not_synced_is_lost_even_if_its_file_was() -> None:
    root, _ = tree()
    other = File()
    root.change((b"other", other))
    other.write(0, b"x")
    other.sync()
    root.lose("all", seeded(1))
    assert list(root.names) == [b"file"]


def test_a_renaming_happened_or_not() -> None:
    found = set()
    for seed in range(20):
        root, file = tree()
        root.change((b"file", None), (b"renamed", file))
        root.lose("some", seeded(seed))
        found.add(tuple(root.names))
    assert found == {(b"file",), (b"renamed",)}


def test_of_a_link_only_its_name_can_be_lost() -> None:
    found = set()
    for seed in range(20):
        root, _ = tree()
        root.change((b"link", Link(b"file")))
        root.lose("some", seeded(seed))
        link = root.names.get(b"link")
        found.add(link.target if isinstance(link, Link) else None)
    assert found == {None, b"file"}
