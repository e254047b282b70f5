"""`relatum backup` and `relatum restore`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.output import print_json, shown
from relatum.cli.progress import progress_bar
from relatum.cli.store_access import at_rest, is_url, operator_token_option, token_for

if TYPE_CHECKING:
    from relatum.store.backup.image_contents import Source
    from relatum.store.backup.manifest import Manifest

_RESTORED = (
    "This store is as the other one was at that position, and its own from here on. Where it goes on, its journals "
    "take other ways than the original's: a consumer that had come further there is told journal_history_conflict, and "
    "reconciles. Don't let both be written to as if they were one."
)


@click.command()
@click.argument("source", metavar="DIRECTORY|URL")
@click.argument("destination", type=click.Path(file_okay=False, path_type=Path))
@operator_token_option
def backup(source: str, destination: Path, token_file: Path | None) -> None:
    """Make a verified backup in DESTINATION.

    DIRECTORY is a store that nobody serves. URL is a server, which goes on serving; it must have been started with an
    operator's token, and the same file is given here. DESTINATION must be empty or missing. Everything is copied, then
    every row of the copy is verified, and the manifest is written last: without it there is no backup. Prints one JSON
    object.

    \b
    Examples:
        relatum backup ./ledger ./backup-1
        relatum backup http://127.0.0.1:7474 ./backup-2 --operator-token-file operator.token

    A backup keeps what is erased later, until it is deleted itself.
    """
    with told_in_one_line():
        made = _make(source, destination, token_file)
    _print(made, destination)


@click.command()
@click.argument("source", type=click.Path(file_okay=False, path_type=Path))
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def restore(source: Path, directory: Path) -> None:
    """Make a store in DIRECTORY from the backup in SOURCE.

    DIRECTORY must be empty or missing. Every file is checked against the manifest and every row of the new store is
    verified; before that there is no store in DIRECTORY. Prints one JSON object.

    \b
    Example:
        relatum restore ./backup-1 ./ledger-again
    """
    from relatum.store.backup import restore as restoring

    with told_in_one_line():
        restored = restoring.restore(
            source, directory, copying=progress_bar("copying"), verifying=progress_bar("verifying")
        )
    _print(restored, directory)
    click.echo(_RESTORED, err=True)


def _make(source: str, destination: Path, token_file: Path | None) -> Manifest:
    from relatum.clock import SystemClock
    from relatum.store.backup import create

    at_millis = SystemClock().millis()
    with _opened(source, token_file) as opened, progress_bar("copying") as told:
        files = create.copy(opened, destination, progress=told)
        contents = opened.contents
    with progress_bar("verifying") as told:
        return create.seal(destination, contents, files, at_millis, progress=told)


@contextmanager
def _opened(source: str, token_file: Path | None) -> Iterator[Source]:
    if is_url(source):
        from relatum.store.backup.remote import remote_source

        with remote_source(source, token_for(source, token_file)) as remote:
            yield remote
    else:
        from relatum.store.backup.create import local_source

        with at_rest("backup URL DESTINATION"), local_source(Path(source)) as local:
            yield local


def _print(manifest: Manifest, directory: Path) -> None:
    told = {
        "directory": shown(directory),
        "created_at_millis": manifest.created_at_millis,
        "position": manifest.position,
        "digest": manifest.digest,
        "rows": manifest.rows,
        "bytes": manifest.bytes,
        "files": len(manifest.files),
    }
    print_json(told)
