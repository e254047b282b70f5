"""The log's hashes, frontier and tiles, against published vectors and a naive tree."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import pytest

from relatum.core import digests, log
from relatum.core.events import Head
from relatum.store.keys import PartitionKeys
from relatum.store.projection.log_rows import stage_leaf

# The test data of the reference implementation of Certificate Transparency, whose tree RFC 9162 took over.
LEAVES = [b"", b"\0", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def naive(leaves: list[bytes]) -> bytes:
    """The root as RFC 9162 defines it: split at the largest power of two that is smaller."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1" + naive(leaves[:split]) + naive(leaves[split:])).digest()


def test_the_roots_are_those_of_the_published_vectors() -> None:
    assert sha256().digest() == log.root(b"")
    frontier = b""
    for size, (leaf, expected) in enumerate(zip(LEAVES, ROOTS, strict=True)):
        frontier = log.appended(frontier, size, digests.log_leaf(leaf))
        assert expected == log.root(frontier).hex()


def test_a_frontier_has_a_root_for_each_one_in_its_size_and_leads_to_the_root() -> None:
    leaves = [digests.log_leaf(str(number).encode()) for number in range(300)]
    frontier = b""
    for size, leaf in enumerate(leaves):
        frontier = log.appended(frontier, size, leaf)
        assert 32 * (size + 1).bit_count() == len(frontier)
        assert naive(leaves[: size + 1]) == log.root(frontier)


def test_an_entry_is_the_text_of_the_contract() -> None:
    given = log.entry(17, bytes(range(32)), ("ab" * 32, "cd" * 32))
    assert given == (f"relatum/1/entry\n17\n{bytes(range(32)).hex()}\n{'ab' * 32}\n{'cd' * 32}\n").encode()
    assert b"relatum/1/entry\n1\n" + b"00" * 32 + b"\n" == log.entry(1, bytes(32), ())


class Staged:
    """Rows of a log in a dictionary."""

    def __init__(self) -> None:
        self.keys = PartitionKeys("ab" * 32)
        self.rows: dict[bytes, bytes] = {}

    def body(self, key: bytes) -> bytes | None:
        return self.rows.get(key)

    def put(self, key: bytes, body: bytes) -> None:
        self.rows[key] = body


@pytest.mark.parametrize("size", [255, 256, 257, 511, 512, 1000, 65_536 + 300])
def test_tiles_hold_the_subtrees_of_each_level_full_ones_alone_on_the_lowest(size: int) -> None:
    staged, head = Staged(), Head()
    leaves = [digests.log_leaf(number.to_bytes(4, "big")) for number in range(size)]
    for number, leaf in enumerate(leaves):
        head = Head(sequence=number + 1, log=stage_leaf(staged, head, leaf))
    expected = {staged.keys.leaf(number + 1): leaf for number, leaf in enumerate(leaves)}
    level, hashes = 0, leaves
    while hashes:
        chunks = [hashes[at : at + 256] for at in range(0, len(hashes), 256)]
        for index, chunk in enumerate(chunks):
            if level > 0 or len(chunk) == 256:
                expected[staged.keys.tile(level, index)] = b"".join(chunk)
        hashes = [naive(chunk) for chunk in chunks if len(chunk) == 256]
        level += 1
    assert expected == staged.rows
    assert naive(leaves) == log.root(head.log)


def test_keys_of_leaves_and_tiles_stand_in_their_order() -> None:
    keys = PartitionKeys("ab" * 32)
    told = [keys.leaf(1), keys.leaf(256), keys.leaf(1 << 40), keys.tile(0, 0), keys.tile(0, 256), keys.tile(1, 0)]
    assert all(one < other for one, other in pairwise(told))
