"""Damage to the file of mined edges at rest: it is never read as edges, and never as fewer of them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest

from relatum.core.kinds import REGISTRY
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.errors import MinedEdgesUnavailable
from relatum.ledger.derived.edges import FILE_NAME, DerivedEdges
from relatum.store import sealed_sqlite
from tests.support.decay import decayed, put_back
from tests.support.polling import WAIT_SECONDS

RECORDS = [f"00000000-0000-7000-8000-{number:012x}" for number in range(40)]
KINDS = [name for name, _ in zip(REGISTRY, range(3), strict=False)]
HERE, THERE = "aa" * 16, "bb" * 16
PLACES = 240
UNFINISHED = MiningRun(run_id="tonight", run_date="2026-01-08")


class Scene(NamedTuple):
    """The files as they lie there in peace and after a kill, and what is answered."""

    at_rest: Path
    killed: Path
    answers: list[object]


def edges(seed: int, number: int) -> list[MinedEdge]:
    """So many edges that differ from those of another seed; some are told twice."""
    drawn = (blake2b(b"%d %d" % (seed, one), digest_size=8).digest() for one in range(number))
    return [
        MinedEdge(RECORDS[a % len(RECORDS)], KINDS[b % len(KINDS)], RECORDS[c % len(RECORDS)], weight / 255)
        for a, b, c, weight, *_ in drawn
    ]


def answers(mined: DerivedEdges) -> list[object]:
    """Everything that can be read, then what an unfinished run comes to with its last page."""
    told: list[object] = [mined.all(HERE, limit=10_000), mined.all(THERE), mined.count(HERE), mined.count(THERE)]
    told += [read(HERE, one, 100) for one in RECORDS for read in (mined.outgoing, mined.incoming)]
    told += [mined.replace(THERE, UNFINISHED, edges(9, 20), finish=True), mined.all(THERE)]
    return told


def asked(directory: Path) -> list[object] | None:
    """The answers of what lies in a directory; None where they are refused."""
    mined = DerivedEdges(directory / FILE_NAME)
    try:
        return answers(mined)
    except MinedEdgesUnavailable:
        return None
    finally:
        mined.close()


def told_by_seal(path: Path) -> sealed_sqlite._Told:
    with closing(sealed_sqlite._Seal(path)) as seal:
        return seal.read()


def unseal(path: Path) -> None:
    """Leaves a file as a process does that ends while it folds."""
    with closing(sealed_sqlite._Seal(path)) as seal:
        seal.write(seal.read()._replace(digest=sealed_sqlite._UNSEALED))


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    place = tmp_path_factory.mktemp("mined")
    (place / "used").mkdir()
    path = place / "used" / FILE_NAME
    mined = DerivedEdges(path)
    mined.replace(HERE, MiningRun(run_id="yesterday", run_date="2026-01-06"), edges(1, 300), finish=True)
    mined.close()
    mined = DerivedEdges(path)
    mined.replace(HERE, MiningRun(run_id="today", run_date="2026-01-07"), edges(2, 500), finish=True)
    mined.replace(THERE, MiningRun(run_id="today", run_date="2026-01-07"), edges(3, 50), finish=True)
    mined.replace(THERE, UNFINISHED, edges(4, 50), finish=False)
    copytree(place / "used", place / "killed")
    mined.close()
    copytree(place / "used", place / "at rest")
    mined = DerivedEdges(path)
    yield Scene(place / "at rest", place / "killed", answers(mined))
    mined.close()


@pytest.mark.parametrize("end", ["", "-seal"])
def test_damage_to_the_file_is_refused_and_to_its_seal_changes_nothing(end: str, scene: Scene, tmp_path: Path) -> None:
    name = FILE_NAME + end
    sound = (scene.at_rest / name).read_bytes()
    put_back(scene.at_rest, tmp_path)
    assert scene.answers == asked(tmp_path)
    for damaged in decayed(sound, name, PLACES // 6 if end else PLACES):
        put_back(scene.at_rest, tmp_path)
        (tmp_path / name).write_bytes(damaged)
        assert asked(tmp_path) in ((scene.answers, None) if end else (None,))


def test_damage_to_the_log_of_a_killed_process_is_refused(scene: Scene, tmp_path: Path) -> None:
    name = FILE_NAME + "-wal"
    sound = (scene.killed / name).read_bytes()
    put_back(scene.killed, tmp_path)
    assert scene.answers == asked(tmp_path)
    refused = 0
    for damaged in decayed(sound, name, PLACES // 2):
        put_back(scene.killed, tmp_path)
        (tmp_path / name).write_bytes(damaged)
        told = asked(tmp_path)
        assert told in (scene.answers, None), "fewer changes than were acknowledged"
        refused += told is None
    assert refused > PLACES // 2


@pytest.mark.parametrize("end", sealed_sqlite.BESIDE)
def test_what_is_gone_beside_the_file_is_missed(end: str, scene: Scene, tmp_path: Path) -> None:
    for kept in (scene.at_rest, scene.killed):
        put_back(kept, tmp_path)
        matters = end == "-seal" or (end == "-wal" and kept is scene.killed)
        (tmp_path / (FILE_NAME + end)).unlink(missing_ok=True)
        assert asked(tmp_path) == (None if matters else scene.answers)


def test_a_file_that_was_deleted_is_begun_anew(scene: Scene, tmp_path: Path) -> None:
    put_back(scene.killed, tmp_path)
    (tmp_path / FILE_NAME).unlink()
    with closing(DerivedEdges(tmp_path / FILE_NAME)) as mined:
        assert 0 == mined.count(HERE)
        assert 50 == mined.replace(HERE, UNFINISHED, edges(4, 50), finish=True)
    with closing(DerivedEdges(tmp_path / FILE_NAME)) as mined:
        assert 50 == mined.count(HERE)


def test_a_process_that_ends_while_it_folds_leaves_a_file_that_can_be_read(scene: Scene, tmp_path: Path) -> None:
    put_back(scene.killed, tmp_path)
    unseal(tmp_path / FILE_NAME)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        database.execute("PRAGMA wal_checkpoint").fetchall()
    assert scene.answers == asked(tmp_path)
    assert told_by_seal(tmp_path / FILE_NAME).digest != sealed_sqlite._UNSEALED, "it is sealed in the end"


def test_a_file_found_without_a_seal_is_sealed_before_it_is_used(scene: Scene, tmp_path: Path) -> None:
    used, killed, tried = tmp_path / "used", tmp_path / "killed", tmp_path / "tried"
    copytree(scene.killed, used)
    unseal(used / FILE_NAME)
    with closing(DerivedEdges(used / FILE_NAME)) as mined:
        mined.count(HERE)
        copytree(used, killed)
    copytree(killed, tried)
    assert scene.answers == asked(tried)
    for damaged in decayed((killed / FILE_NAME).read_bytes(), FILE_NAME, PLACES // 6):
        put_back(killed, tried)
        (tried / FILE_NAME).write_bytes(damaged)
        assert asked(tried) is None


USED = """
import os, sys
from pathlib import Path
from relatum.ledger.derived.edges import DerivedEdges
from tests.views.test_mined_damage_at_rest import HERE, UNFINISHED, edges

