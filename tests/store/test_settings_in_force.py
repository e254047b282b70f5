"""What was set for gets is in force, in a store that is opened again too: the block cache and the filters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relatum.store.rocks import BLOCK_CACHE_BYTES, WRITE_BUFFER_FILTER, RocksStore


@pytest.mark.parametrize("openings", [1, 2])
def test_every_opening_has_the_block_cache_that_was_set(tmp_path: Path, openings: int) -> None:
    for _ in range(openings):
        RocksStore.open(tmp_path / "store", create=True).close()
    diary = (tmp_path / "store" / "LOG").read_text()
    assert [str(BLOCK_CACHE_BYTES)] == re.findall(r"^ +capacity : (\d+)", diary, re.MULTILINE)
    assert ["1"] == re.findall(r"^ +cache_index_and_filter_blocks: (\d)", diary, re.MULTILINE)
    assert ["2"] == re.findall(r"^ +index_type: (\d)", diary, re.MULTILINE), "an index in two levels"


@pytest.mark.parametrize("openings", [1, 2])
def test_every_opening_has_filters_for_keys_that_are_not_there(tmp_path: Path, openings: int) -> None:
    for _ in range(openings):
        RocksStore.open(tmp_path / "store", create=True).close()
    diary = (tmp_path / "store" / "LOG").read_text()
    assert {WRITE_BUFFER_FILTER} == set(map(float, re.findall(r"memtable_prefix_bloom_size_ratio: ([\d.]+)", diary)))
    assert {"1"} == set(re.findall(r"memtable_whole_key_filtering: (\d)", diary))
    assert ["bloomfilter"] == re.findall(r"^ +filter_policy: (\w+)", diary, re.MULTILINE)
