"""`relatum verify`: every row of a store that nobody serves, derived again and compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.output import print_json
from relatum.cli.progress import progress_bar

if TYPE_CHECKING:
    from relatum.store.verify.report import Report

FINDINGS_STATUS: Final = 1
SHOWN_MAX: Final = 5
"""Findings that a verdict shows."""


class NotVerified(click.ClickException):
    """The store can't be read, or the report not be told, so nobody knows anything about it; exit status 2."""

    exit_code = 2


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes at work. Default: one for each processor.")
@click.option("--json", "whole", is_flag=True, help="Print the whole report, as one JSON object in one line.")
def verify(directory: Path, jobs: int | None, whole: bool) -> None:
    """Verify every row of the store in DIRECTORY, which nobody may be serving.

    Derives again whatever follows from events and payloads, and compares: indexes, headers, digests, chains, receipts,
    journals. Writes nothing, so a read-only copy can be verified too. Prints a verdict of a few
    lines; the whole report has counts and digests of each family of rows, and all that does not hold.

    \b
    Exit statuses:
        0  everything holds
        1  something does not; the report says what
        2  nothing was verified, or the report could not be printed: the store is missing, in use or unreadable, the
           command was interrupted, or there is a fault in relatum itself

    \b
    Examples:
        relatum verify ./ledger
        relatum verify ./ledger --json > report.json
    """
    report = verified(directory, jobs)
    with unless_known():
        if whole:
            print_json(as_told(report))
        else:
            click.echo("\n".join(verdict(report)))
    if not report.clean:
        sys.exit(FINDINGS_STATUS)


def verified(directory: Path, jobs: int | None = None) -> Report:
    """The report on a store, made behind a progress bar. Status 2 where the store can't be read."""
    from relatum.store.verify.directory import verify_directory

    with unless_known(), progress_bar("verifying") as told:
        return verify_directory(directory, jobs=jobs, progress=told)


@contextmanager
def unless_known() -> Iterator[None]:
    """Ends the command with status 2 where the block fails: 1 would say that something is known to be wrong."""
    try:
        with told_in_one_line():
            yield
    except click.ClickException as error:
        raise NotVerified(error.message) from error
    except KeyboardInterrupt as error:
        raise NotVerified("interrupted before everything was verified") from error


def verdict(report: Report) -> list[str]:
    """A report in a few lines for people."""
    counted = f"{report.rows} rows of {len(report.families)} families, {report.partitions} partitions"
    lines = [
        "everything holds" if report.clean else f"{report.findings_count} findings: something does not hold",
        f"  position {report.position}, {counted}",
        f"  digest of the history {report.digest}",
    ]
    for finding in report.findings[:SHOWN_MAX]:
        where = "" if finding.workspace_id is None else f" of workspace {finding.workspace_id}"
        lines.append(f"  {finding.family}{where}: {finding.message}")
    if report.findings_count > SHOWN_MAX:
        lines.append(f"  and {report.findings_count - SHOWN_MAX} more; --json prints the whole report")
    return lines


def as_told(report: Report) -> dict[str, object]:
    """A report as it is printed: what it comes to, and then its members."""
    return {"clean": report.clean, **msgspec.structs.asdict(report)}
