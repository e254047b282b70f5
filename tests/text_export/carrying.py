"""Exports and imports for tests: a ledger into a directory, a directory into a new ledger, and back again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crash_tests.inspection.soundness import check_rows
from relatum.clock import Clock
from relatum.core.events import Event
from relatum.ledger import Ledger
from relatum.ledger.text_export.exporter import Exported, export
from relatum.ledger.text_export.importer import import_text
from relatum.ledger.text_export.manifest import MANIFEST_NAME
from tests.support.builders import PARTITION
from tests.support.stores import assert_rebuilds, published_rows

COMPANIES = ("acme", "other company")


def exported(ledger: Ledger, directory: Path, *, leave_out: bool = False) -> Exported:
    """Export what a ledger holds."""
    with ledger.view() as view:
        return export(view, directory, leave_out=leave_out)


@contextmanager
def empty_ledger(clock: Clock | None = None) -> Iterator[Ledger]:
    """A ledger with the companies of these tests and nothing else."""
    with Ledger.in_memory(clock=clock) as ledger:
        for company in COMPANIES:
            ledger.bootstrap(company, "root")
        yield ledger


def files(directory: Path, *, manifest: bool = True) -> dict[str, bytes]:
    """Every file of an export by its path, as it lies there."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and (manifest or path.name != MANIFEST_NAME)
    }


def carry(ledger: Ledger, again: Ledger, place: Path, *, leave_out: bool = False) -> dict[str, dict[str, int]]:
    """Carries a ledger over; what was left out. What comes back is sound, and exports to the same bytes."""
    first = exported(ledger, place / "first", leave_out=leave_out)
    import_text(again, place / "first")
    second = exported(again, place / "second")
    assert files(place / "first") == files(place / "second")
    assert (first.root, {}) == (second.root, second.left_out)
    assert_rebuilds(again)
    check_rows(published_rows(again))
    return first.left_out


def events(ledger: Ledger) -> list[Event | None]:
    with ledger.view() as view:
        reader = view.partition(PARTITION)
        return [reader.event(sequence) for sequence in range(1, reader.head().sequence + 1)]
