"""Exports and imports for tests: a ledger into a directory, a directory into a new ledger, and back again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relatum.clock import Clock
from relatum.ledger import Ledger
from relatum.textual.exporting import Exported, export
from relatum.textual.manifest import MANIFEST_NAME

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