mined = DerivedEdges(Path(sys.argv[1]))
mined.replace(HERE, UNFINISHED, edges(2, 50), finish=True)
"""


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)", "mined.close()", "del mined"])
def test_however_a_process_ends_its_edges_are_there(end: str, tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", USED + end, path], timeout=WAIT_SECONDS, check=False)
        assert ended.returncode == (-9 if "kill" in end else 0)
        with closing(DerivedEdges(path)) as mined:
            assert sorted({tuple(one)[:3] for one in edges(2, 50)}) == sorted(tuple(one)[:3] for one in mined.all(HERE))


def test_a_log_is_folded_once_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_sqlite, "FOLDED_BYTES_MIN", 50_000)
    with closing(DerivedEdges(tmp_path / FILE_NAME)) as mined:
        assert 0 == mined.count(HERE)
        before = told_by_seal(tmp_path / FILE_NAME)
        for number in range(5):
            mined.replace(HERE, UNFINISHED, edges(number, 200), finish=True)
        copytree(tmp_path, tmp_path.with_name("copy"))
        told = mined.all(HERE)
    seal = told_by_seal(tmp_path.with_name("copy") / FILE_NAME)
    assert before.digest != seal.digest
    assert 5 == seal.changes
    with closing(DerivedEdges(tmp_path.with_name("copy") / FILE_NAME)) as killed:
        assert told == killed.all(HERE)
