"""`relatum rebuild`: derived rows of a store that nobody serves, put right after a copy was kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from relatum.cli.exits import told_in_one_line
from relatum.cli.verify import FINDINGS_STATUS, as_told, verified

if TYPE_CHECKING:
    from relatum.verify.repair import Changes
    from relatum.verify.report import Report


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--indexes", is_flag=True, help="Rebuild what is derived from events and payloads: all there is to rebuild."
)
@click.option(
    "--backup",
    "destination",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where to keep a copy of the store as it is; must be empty or missing.",
)
@click.option("--yes", is_flag=True, help="Don't ask.")
def rebuild(directory: Path, indexes: bool, destination: Path, yes: bool) -> None:
    """Put right what is derived in the store in DIRECTORY, which nobody may be serving.

    Verifies the store, keeps a byte for byte copy, derives all rows again from events and payloads, and writes those
    that differ: current rows, indexes and headers, topic slots, credentials, lists. Then verifies again. Prints one
    JSON object: what was written in each family of rows, and the report on the store as it is now.

    Events, payloads, revisions, receipts and journals are never written. Where one of them is damaged, the store is
    left as it is, the report is printed, and the exit status is 1: restore a backup.

    \b
    Example:
        relatum rebuild ./ledger --indexes --backup ./ledger-before
    """
    if not indexes:
        raise click.UsageError("nothing to rebuild was named; there is: --indexes")
    report = verified(directory)
    changes: Changes = {}
    if not report.clean:
        _require_repairable(report)
        if not yes:
            click.confirm(
                f"{report.findings_count} findings. Keep a copy in {destination} and repair?", abort=True, err=True
            )
        with told_in_one_line():
            changes = _repaired(directory, destination, report.position)
        report = verified(directory)
    click.echo(_as_json(changes, report))
    if not report.clean:
        sys.exit(FINDINGS_STATUS)


def _require_repairable(report: Report) -> None:
    """Ends the command where something is damaged that a repair would have to build upon."""
    from relatum.verify.repair import beyond_repair

    if families := beyond_repair(report):
        click.echo(_as_json({}, report))
        raise click.ClickException(f"not derived, and so not to be repaired: {', '.join(families)}; restore a backup")


def _repaired(directory: Path, destination: Path, position: int) -> Changes:
    from relatum.search.index import remove_index
    from relatum.verify.keeping import keep_copy
    from relatum.verify.repair import rebuild_indexes

    keep_copy(directory, destination)
    remove_index(directory)  # it was made of rows that may have been wrong
    return rebuild_indexes(directory, position)


def _as_json(changes: Changes, report: Report) -> str:
    told = {"changes": changes, "report": as_told(report)}
    return msgspec.json.format(msgspec.json.encode(told)).decode()
