"""`relatum compact`."""

from __future__ import annotations

from pathlib import Path

import click

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.output import print_json
from relatum.cli.store_access import at_rest, is_url, operator_token_option, token_for


@click.command()
@click.argument("source", metavar="DIRECTORY|URL")
@operator_token_option
def compact(source: str, token_file: Path | None) -> None:
    """Purge what was erased from every file of a store.

    DIRECTORY is a store that nobody serves. URL is a server, which goes on serving. A deletion removes the rows of a
    payload at once; their bytes stay in the engine's files until these are rewritten, which is what happens here, with
    all of them. It needs as much room again as the store takes. Prints one JSON object with the size before and after.

    \b
    Examples:
        relatum compact ./ledger
        relatum compact http://127.0.0.1:7474 --operator-token-file operator.token

    Backups and copies that were made before keep what they have.
    """
    with told_in_one_line():
        if is_url(source):
            from relatum.store.backup import remote

            sizes = remote.compact(source, token_for(source, token_file))
        else:
            with at_rest("compact URL"):
                sizes = _compacted(Path(source))
    print_json(sizes)


def _compacted(directory: Path) -> dict[str, int]:
    from relatum.ledger import Ledger

    with Ledger.open(directory) as ledger:
        before, after = ledger.compact()
    return {"bytes_before": before, "bytes_after": after}
