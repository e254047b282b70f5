"""A store that is too large for opening to look at everything says so in the log, and only then."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.store import catalog, heads
from relatum.telemetry import Log
from tests.support.desk import Desk


def log_of_an_opening(directory: Path) -> str:
    told = io.StringIO()
    Ledger.open(directory, log=Log(told, lambda: 0)).close()
    return told.getvalue()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Of two partitions, one of which holds a credential."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.bootstrap("acme", "root")
        Desk(ledger).create()
    return tmp_path


def test_a_store_of_which_everything_was_looked_at_says_nothing(store: Path) -> None:
    assert "" == log_of_an_opening(store)


@pytest.mark.parametrize(
    ("function", "bound"), [(heads.verify_tips, "partitions_max"), (catalog.Listing.__init__, "credentials_max")]
)
def test_a_store_of_which_only_the_first_partitions_or_credentials_were_looked_at_says_so(
    store: Path, monkeypatch: pytest.MonkeyPatch, function: object, bound: str
) -> None:
    monkeypatch.setitem(function.__kwdefaults__, bound, 1)  # type: ignore[attr-defined]  # every function has them
    assert "its first partitions and credentials only" in log_of_an_opening(store)
