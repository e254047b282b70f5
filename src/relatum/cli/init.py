"""`relatum init`: a company and its first administrator, in a new store or in one that exists."""

from __future__ import annotations

from pathlib import Path

import click

from relatum.cli.bootstrap import as_json, make_administrator
from relatum.cli.exit_status import told_in_one_line
from relatum.cli.identity import identity_options


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@identity_options
def init(directory: Path, company: str, subject: str) -> None:
    """Make a company with its first administrator in DIRECTORY.

    Makes the store too, if DIRECTORY holds none. Prints one JSON object with the members contract_version, credential
    and secret. The secret is told this one time; only a verifier of it is stored. Nobody may serve the store
    meanwhile: one process owns it.

    \b
    Examples:
        relatum init ./ledger --company acme --subject ada > admin.json
        relatum init ./ledger --company zenith --subject zoe

    A company is made once, for ever. An administrator who was lost is replaced with: relatum admin issue
    """
    with told_in_one_line():
        issued = make_administrator(directory, company, subject)
    click.echo(as_json(issued))
