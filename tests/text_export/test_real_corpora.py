"""Real corpora as text and back, by the program, on stores on disk."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.store.verify.directory import verify_directory
from tests.cli.program import init, run
from tests.corpora.mapping import Corpus
from tests.support.matrix import first_of
from tests.text_export.carrying import files
from tests.text_export.real import CORPORA, Loaded

LINKS = 30


class Stored(NamedTuple):
    """A corpus in a store of its own, and the text of it."""

    text: Path
    told: dict[str, Any]
    loaded: Loaded


def ended_well(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def store_of(place: Path, name: str, links: int) -> Stored:
    with Ledger.open(place / "store", create=True) as ledger:
        assert isinstance(ledger.bootstrap("acme", "ada"), IssuedCredential)
        loaded = Loaded(ledger, CORPORA[name])
        loaded.link_neighbours(links)
    told = ended_well(run("export", place / "store", "--links", place / "text"))
    return Stored(place / "text", told, loaded)


@pytest.fixture(scope="module", params=first_of(CORPORA))
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return store_of(tmp_path_factory.mktemp(request.param), request.param, LINKS)


@pytest.fixture(scope="module")
def bips(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return store_of(tmp_path_factory.mktemp("bips"), "bips", 0)


def earlier_revisions(corpus: Corpus) -> int:
    """How many revisions of the things in a corpus are not their last one."""
    names = {row["id"] for row in corpus.rows("records")}
    counts = Counter(row["id"] for row in corpus.rows("revisions"))
    return sum(count - 1 for name, count in counts.items() if name in names)


def test_everything_that_was_loaded_is_in_the_text(stored: Stored) -> None:
    loaded, told = stored.loaded, stored.told
    stats = loaded.corpus.stats()
    assert {"memory": stats["records"]} == told["records"]
    assert dict(loaded.asserted) == told["relations"]
    assert ({"related": LINKS}, {}) == (told["links"], told["left_out"])
    assert earlier_revisions(loaded.corpus) == told["history"]["earlier_revisions"]
    assert stats["relations"] == loaded.asserted.total() + loaded.refused.total()


def test_an_import_into_an_empty_store_exports_to_the_same_bytes(stored: Stored, tmp_path: Path) -> None:
    init(tmp_path / "again")
    imported = ended_well(run("import", tmp_path / "again", "--links", stored.text))
    assert (stored.told["root"], {}) == (imported["root"], imported["lost"])
    told = ended_well(run("export", tmp_path / "again", "--links", tmp_path / "text"))
    assert (stored.told["root"], 0) == (told["root"], told["history"]["earlier_revisions"])
    assert files(stored.text) == files(tmp_path / "text")


def test_an_import_twice_writes_nothing_the_second_time_and_leaves_a_clean_store(bips: Stored, tmp_path: Path) -> None:
    init(tmp_path / "again")
    positions = []
    for _ in range(2):
        ended_well(run("import", tmp_path / "again", "--links", bips.text))
        with Ledger.open(tmp_path / "again") as ledger, ledger.view() as view:
            positions.append(view.position)
    assert positions[0] == positions[1]
    report = verify_directory(tmp_path / "again")
    assert report.clean, report.findings


def test_one_line_removed_from_the_middle_of_a_record_is_noticed(bips: Stored, tmp_path: Path) -> None:
    init(tmp_path / "again")
    shutil.copytree(bips.text, tmp_path / "text")
    paths = sorted(path for path in (tmp_path / "text").rglob("*.txt") if b"memhtml-" in path.read_bytes())
    lines = paths[len(paths) // 2].read_bytes().splitlines(keepends=True)
    del lines[len(lines) // 2]
    paths[len(paths) // 2].write_bytes(b"".join(lines))
    noticed = run("import", tmp_path / "again", "--links", tmp_path / "text")
    assert (2, "") == (noticed.returncode, noticed.stdout)
    with Ledger.open(tmp_path / "again") as ledger, ledger.view() as view:
        assert [] == list(view.partitions())
