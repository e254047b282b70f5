"""The command line: what an operator does with a store, what people and scripts do at a server, and a tour.

Here: the commands and how they speak. Standard output carries what a command is for (one JSON object, one address, a
tour) and nothing else; whatever goes wrong is one clear line on standard error and an exit status: 2 for a command line
or settings that can't be right and for a fault of the program, 1 for everything that the world refused. Not here: what
the commands do, which is the ledger's and the server's.

Engine, server and client are imported by the commands that need them, so that `--help` and `--version` answer at once.
The verbs of a client lie in `cli.client` and have more statuses (docs/command-line.md).
"""

from __future__ import annotations

import click

from relatum import __version__
from relatum.cli.admin import admin
from relatum.cli.backup import backup, restore
from relatum.cli.bench.command import bench
from relatum.cli.client.api import api
from relatum.cli.client.completion import completion
from relatum.cli.client.credential import credential, whoami
from relatum.cli.client.feed import feed
from relatum.cli.client.graph import graph
from relatum.cli.client.judgment import judgment
from relatum.cli.client.link import link
from relatum.cli.client.load.command import load
from relatum.cli.client.profile import profile
from relatum.cli.client.records import record
from relatum.cli.client.relation import relation
from relatum.cli.client.search import context, receipt, search, topic
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

    Use a server:

    \b
        relatum profile set work --url http://127.0.0.1:7474 --secret-stdin < secret.txt
        relatum record save "Staging is deployed by app-staging." --topic-key deploy/staging

    Each command has its own help, with examples: relatum serve --help
    """
    del debug  # is for `Commands`
    open_standard_streams()
    take_any_text()
    hide_memory()


main.add_section(
    "At a server",
    (
        (record, 'relatum record save "Staging is deployed by app-staging."'),
        (
            relation,
            "relatum relation assert causal_claim $CAUSE $EFFECT --evidence incident-17 --origin human_statement",
        ),
        (judgment, "relatum judgment list --all-ages"),
        (link, "relatum link add $A $B supports"),
        (graph, "relatum graph walk $CAUSE -o table"),
        (context, 'relatum context "deploy staging"'),
        (search, "relatum search staging"),
        (topic, 'relatum topic "Staging is deployed by app-staging."'),
        (receipt, "relatum receipt record note-1"),
        (feed, "relatum feed tail records --consumer mirror"),
        (load, "relatum load memories.jsonl"),
        (credential, "relatum credential issue worker --can memory_read --project demo --agent extractor"),
        (whoami, "relatum whoami"),
        (profile, "relatum profile list"),
        (mcp, "relatum mcp"),
        (api, "relatum api memory/graph/health"),
        (completion, 'eval "$(relatum completion bash)"'),
    ),
)
main.add_section(
    "On a store",
    (
        (init, "relatum init ./ledger --company acme --subject ada > admin.json"),
        (admin, "relatum admin issue ./ledger --company acme --subject ada > admin.json"),
        (serve, "relatum serve ./ledger"),
        (backup, "relatum backup ./ledger ./backup"),
        (restore, "relatum restore ./backup ./ledger-again"),
        (export_command, "relatum export ./ledger --links ./memory-as-text"),
        (import_command, "relatum import ./again --links ./memory-as-text"),
        (compact, "relatum compact ./ledger"),
        (confirm_clock, "relatum confirm-clock ./ledger"),
        (verify, "relatum verify ./ledger"),
        (rebuild, "relatum rebuild ./ledger --indexes --backup ./ledger-before"),
        (bench, "relatum bench"),
        (quickstart, "relatum quickstart --once"),
    ),
)
