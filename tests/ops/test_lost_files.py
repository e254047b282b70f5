"""A store that has lost files: it is refused with an explanation, nothing is changed, and what is put back is found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from relatum.errors import StoreUnavailable
from relatum.ledger import Ledger
from relatum.store.layout import ENGINE_NAME, WATERMARK_NAME
from tests.support.desk import Desk
from tests.support.stores import published_rows

EARLIER, LATER = 20, 15
"""Commands that lie in table files, and commands that lie in the log."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a process leaves that was killed."""
    directory = tmp_path_factory.mktemp("killed")
    for commands in (EARLIER, LATER):
        with Ledger.open(directory / "lived", create=True) as ledger:
            desk = Desk(ledger)
            for _ in range(commands):
                desk.create()
            if commands == LATER:
                shutil.copytree(directory / "lived", directory / "left")
    return directory / "left"


@pytest.fixture
def store(killed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed, tmp_path / "store")


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def log_of(store: Path) -> Path:
    (log,) = (path for path in (store / ENGINE_NAME).glob("*.log") if path.stat().st_size)
    return log


def refusal_of(store: Path) -> str:
    """Why the store is not opened, nor another one made in its place; neither time does it change."""
    before = contents(store)
    told = set()
    for create in (False, True):
        with pytest.raises(StoreUnavailable) as refused:
            Ledger.open(store, create=create)
        told.add(str(refused.value))
    assert before == contents(store)
    (message,) = told
    return message


def assert_whole(store: Path) -> None:
    with Ledger.open(store) as ledger:
        assert EARLIER + LATER == len([key for key in published_rows(ledger) if key[16] == 3 and any(key[:16])])
        Desk(ledger).create()


def test_what_a_kill_leaves_is_opened(store: Path) -> None:
    assert_whole(store)


@pytest.mark.parametrize(
    "lose",
    [
        lambda log: log.unlink(),
        lambda log: log.write_bytes(b""),
        lambda log: log.write_bytes(log.read_bytes()[: log.stat().st_size // 2]),
    ],
    ids=["deleted", "emptied", "cut in half"],
)
def test_a_lost_log_is_refused_and_found_again_once_it_is_put_back(store: Path, lose: Callable[[Path], None]) -> None:
    log = log_of(store)
    content = log.read_bytes()
    lose(log)
    message = refusal_of(store)
    assert "acknowledged commands are lost" in message
    assert f"had come to position {EARLIER + LATER}" in message
    assert "Nothing has been changed" in message
    assert "relatum restore" in message
    log.write_bytes(content)
    assert_whole(store)


def test_a_lost_watermark_is_refused_and_found_again_once_it_is_put_back(store: Path) -> None:
    path = store / WATERMARK_NAME
    content = path.read_bytes()
    path.unlink()
    assert "the high watermark is missing" in refusal_of(store)
    path.write_bytes(content[:-1])
    assert "the high watermark is damaged" in refusal_of(store)
    path.write_bytes(content)
    assert_whole(store)


def test_a_lost_table_file_is_refused_and_found_again_once_it_is_put_back(store: Path) -> None:
    (table,) = (store / ENGINE_NAME).glob("*.sst")
    content = table.read_bytes()
    table.unlink()
    assert table.name in refusal_of(store)
    table.write_bytes(content)
    assert_whole(store)


@pytest.mark.parametrize("lost", ["all", "all but their directory", "CURRENT"])
def test_lost_files_of_the_engine_are_refused_and_found_again_once_they_are_put_back(
    store: Path, tmp_path: Path, lost: str
) -> None:
    engine = store / ENGINE_NAME
    shutil.copytree(engine, tmp_path / "kept")
    if lost == "CURRENT":
        (engine / lost).unlink()
    else:
        shutil.rmtree(engine)
        if lost != "all":
            engine.mkdir()
    message = refusal_of(store)
    assert "has lost its files" in message
    assert f"had come to position {EARLIER + LATER}" in message
    assert "relatum restore" in message
    shutil.copytree(tmp_path / "kept", engine, dirs_exist_ok=True)
    assert_whole(store)


def test_the_files_of_two_copies_that_went_different_ways_do_not_make_a_store(store: Path, tmp_path: Path) -> None:
    other = shutil.copytree(store, tmp_path / "other")
    for directory in (store, other):
        with Ledger.open(directory) as ledger:
            Desk(ledger).create()
    shutil.copy(other / WATERMARK_NAME, store / WATERMARK_NAME)
    assert "is not the one that was acknowledged" in refusal_of(store)


def test_a_store_at_rest_in_an_earlier_state_is_refused_beside_the_watermark_of_a_later_one(
    store: Path, tmp_path: Path
) -> None:
    """An older copy of the engine's files, as a careless restore brings them back."""
    earlier = shutil.copytree(store, tmp_path / "earlier")
    with Ledger.open(store) as ledger:
        Desk(ledger).create()
    shutil.rmtree(store / ENGINE_NAME)
    shutil.copytree(earlier / ENGINE_NAME, store / ENGINE_NAME)
    assert f"ends at position {EARLIER + LATER}" in refusal_of(store)
