"""An import that was killed goes on where it stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from tests.cli.program import environment, init, run
from tests.support.matrix import first_of
from tests.text_export.carrying import exported, files
from tests.text_export.real import CORPORA, Loaded, partition_of

PEPS = CORPORA["peps"]
COMMANDS = 736 + 30
GROUPS = -(-(COMMANDS + 113) // 128)
"""Commands go in groups of 128; and all of them are rehearsed first, in groups just as large."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("peps")
    with Ledger.in_memory() as ledger:
        assert isinstance(ledger.bootstrap("acme", "ada"), IssuedCredential)
        Loaded(ledger, PEPS).link_neighbours(30)
        exported(ledger, place / "text")
    return place / "text"


def killed_at(failpoint: str, store: Path, text: Path) -> int:
    """How the program ends that imports and kills itself at a failpoint."""
    launch = [sys.executable, "-m", "crash_tests.relatum_process", "--failpoint", failpoint, "--"]
    ended = subprocess.run(
        [*launch, "import", str(store), "--links", str(text)],
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return ended.returncode


def commands_in(store: Path) -> int:
    with Ledger.open(store) as ledger, ledger.view() as view:
        return view.partition(partition_of(PEPS)).head().sequence


FAILPOINTS = ["commit.written:2", "group.decided:1", "commit.synced:4", "group.answered:5"]


@pytest.mark.parametrize("failpoint", first_of(FAILPOINTS))
def test_an_import_killed_in_the_middle_is_completed_by_the_next(text: Path, tmp_path: Path, failpoint: str) -> None:
    name, _, number = failpoint.partition(":")
    init(tmp_path / "store")
    killed = killed_at(f"{name}:{GROUPS + int(number)}", tmp_path / "store", text)
    assert -signal.SIGKILL == killed
    left = commands_in(tmp_path / "store")
    assert (int(number) - 1) * 128 <= left <= int(number) * 128
    ended = run("import", tmp_path / "store", "--links", text)
    assert 0 == ended.returncode, ended.stderr
    ended = run("export", tmp_path / "store", "--links", tmp_path / "again")
    assert 0 == ended.returncode, ended.stderr
    assert files(text) == files(tmp_path / "again")
