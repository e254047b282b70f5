"""What the system refuses while mined edges are kept: no fault costs the file its seal's word, and none lasts."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copytree
from typing import TypeVar

import pytest

from relatum.core.promotions import MiningRun
from relatum.errors import MinedEdgesUnavailable
from relatum.ledger.derived.edges import FILE_NAME, DerivedEdges
from relatum.store import sealed_sqlite
from tests.views.test_mined_damage_at_rest import HERE, RECORDS, edges, told_by_seal, unseal

T = TypeVar("T")
WRITES = 3
"""How often the seal is written as a run is kept and folded: told of it, broken, and made again."""


def mine(mined: DerivedEdges, seed: int) -> None:
    mined.replace(HERE, MiningRun(run_id=str(seed), run_date="2026-01-06"), edges(seed, 400), finish=True)


def answers(mined: DerivedEdges) -> list[object]:
    """All edges, and those at each record: what another index of the tables leads to."""
    told: list[object] = [mined.all(HERE, limit=10_000), mined.count(HERE)]
    return told + [read(HERE, one, 100) for one in RECORDS for read in (mined.outgoing, mined.incoming)]


def expected(seed: int) -> list[object]:
    with closing(DerivedEdges(None)) as mined:
        mine(mined, seed)
        return answers(mined)


def refused(mined: DerivedEdges, requests: int) -> None:
    for _ in range(requests):
        with pytest.raises(MinedEdgesUnavailable):
            mined.count(HERE)


def failing(call: Callable[..., T], which: range) -> Callable[..., T]:
    """A system call that fails in some of its turns."""
    turns = iter(range(1_000))

    def called(*given: object) -> T:
        if next(turns) in which:
            raise OSError(errno.EIO, "the disk fails")
        return call(*given)

    return called


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Within this context the process gets no further descriptor; those it has are as they were."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is sealed, with a run in it."""
    (tmp_path / "used").mkdir()
    with closing(DerivedEdges(tmp_path / "used" / FILE_NAME)) as mined:
        mine(mined, 1)
    return tmp_path / "used" / FILE_NAME


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
@pytest.mark.parametrize("turn", range(WRITES))
def test_a_seal_that_fails_once_while_the_log_is_folded_costs_nothing(
    call: str, turn: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed_sqlite, "FOLDED_BYTES_MIN", 1)
    mined = DerivedEdges(path)
    assert 0 < mined.count(HERE)
    with monkeypatch.context() as faulty:
        faulty.setattr(os, call, failing(getattr(os, call), range(turn, turn + 1)))
        with pytest.raises(MinedEdgesUnavailable):
            mine(mined, 2)
    killed = copytree(path.parent, path.parent.with_name("killed")) / FILE_NAME
    told = answers(mined)
    mined.close()
    for left in (path, killed):
        with closing(DerivedEdges(left)) as again:
            assert expected(2) == answers(again) == told
            assert told_by_seal(left).digest != sealed_sqlite._UNSEALED


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
@pytest.mark.parametrize("turns", [range(1), range(1, 2), range(1_000)])
def test_a_seal_that_fails_at_the_end_costs_nothing(
    call: str, turns: range, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = DerivedEdges(path)
    mine(mined, 2)
    before = path.read_bytes()
    with monkeypatch.context() as faulty:
        faulty.setattr(os, call, failing(getattr(os, call), turns))
        mined.close()
    assert (before == path.read_bytes()) == (0 in turns), "folded before its seal was broken"
    with closing(DerivedEdges(path)) as again:
        assert expected(2) == answers(again)


def test_a_file_without_a_seal_is_not_folded_before_the_disk_has_that(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = path.parent.with_name("killed")
    with closing(DerivedEdges(path)) as mined:
        mine(mined, 2)
        copytree(path.parent, killed)
    unseal(killed / FILE_NAME)
    before = (killed / FILE_NAME).read_bytes()
    with closing(DerivedEdges(killed / FILE_NAME)) as mined:
        with monkeypatch.context() as faulty:
            faulty.setattr(os, "fdatasync", failing(os.fdatasync, range(1_000)))
            refused(mined, 2)
        assert before == (killed / FILE_NAME).read_bytes()
        assert expected(2) == answers(mined)


def test_no_descriptor_is_needed_to_let_go_of_a_file(path: Path) -> None:
    mined = DerivedEdges(path)
    mine(mined, 2)
    with no_descriptors():
        mined.close()
    with closing(DerivedEdges(path)) as again:
        assert expected(2) == answers(again)


def test_a_fold_without_descriptors_is_over_once_there_are_some(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(DerivedEdges(path)) as mined:
        mine(mined, 3)  # SQLite makes the log now: it would lack a descriptor for that
        monkeypatch.setattr(sealed_sqlite, "FOLDED_BYTES_MIN", 1)
        with no_descriptors():
            with pytest.raises(MinedEdgesUnavailable):
                mined.drop(HERE)
            refused(mined, 2)
        assert 0 == mined.count(HERE), "it was kept before the log was folded"
        mine(mined, 2)
        assert expected(2) == answers(mined)


@pytest.mark.parametrize("opened", ["_Seal", "_guard", "_connection"])
def test_a_file_that_can_not_be_opened_again_after_a_fold_is_opened_by_the_next_request(
    opened: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(sealed_sqlite, "FOLDED_BYTES_MIN", 1)
    with closing(DerivedEdges(path)) as mined:
        assert 0 < mined.count(HERE)
        with monkeypatch.context() as faulty:
            faulty.setattr(sealed_sqlite, opened, full)
            with pytest.raises(MinedEdgesUnavailable):
                mine(mined, 2)
        assert expected(2) == answers(mined)


# Refusals


@pytest.fixture
def digests(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are read through, from now on."""
    seen: list[Path] = []
    digest = sealed_sqlite._digest

    def noted(path: Path) -> bytes:
        seen.append(path)
        return digest(path)

    monkeypatch.setattr(sealed_sqlite, "_digest", noted)
    return seen


def test_a_damaged_file_is_read_through_once_and_again_when_it_is_another_one(path: Path, digests: list[Path]) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with closing(DerivedEdges(path)) as mined:
        refused(mined, 5)
        assert [path] == digests
        other = path.with_name("other")
        other.write_bytes(sound)
        other.replace(path)
        assert expected(1) == answers(mined)


def test_a_damaged_file_that_is_deleted_is_begun_anew(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    with closing(DerivedEdges(path)) as mined:
        refused(mined, 2)
        path.unlink()
        assert 0 == mined.count(HERE)
        mine(mined, 2)
        assert expected(2) == answers(mined)


def test_a_file_that_lost_changes_is_not_read_through_on_every_request(path: Path, digests: list[Path]) -> None:
    killed = path.parent.with_name("killed")
    with closing(DerivedEdges(path)) as mined:
        mine(mined, 2)
        copytree(path.parent, killed)
    (killed / f"{FILE_NAME}-wal").unlink()
    digests.clear()
    with closing(DerivedEdges(killed / FILE_NAME)) as mined:
        refused(mined, 5)
    assert [killed / FILE_NAME] == digests


def test_a_file_of_another_version_is_not_read_through_on_every_request(path: Path, digests: list[Path]) -> None:
    with closing(sealed_sqlite.SealedDatabase(path)) as file:
        file.connection.execute("PRAGMA user_version = 999")
    digests.clear()
    with closing(DerivedEdges(path)) as mined:
        refused(mined, 5)
    assert [path] == digests


def unable(_: Path) -> None:
    raise sqlite3.OperationalError("unable to open database file")


def test_what_the_system_refuses_for_now_is_not_remembered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(DerivedEdges(path)) as mined:
        with no_descriptors():
            refused(mined, 2)
        with monkeypatch.context() as faulty:
            faulty.setattr(os, "pread", failing(os.pread, range(2)))
            refused(mined, 2)
        with monkeypatch.context() as faulty:
            faulty.setattr(sealed_sqlite, "_guard", unable)
            refused(mined, 2)
        assert expected(1) == answers(mined)
