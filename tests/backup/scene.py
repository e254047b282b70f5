"""Stores to back up, and the program's own commands in process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from relatum.store.backup import create
from relatum.store.backup.manifest import Manifest
from tests.support.builders import START_MILLIS
from tests.support.history import every_kind_of_event
from tests.support.stores import published_rows

CREATED_AT_MILLIS = 1_800_000_000_000


def make_store(directory: Path) -> dict[bytes, bytes]:
    """A store with every kind of event in it; its rows."""
    clock = ManualClock(START_MILLIS)
    with Ledger.open(directory, create=True, clock=clock) as ledger:
        every_kind_of_event(ledger, clock)
        return published_rows(ledger)


def rows_in(directory: Path) -> dict[bytes, bytes]:
    """Every row of a store at rest."""
    with Ledger.open(directory) as ledger:
        return published_rows(ledger)


def back_up(directory: Path, destination: Path) -> Manifest:
    """A backup of a store at rest."""
    with create.local_source(directory) as source:
        files = create.copy(source, destination)
    return create.seal(destination, source.contents, files, CREATED_AT_MILLIS)


def files_of(directory: Path) -> dict[str, bytes]:
    """Everything in a directory and below, but for what is removed meanwhile: an engine does so whenever it likes."""
    found: dict[str, bytes] = {}
    for path in directory.rglob("*"):
        if path.is_file():
            with suppress(FileNotFoundError):
                found[str(path.relative_to(directory))] = path.read_bytes()
    return found
