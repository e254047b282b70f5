"""An export has its manifest only once everything else is on the disk; a disk that fails is told of."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.ledger.text_export.manifest import MANIFEST_NAME
from tests.support.builders import PARTITION, PRIVATE
from tests.support.desk import Desk
from tests.text_export.carrying import exported, files


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Path], None]], None]:
    """Lets somebody see each file and directory before it is synced."""
    real = os.fsync

    def watch(seen: Callable[[Path], None]) -> None:
        def fsync(descriptor: int) -> None:
            seen(Path(f"/proc/self/fd/{descriptor}").readlink())
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)

    return watch


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger.in_memory()
    for partition in (PARTITION, PRIVATE):
        desk = Desk(made, partition)
        desk.create()
        desk.create("and turned again")
    return made


def test_every_file_and_every_name_is_synced_before_the_manifest(
    ledger: Ledger, tmp_path: Path, watched: Callable[[Callable[[Path], None]], None]
) -> None:
    text, synced = tmp_path / "text", list[Path]()
    watched(synced.append)
    exported(ledger, text)
    ledger.close()
    before = synced[: synced.index(text / f"{MANIFEST_NAME}.new")]
    written = [text / name for name in files(text, manifest=False)]
    assert 6 == len(written)
    assert {*written, *(path.parent for path in written)} <= {*before}
    for path in written:
        assert path.parent in before[before.index(path) :], "a name is durable once its directory is synced after it"
    assert text in synced[-1:]


@pytest.mark.parametrize("which", [0, 1, 5, 6])
def test_a_file_that_can_not_be_synced_is_told_of_and_there_is_no_export(
    ledger: Ledger, tmp_path: Path, which: int, watched: Callable[[Callable[[Path], None]], None]
) -> None:
    met: list[Path] = []

    def fail(path: Path) -> None:
        if path.is_file():
            met.append(path)
            if which == len(met) - 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    watched(fail)
    with pytest.raises(OSError, match="Input/output error"):
        exported(ledger, tmp_path / "text")
    ledger.close()
    assert not (tmp_path / "text" / MANIFEST_NAME).exists()
