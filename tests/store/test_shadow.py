"""Through what a store is looked at, and ephemeral directories: none is left for long, whoever is killed or refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory

import pytest

from crash_tests.failpoints.torn import tear
from relatum.core.ids import Ref
from relatum.errors import StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import failpoints
from relatum.store.layout import ENGINE_NAME, WATERMARK_NAME
from relatum.store.read_only_open import SHADOW_PREFIX
from relatum.store.rocks import reading
from relatum.store.temporary_directory import ephemeral_directory
from tests.backup.test_erasure import holding, planted_text
from tests.cli.program import run
from tests.support.desk import Desk

PROJECT = Path(__file__).parents[2]
SECONDS_MAX = 60


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def shadows_in(directory: Path) -> list[Path]:
    return list(directory.glob(f"{SHADOW_PREFIX}*"))


def content_of(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.fixture
def text() -> str:
    return planted_text()


@pytest.fixture
def made() -> list[Ref]:
    """The record that has the text."""
    return []


@pytest.fixture
def torn(tmp_path: Path, text: str, made: list[Ref]) -> Path:
    """What a power cut leaves: a store with a text that only the log holds, which has a torn end."""
    lived, left = tmp_path / "lived", tmp_path / "left"
    with Ledger.open(lived, create=True) as ledger:
        made.append(Desk(ledger).create(text))
        left.mkdir()
        shutil.copytree(lived / ENGINE_NAME, left / ENGINE_NAME)
        shutil.copy(lived / WATERMARK_NAME, left)
    shutil.rmtree(lived)
    tear(left)
    return left


@pytest.fixture
def seen(torn: Path) -> Iterator[list[Path]]:
    """The shadows of the store while it was examined, with what may be done to them."""
    found: list[Path] = []

    def look(place: failpoints.Name) -> None:
        if place == "examine.passed":
            found.extend(shadows_in(torn))

    failpoints.arm(look)
    yield found
    failpoints.arm(None)


def killed_while_it_looks(store: Path, temporary: Path, command: str = "compact") -> None:
    """The program on a store, killed behind its examination."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "crash_tests.relatum_process",
            "--failpoint",
            "examine.passed",
            "--",
            command,
            str(store),
        ],
        cwd=PROJECT,
        env=os.environ | {"TMPDIR": str(temporary)},
        timeout=SECONDS_MAX,
        capture_output=True,
        check=False,
    )
    assert -SIGKILL == done.returncode, done.stderr


def test_an_opening_looks_through_a_shadow_beside_the_engine_and_leaves_none(torn: Path, seen: list[Path]) -> None:
    Ledger.open(torn).close()
    assert 1 == len(seen)
    assert {ENGINE_NAME, WATERMARK_NAME} == names(torn)


def test_a_killed_opening_leaves_no_row_anywhere_and_the_next_one_sweeps(
    torn: Path, tmp_path: Path, text: str, made: list[Ref]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    killed_while_it_looks(torn, temporary)
    killed_while_it_looks(torn, temporary)
    (shadow,) = shadows_in(torn)  # that of the first one was swept by the second
    assert 0o700 == shadow.stat().st_mode & 0o777
    files = [path for path in shadow.iterdir() if not path.is_symlink()]
    assert files
    assert not any(text.encode() in path.read_bytes() for path in files)
    assert set() == names(temporary)
    with Ledger.open(torn) as ledger:
        assert [] == shadows_in(torn)
        assert holding(torn, text)
        Desk(ledger).delete(*made)
    killed_while_it_looks(torn, temporary)
    assert 0 == run("compact", torn).returncode
    assert [] == holding(torn, text)
    assert [] == holding(temporary, text)
    assert {ENGINE_NAME, WATERMARK_NAME} == names(torn)


@pytest.mark.parametrize("refused", ["behind its watermark", "damaged"])
def test_a_refused_opening_leaves_every_byte_as_it_was_and_no_shadow(torn: Path, refused: str) -> None:
    if refused == "damaged":
        log = next(path for path in (torn / ENGINE_NAME).glob("*.log") if path.stat().st_size)
        log.write_bytes(log.read_bytes().replace(b"\x01", b"\x02", 1))
    else:
        (torn / WATERMARK_NAME).unlink()
    before = content_of(torn)
    with pytest.raises(StoreUnavailable):
        Ledger.open(torn)
    assert before == content_of(torn)
    assert [] == shadows_in(torn)


VERIFYING = """
import os, sys
from pathlib import Path
from relatum.store.process_setup import hide_memory
from relatum.store.verify.directory import verify_directory
verify_directory(Path(sys.argv[1]), jobs=1)  # so that everything is imported: another user may not be able to
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
hide_memory()
print(verify_directory(Path(sys.argv[1]), jobs=1).clean, os.access(sys.argv[1], os.W_OK))
"""


def test_a_verification_needs_no_right_to_write_and_leaves_nothing(torn: Path) -> None:
    with TemporaryDirectory(prefix="relatum-test-") as place, TemporaryDirectory(prefix="relatum-test-") as temporary:
        Path(temporary).chmod(0o1777)
        store = shutil.copytree(torn, Path(place) / "store")
        for path in (*store.rglob("*"), store, Path(place)):
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = content_of(store)
        done = subprocess.run(
            [sys.executable, "-c", VERIFYING, str(store)],
            env=os.environ | {"TMPDIR": temporary},
            timeout=SECONDS_MAX,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "True False\n" == done.stdout, done.stderr
        assert before == content_of(store)
        assert set() == names(Path(temporary))
        for path in (Path(place), store, *store.rglob("*")):
            path.chmod(0o755)


def test_a_place_for_temporary_files_that_is_none_is_a_clear_refusal(
    torn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(StoreUnavailable, match="TMPDIR"), reading(torn / ENGINE_NAME):
        pass
    Ledger.open(torn).close()


# Ephemeral directories


def test_a_directory_is_there_as_long_as_its_block_and_for_its_owner_alone(tmp_path: Path) -> None:
    with ephemeral_directory("kind-", tmp_path) as directory:
        assert 0o700 == directory.stat().st_mode & 0o777
        (directory / "file").write_text("")
        (directory / "link").symlink_to(tmp_path)
    assert set() == names(tmp_path)
    with pytest.raises(KeyError), ephemeral_directory("kind-", tmp_path):
        raise KeyError
    assert set() == names(tmp_path)


def test_what_somebody_left_is_swept_and_what_somebody_uses_is_not(tmp_path: Path) -> None:
    (tmp_path / "kind-left").mkdir()
    (tmp_path / "kind-left" / "file").write_text("")
    (tmp_path / "kind-left" / "below").mkdir()
    (tmp_path / "kind-left" / "below" / "file").write_text("")
    (tmp_path / "other-left").mkdir()
    with ExitStack() as stack:
        used = [stack.enter_context(ephemeral_directory("kind-", tmp_path)) for _ in range(3)]
        assert {"other-left", *(directory.name for directory in used)} == names(tmp_path)


def test_a_link_to_somewhere_else_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "letter").write_text("dear")
    (tmp_path / "kind-link").symlink_to(elsewhere)
    with ephemeral_directory("kind-", tmp_path):
        assert {"letter"} == names(elsewhere)


def test_what_can_not_be_removed_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "kind-left").write_text("no directory")
    with ephemeral_directory("kind-", tmp_path):
        pass
    assert {"kind-left"} == names(tmp_path)
