"""The short form of the kill campaign: three kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judgments.killing import run


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_judges_leaves_nothing_half_done(tmp_path: Path) -> None:
    counted = run(kills=3, seed=6, directory=tmp_path)
    assert 3 == counted["kills"]
    assert counted["replayed"]
    assert counted["candidates at the end"]
