"""`relatum quickstart`: everything in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from relatum.cli.bootstrap import make_administrator
from relatum.cli.exit_status import told_in_one_line
from relatum.cli.quickstart import screen
from relatum.cli.signals import stoppable

if TYPE_CHECKING:
    from relatum.cli.quickstart.child import Server
    from relatum.cli.quickstart.keys import Keys
    from relatum.cli.quickstart.load import Loaded

COMPANY, SUBJECT = "quickstart", "operator"


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--once", is_flag=True, help="End after the tour instead of leaving the server up.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="The server's port. Default: a free one.")
def quickstart(directory: Path | None, once: bool, port: int) -> None:
    """See the ledger at work on real data: every Python PEP, its history, and what the PEPs say of each other.

    Makes a store, issues keys to a writer, a reviewer and a reader, starts the server, loads the data over HTTP, and
    walks through an assertion, its replay, a conflict, a rejection and a change that hides a relation. Then the server
    stays up, with curl lines to paste, until Ctrl-C.

    The store lies in a temporary directory that goes away with the server, or stays in DIRECTORY if that is given.

    \b
    Examples:
        relatum quickstart --once
        relatum quickstart ./quickstart-store --port 7474
    """
    with told_in_one_line(), stoppable(), _store(directory) as store:
        _run(store, port, once=once)
        if directory is not None:
            screen.say(f"The store stays in {directory}; serve it again with: relatum serve {directory}")


def _run(directory: Path, port: int, *, once: bool) -> None:
    import httpx

    from relatum.cli.quickstart import corpus, keys, load, tour
    from relatum.cli.quickstart.child import require_free, serving

    screen.heading("A store, a server, and the PEPs")
    require_free(port)
    admin = make_administrator(directory, COMPANY, SUBJECT)
    screen.say(f"A store in {directory}, with the company {COMPANY!r} and its administrator.")
    with (
        serving(directory, port) as server,
        httpx.Client(base_url=server.address, timeout=60, trust_env=False) as http,  # past any proxy: it is beside us
    ):
        screen.say(f"The server answers at {server.address}; see {server.address}/docs for its routes.")
        issued = keys.issue(http, admin.secret)
        screen.say("Keys for a writer, a reviewer and a reader, issued over HTTP. Now every PEP, with its history:")
        peps = corpus.load()
        loaded = load.load(issued.writer, peps, screen.progress)
        screen.say(f"({peps.ended} numbers with a history are no PEPs any more, and are left out.)")
        hidden = tour.walk(issued, loaded)
        if not once:
            _leave_up(server, issued, loaded, hidden)
    screen.heading("That was the tour.")


def _leave_up(server: Server, issued: Keys, loaded: Loaded, hidden: str) -> None:
    from relatum.cli.quickstart import paste

    screen.heading("Your turn: lines to paste into another shell")
    for shows, line in paste.lines(issued, loaded, hidden):
        screen.line(f"\n# {shows}\n{line}")
    screen.heading(f"The server stays up at {server.address} until Ctrl-C.")
    try:
        status = server.wait()
    except KeyboardInterrupt:
        return
    raise click.ClickException(f"the server ended by itself, with status {status}")


@contextmanager
def _store(directory: Path | None) -> Iterator[Path]:
    """Where the store goes: `directory`, which must have room for it, or a place that goes away again."""
    if directory is None:
        with TemporaryDirectory(prefix="relatum-quickstart-") as temporary:
            yield Path(temporary)
    elif directory.exists() and any(directory.iterdir()):
        raise click.ClickException(
            f"{directory} is not empty. If it holds the store of an earlier quickstart, serve it with: "
            f"relatum serve {directory}\n(its keys were told once; for a new administrator: "
            f"relatum admin issue {directory} --company {COMPANY} --subject {SUBJECT})"
        )
    else:
        yield directory
