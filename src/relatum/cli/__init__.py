"""The command line: what an operator does with a store, and a tour for whoever is new.

Here: the commands and how they speak. Standard output carries what a command is for (one JSON object, one address, a
tour) and nothing else; whatever goes wrong is one clear line on standard error and an exit status: 2 for a command line
or settings that can't be right and for a fault of the program, 1 for everything that the world refused. Not here: what
the commands do, which is the ledger's and the server's.

Engine and server are imported by the commands that need them, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import click

from relatum import __version__
from relatum.cli.admin import admin
from relatum.cli.backup import backup, restore
from relatum.cli.bench.command import bench
from relatum.cli.compact import compact
from relatum.cli.confirm_clock import confirm_clock
from relatum.cli.exit_status import Commands
from relatum.cli.init import init
from relatum.cli.mcp import mcp
from relatum.cli.output import take_any_text
from relatum.cli.quickstart.command import quickstart
from relatum.cli.rebuild import rebuild
from relatum.cli.serve import serve
from relatum.cli.text_export import export_command, import_command
from relatum.cli.verify import verify
from relatum.store.process_setup import hide_memory, open_standard_streams


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="relatum %(version)s")
@click.option("--debug", is_flag=True, help="Print a traceback where relatum itself fails; it may quote stored text.")
def main(debug: bool) -> None:
    """relatum: an event-sourced relation ledger for the memory of AI agents.

    See it work, on real data, in less than a minute:

    \b
        relatum quickstart --once

    Set up a store, with the first administrator of a company, and serve it:

    \b
        relatum init ./ledger --company acme --subject ada
        relatum serve ./ledger

    Each command has its own help, with examples: relatum serve --help
    """
    del debug  # is for `Commands`
    open_standard_streams()
    take_any_text()
    hide_memory()


for _command in (
    init,
    admin,
    serve,
    mcp,
    backup,
    restore,
    export_command,
    import_command,
    compact,
    confirm_clock,
    verify,
    rebuild,
    bench,
    quickstart,
):
    main.add_command(_command)
