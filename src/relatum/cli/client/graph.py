"""`relatum graph`: neighbourhoods of records, and how well they hang together."""

from __future__ import annotations

from typing import Any, get_args

import click

from relatum.cli.client.drawing import dot, overview_dot, overview_lines, tree
from relatum.cli.client.relation import KIND
from relatum.cli.client.session import Session, body_of, given
from relatum.cli.client.values import IDENTIFIER, Word
from relatum.cli.client.verb import verb
from relatum.core.answers.graphs import Direction
from relatum.limits import GRAPH_DEPTH_MAX, GRAPH_EDGES_MAX, GRAPH_NODES_MAX, GRAPH_SCAN_MAX, OVERVIEW_MAX

roots_argument = click.argument("root_record_ids", metavar="ID...", type=IDENTIFIER, nargs=-1, required=True)
depth_option = click.option(
    "--depth", "max_depth", type=click.IntRange(0, GRAPH_DEPTH_MAX), help="Steps from the roots."
)
nodes_option = click.option("--nodes", "node_limit", type=click.IntRange(1, GRAPH_NODES_MAX), help="Records, at most.")
dot_option = click.option("--dot", "as_dot", is_flag=True, help="Write the graph for Graphviz and its like.")


@click.group()
def graph() -> None:
    """Walk along relations, and to what records were derived from.

    \b
    Examples:
        relatum graph walk $CAUSE -o table
        relatum graph health
    """


@verb(graph, "walk")
@roots_argument
@click.option("--direction", type=Word(get_args(Direction)), help="both unless told otherwise.")
@click.option("--kind", "relation_kinds", type=KIND, multiple=True, help="Along this kind; may be given again.")
@depth_option
@nodes_option
@click.option("--edges", "edge_limit", type=click.IntRange(1, GRAPH_EDGES_MAX), help="Relations, at most.")
@click.option("--scan", "scan_limit", type=click.IntRange(1, GRAPH_SCAN_MAX), help="Entries looked at, at most.")
@click.option("--include-derived", is_flag=True, help="Along mined edges too.")
@dot_option
def walk(session: Session, as_dot: bool, include_derived: bool, **members: Any) -> None:
    """Walk along relations from up to 16 records.

    \b
    Examples:
        relatum graph walk $CAUSE -o table
        relatum graph walk $CAUSE --kind causal_claim --depth 4 --dot | dot -Tsvg
    """
    query = given(members | {"include_derived": include_derived or None})
    found = session.read("graph/typed", query=query)["graph"]
    _show(session, found, as_dot)


@verb(graph, "evidence")
@roots_argument
@depth_option
@nodes_option
@dot_option
def evidence(session: Session, as_dot: bool, **members: Any) -> None:
    """Walk to what records were derived from.

    \b
    Example:
        relatum graph evidence $SUMMARY
    """
    _show(session, session.read("graph/evidence", query=given(members))["graph"], as_dot)


def _show(session: Session, found: dict[str, Any], as_dot: bool) -> None:
    if as_dot:
        for line in dot(found):
            session.output.text(line)
        return
    session.output.one(found, tree)
    if not found["coverage"]["complete"]:
        session.note(f"not all of it: {', '.join(found['coverage']['stop_reasons'])}")


@verb(graph, "health")
def health(session: Session) -> None:
    """How well the records of the scope hang together, and what awaits somebody.

    \b
    Example:
        relatum graph health
    """
    session.output.one(body_of(session.read("graph/health")))


@verb(graph, "overview")
@click.option("--limit", type=click.IntRange(1, OVERVIEW_MAX), help="Records, at most.")
@dot_option
def overview(session: Session, limit: int | None, as_dot: bool) -> None:
    """The most linked records and the relations among them.

    \b
    Example:
        relatum graph overview --limit 50 --dot > overview.dot
    """
    found = session.read("graph/overview", limit=limit)["graph"]
    if as_dot:
        for line in overview_dot(found):
            session.output.text(line)
        return
    session.output.one(found, overview_lines)
