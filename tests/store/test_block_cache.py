"""The block cache is the one that was set, in a store that is opened again too, and holds what every get needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relatum.store.rocks import BLOCK_CACHE_BYTES, RocksStore


@pytest.mark.parametrize("openings", [1, 2])
def test_every_opening_has_the_block_cache_that_was_set(tmp_path: Path, openings: int) -> None:
    for _ in range(openings):
        RocksStore.open(tmp_path / "store", create=True).close()
    diary = (tmp_path / "store" / "LOG").read_text()
    assert [str(BLOCK_CACHE_BYTES)] == re.findall(r"^ +capacity : (\d+)", diary, re.MULTILINE)
    assert ["1"] == re.findall(r"^ +cache_index_and_filter_blocks: (\d)", diary, re.MULTILINE)
    assert ["2"] == re.findall(r"^ +index_type: (\d)", diary, re.MULTILINE), "an index in two levels"
