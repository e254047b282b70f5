"""`relatum mcp`: the ledger for agents on standard input and output (mcp.md, transports)."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

_SCOPE: Final = {"project": "project_id", "mission": "mission_id", "agent": "agent_id", "visibility": "visibility"}


@click.command()
@click.option("--url", help="Where the server is; http://127.0.0.1:7474 unless the environment or a profile says so.")
@click.option("--profile", help="A profile of the client's configuration file.")
@click.option(
    "--secret-file", type=click.Path(path_type=Path, dir_okay=False), help="A file with the secret; mode 600."
)
@click.option("--project", help="The project of the scope.")
@click.option("--mission", help="The mission of the scope.")
@click.option("--agent", help="The agent of the scope.")
@click.option("--visibility", type=click.Choice(["shared", "private"]), help="The visibility of the scope.")
@click.option("--tools", default="core", show_default=True, help="Sets of tools, joined by commas.")
@click.option("--read-only", is_flag=True, help="Offer nothing that changes anything.")
@click.option("--text-only", is_flag=True, help="Answer text alone, for hosts that pass on both forms.")
@click.option("--model", "model", metavar="PROVIDER/MODEL/REVISION", help="The model that speaks through this server.")
def mcp(
    url: str | None,
    profile: str | None,
    secret_file: Path | None,
    tools: str,
    read_only: bool,
    text_only: bool,
    model: str | None,
    **scope: str | None,
) -> None:
    """Serve the ledger to an agent host over standard input and output.

    A host starts it; the credential comes from RELATUM_CLIENT_SECRET, RELATUM_CLIENT_SECRET_FILE or a profile. Without
    a scope the sole grant of the credential counts.

    \b
        relatum mcp
        relatum mcp --project demo --agent assistant --tools core,ledger
        relatum mcp --read-only --url https://ledger.example

    Sets of tools: core, judgments, facts, graph, ledger, full. docs/mcp.md has configurations for hosts.
    """
    if find_spec("mcp") is None:
        click.echo("Error: the package mcp is not installed: pip install 'relatum[mcp]'", err=True)
        sys.exit(2)
    from relatum.mcp.table import Offer, names_of

    try:
        offer = Offer(names_of(tools), read_only, text_only)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--tools") from None
    parts = None if model is None else tuple(model.split("/", 2))
    if parts is not None and (len(parts) != 3 or not all(parts)):
        raise click.BadParameter("must be PROVIDER/MODEL/REVISION", param_hint="--model")
    named = {_SCOPE[name]: value for name, value in scope.items() if value is not None}
    _serve(url, profile, secret_file, named, offer, parts)


def _serve(
    url: str | None,
    profile: str | None,
    secret_file: Path | None,
    named: dict[str, str],
    offer: object,
    model: tuple[str, ...] | None,
) -> None:
    import asyncio

    from relatum.client import ConfigurationError
    from relatum.mcp.standard_streams import Start, serve
    from relatum.mcp.table import Offer

    assert isinstance(offer, Offer)
    try:
        asyncio.run(serve(Start(url, profile, secret_file, named, offer, model)))
    except ConfigurationError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
