"""`relatum rebuild`: what a store that nobody serves has lost and what follows from the rest, after a copy was kept."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.output import print_json
from relatum.cli.verify import FINDINGS_STATUS, as_told, verified

if TYPE_CHECKING:
    from relatum.store.verify.repair import Changes
    from relatum.store.verify.report import Report
    from relatum.store.verify.watermark_repair import Survey

_VOUCHED = (
    "The store ends at position {position}; its last commit was at {time}. Everything that it holds up to there agrees "
    "with itself. The new watermark will say that this is all that was ever acknowledged."
)
_UNKNOWN = (
    "Nobody can tell from its files whether that is so: commands that were acknowledged later would be missing without "
    "a trace. Ask those who would know: a receipt with a later time, or a saved cursor that the store does not know, "
    "proves that something is lost."
)
_TORN = (
    "The newest log ends in {bytes} bytes that are no whole record. They are kept beside it and cut off; if that "
    "command was acknowledged, it is among those that are lost."
)


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--indexes", is_flag=True, help="Rebuild what is derived from events and payloads.")
@click.option("--watermark", is_flag=True, help="Make a watermark where the store has lost its own.")
@click.option(
    "--backup",
    "destination",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where to keep a copy of the store as it is; must be empty or missing.",
)
@click.option("--yes", is_flag=True, help="Don't ask.")
def rebuild(directory: Path, indexes: bool, watermark: bool, destination: Path, yes: bool) -> None:
    """Put right what can be put right in the store in DIRECTORY, which nobody may be serving.

    Verifies the store, keeps a byte for byte copy, repairs, verifies again, and prints one JSON object: what was done,
    and the report on the store as it is now. Events, payloads, revisions, receipts and journals are never written.
    Where one of them is damaged, the store is left as it is, the report is printed, and the exit status is 1: restore
    a backup.

    --indexes derives all rows again from events and payloads, and writes those that differ: current rows, indexes and
    headers, topic slots, credentials, lists.

    --watermark is for a store whose watermark is missing or damaged, and of which there is no backup. It makes one that
    says what the store holds. First it says what that vouches for, and what it can't know: whether acknowledged
    commands are missing behind the end. A watermark that can be read is never replaced.

    \b
    Examples:
        relatum rebuild ./ledger --indexes --backup ./ledger-before
        relatum rebuild ./ledger --watermark --backup ./ledger-before
    """
    if indexes == watermark:
        raise click.UsageError("name one thing to rebuild: --indexes or --watermark")
    told = _watermark(directory, destination, yes) if watermark else _indexes(directory, destination, yes)
    report = verified(directory)
    _print(report, **told)
    if not report.clean:
        sys.exit(FINDINGS_STATUS)


# Indexes


def _indexes(directory: Path, destination: Path, yes: bool) -> dict[str, object]:
    from relatum.store.verify.repair import beyond_repair

    report = verified(directory)
    changes: Changes = {}
    if not report.clean:
        if families := beyond_repair(report):
            _print(report, changes={})
            raise click.ClickException(
                f"not derived, and so not to be repaired: {', '.join(families)}; restore a backup"
            )
        if not yes:
            click.confirm(
                f"{report.findings_count} findings. Keep a copy in {destination} and repair?", abort=True, err=True
            )
        with told_in_one_line():
            changes = _repaired(directory, destination, report.position)
    return {"changes": changes}


def _repaired(directory: Path, destination: Path, position: int) -> Changes:
    from relatum.ledger.search.index import remove_index
    from relatum.store.verify.repair import rebuild_indexes
    from relatum.store.verify.repair_copy import keep_copy

    keep_copy(directory, destination)
    remove_index(directory)  # it was made of rows that may have been wrong
    return rebuild_indexes(directory, position)


# Watermark


def _watermark(directory: Path, destination: Path, yes: bool) -> dict[str, object]:
    from relatum.store.verify.repair_copy import keep_copy
    from relatum.store.verify.watermark_repair import require_no_watermark, survey, unfit, vouch

    with told_in_one_line():
        require_no_watermark(directory)
    report = verified(directory)
    if families := unfit(report):
        _print(report, watermark=None)
        raise click.ClickException(f"not to be vouched for, because of findings in: {', '.join(families)}")
    with told_in_one_line():
        surveyed = survey(directory)
        for paragraph in _explained(surveyed):
            click.echo(paragraph, err=True)
        if not yes:
            click.confirm(f"Keep a copy in {destination} and make the watermark?", abort=True, err=True)
        keep_copy(directory, destination)
        vouch(directory, surveyed)
    return {"watermark": surveyed}


def _explained(surveyed: Survey) -> list[str]:
    """What is vouched for, and what nobody can know."""
    time = datetime.fromtimestamp(surveyed.committed_at_millis / 1000, UTC).isoformat(timespec="milliseconds")
    torn = [_TORN.format(bytes=surveyed.torn_bytes)] if surveyed.torn_bytes else []
    return [_VOUCHED.format(position=surveyed.position, time=time), _UNKNOWN, *torn]


def _print(report: Report, **told: object) -> None:
    print_json({**told, "report": as_told(report)}, indented=True)
