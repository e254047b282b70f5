"""Real corpora as text and back, by the program, on stores on disk."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relatum.company import IssuedCredential
from relatum.ledger import Ledger
from relatum.verify.directory import verify_directory
from tests.cli.program import init, run
from tests.textual.carrying import files
from tests.textual.real import CORPORA, Loaded

LINKS = 30


class Stored(NamedTuple):
    """Every corpus in one store, and the text of it."""

    store: Path
    text: Path
    told: dict[str, Any]
    loaded: list[Loaded]


def ended_well(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    place = tmp_path_factory.mktemp("real")
    with Ledger.open(place / "store", create=True) as ledger:
        assert isinstance(ledger.bootstrap("acme", "ada"), IssuedCredential)
        loaded = [Loaded(ledger, corpus) for corpus in CORPORA.values()]
        for one in loaded:
            one.link_neighbours(LINKS)
    told = ended_well(run("export", place / "store", "--links", place / "text"))
    yield Stored(place / "store", place / "text", told, loaded)


def test_everything_that_was_loaded_is_in_the_text(stored: Stored) -> None:
    relations = sum((one.asserted for one in stored.loaded), Counter[str]())
    records = sum(one.corpus.stats()["records"] for one in stored.loaded)
    assert {"memory": records} == stored.told["records"]
    assert dict(relations) == stored.told["relations"]
    assert {"related": LINKS * len(CORPORA)} == stored.told["links"]
    assert {} == stored.told["left_out"]
    for one in stored.loaded:
        taken = one.asserted.total() + one.refused.total()
        assert one.corpus.stats()["relations"] == taken


def test_an_import_into_an_empty_store_exports_to_the_same_bytes(stored: Stored, tmp_path: Path) -> None:
    init(tmp_path / "again")
    imported = ended_well(run("import", tmp_path / "again", "--links", stored.text))
    assert (stored.told["root"], {}) == (imported["root"], imported["lost"])
    told = ended_well(run("export", tmp_path / "again", "--links", tmp_path / "text"))
    assert stored.told["root"] == told["root"]
    assert files(stored.text) == files(tmp_path / "text")
    assert stored.told["history"]["earlier_revisions"] > 5_000
    assert 0 == told["history"]["earlier_revisions"]


def test_an_import_twice_writes_nothing_the_second_time(stored: Stored, tmp_path: Path) -> None:
    init(tmp_path / "again")
    positions = []
    for _ in range(2):
        ended_well(run("import", tmp_path / "again", "--links", stored.text))
        with Ledger.open(tmp_path / "again") as ledger, ledger.view() as view:
            positions.append(view.position)
    assert positions[0] == positions[1]


@pytest.mark.slow
def test_a_store_of_imported_corpora_is_clean(stored: Stored, tmp_path: Path) -> None:
    """Links are taken out of the text first, by making it anew without them."""
    with Ledger.open(tmp_path / "unlinked", create=True) as ledger:
        assert isinstance(ledger.bootstrap("acme", "ada"), IssuedCredential)
        Loaded(ledger, CORPORA["peps"])
    ended_well(run("export", tmp_path / "unlinked", "--links", tmp_path / "text"))
    init(tmp_path / "again")
    ended_well(run("import", tmp_path / "again", "--links", tmp_path / "text"))
    report = verify_directory(tmp_path / "again")
    assert report.clean, report.findings


@pytest.mark.parametrize("place", [0, 1, 5, -2, -1])
def test_one_line_removed_anywhere_is_noticed(stored: Stored, tmp_path: Path, place: int) -> None:
    init(tmp_path / "again")
    shutil.copytree(stored.text, tmp_path / "text")
    paths = sorted((tmp_path / "text").rglob("*.txt"))
    path = paths[len(paths) // 7 * (place % 7)]
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[place % len(lines)]
    path.write_bytes(b"".join(lines))
    noticed = run("import", tmp_path / "again", "--links", tmp_path / "text")
    assert 2 == noticed.returncode, noticed.stdout
    with Ledger.open(tmp_path / "again") as ledger, ledger.view() as view:
        assert [] == list(view.partitions())
