"""`relatum init`: a company and its first administrator, in a new store or in one that exists."""

from __future__ import annotations

from pathlib import Path

import click

from relatum.cli.bootstrap import company_exists, make_administrator, secret_file_option, tell
from relatum.cli.exit_status import told_in_one_line
from relatum.cli.identity import identity_options


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@identity_options
@secret_file_option
@click.option("--if-missing", is_flag=True, help="Make nothing, and end with 0, where the company exists.")
def init(directory: Path, company: str, subject: str, secret_file: Path | None, if_missing: bool) -> None:
    """Make a company with its first administrator in DIRECTORY.

    Makes the store too, if DIRECTORY holds none. The administrator's secret is told this one time; only a verifier of
    it is stored. It is written to FILE, which must not exist yet, or else it is a member of what is printed: one JSON
    object with the members contract_version, credential and, without a file, secret. Nobody may serve the store
    meanwhile: one process owns it.

    \b
    Examples:
        relatum init ./ledger --company acme --subject ada --secret-file admin.secret
        relatum init ./ledger --company zenith --subject zoe

    A company is made once, for ever. An administrator who was lost is replaced with: relatum admin issue
    """
    with told_in_one_line():
        if if_missing and company_exists(directory, company):
            click.echo("the company exists already; nothing was made", err=True)
            return
        tell(lambda keep: make_administrator(directory, company, subject, keep=keep), secret_file)
