"""Progress is shown to somebody who looks, and to nobody else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from relatum.cli.progress import progress_bar

PROBE = """
from relatum.cli.progress import progress_bar
with progress_bar("copying") as told:
    for part in (0.0, 0.25, 0.25, 0.5, 1.0):
        told(part)
print("done")
"""


def test_a_terminal_sees_a_bar_that_comes_to_its_end() -> None:
    leader, follower = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", PROBE], stdout=subprocess.PIPE, stderr=follower, timeout=60, check=True, text=True
    )
    os.close(follower)
    shown = os.read(leader, 65_536).decode()
    os.close(leader)
    assert "done\n" == ran.stdout
    assert "copying" in shown
    assert "100%" in shown


def test_nobody_sees_anything_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar("copying") as told:
        told(0.5)
        told(1.0)
    assert ("", "") == tuple(capfd.readouterr())
