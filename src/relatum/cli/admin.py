"""`relatum admin`: what an operator does offline, because no administrator can do it over HTTP any more."""

from __future__ import annotations

from pathlib import Path

import click

from relatum.cli.bootstrap import replace_administrator, secret_file_option, tell
from relatum.cli.exit_status import told_in_one_line
from relatum.cli.identity import identity_options


@click.group()
def admin() -> None:
    """Help a company whose administrators are lost, offline.

    \b
    Example:
        relatum admin issue ./ledger --company acme --subject ada --secret-file admin.secret
    """


@admin.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@identity_options
@secret_file_option
def issue(directory: Path, company: str, subject: str, secret_file: Path | None) -> None:
    """Issue a new administrator to a company that exists in DIRECTORY.

    For a company whose administrators have lost their secrets or were all revoked. Stop the server first: one process
    owns the store. Prints the same JSON object as init; the credential's history shows it as bootstrapped, so that the
    company can tell it from those it issued itself.

    \b
    Example:
        relatum admin issue ./ledger --company acme --subject ada --secret-file admin.secret
    """
    with told_in_one_line():
        tell(lambda keep: replace_administrator(directory, company, subject, keep=keep), secret_file)
