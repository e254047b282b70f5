"""The real server under strace, and under many clients: the small editions of two commands for people."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from crash_tests.durability import run_traced
from crash_tests.load import run_load


def can_trace() -> bool:
    """Whether strace is here and may trace."""
    tool = shutil.which("strace")
    return tool is not None and subprocess.run([tool, "-qq", "true"], check=False, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not can_trace(), reason="needs strace and the right to trace")
def test_no_acknowledgement_leaves_before_a_completed_sync(tmp_path: Path) -> None:
    proof = run_traced(tmp_path, commands=60, clients=2)
    assert 60 == proof.commands
    assert 0 < proof.syncs < 60


@pytest.mark.slow
def test_many_clients_see_no_error_and_share_syncs(tmp_path: Path) -> None:
    report = run_load(tmp_path, clients=32, seconds=1.0, slots=32)
    assert 0 == report.errors
    assert report.answers == report.commands > 2 * report.syncs
