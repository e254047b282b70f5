"""Graphs as trees of text for people, and in the DOT language for programs that draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from relatum.cli.client.columns import text_of
from relatum.cli.client.output import Json, clipped, shown, visible

_LABEL_CELLS = 40


class _Edge(NamedTuple):
    source: str
    target: str
    name: str
    mined: bool


def tree(graph: Json) -> Iterator[str]:
    """The graph as trees below its roots, breadth first: each record once with its text, then by its id alone."""
    records = {node["record"]["record_id"]: node["record"] for node in graph["nodes"]}
    edges = [_edge(edge) for edge in graph["edges"]]
    told: set[str] = set()
    for root in graph["roots"]:
        record_id = root["record_id"]
        if root["status"] != "included":
            yield f"{record_id}  ({root['status']})"
            continue
        yield _node(records, record_id)
        if record_id not in told:
            told.add(record_id)
            yield from _below(record_id, edges, records, told)


def _below(root: str, edges: list[_Edge], records: dict[str, Json], told: set[str]) -> Iterator[str]:
    """What hangs below `root`, depth first without recursion: a graph may be deep."""
    drawn: set[_Edge] = set()
    stack: list[tuple[str, Iterator[tuple[_Edge, bool, bool]]]] = [("", _around(root, edges, drawn))]
    while stack:
        indent, around = stack[-1]
        following = next(around, None)
        if following is None:
            stack.pop()
            continue
        edge, outgoing, last = following
        if edge in drawn:
            continue
        drawn.add(edge)
        other = edge.target if outgoing else edge.source
        arrow = f"-{edge.name}->" if outgoing else f"<-{edge.name}-"
        branch = "└─ " if last else "├─ "
        if other in told:
            yield f"{indent}{branch}{arrow} {other}"
            continue
        told.add(other)
        yield f"{indent}{branch}{arrow} {_node(records, other)}"
        stack.append((indent + ("   " if last else "│  "), _around(other, edges, drawn)))


def _around(record_id: str, edges: list[_Edge], drawn: set[_Edge]) -> Iterator[tuple[_Edge, bool, bool]]:
    near = [edge for edge in edges if record_id in (edge.source, edge.target) and edge not in drawn]
    return ((edge, edge.source == record_id, n == len(near)) for n, edge in enumerate(near, 1))


def _edge(edge: Json) -> _Edge:
    given = edge.get("input", edge)
    name = given.get("kind") or edge["relation"]
    return _Edge(given["source"]["record_id"], given["target"]["record_id"], name, edge.get("layer") == "derived")


def _node(records: dict[str, Json], record_id: str) -> str:
    return f"{record_id}  {visible(text_of(records.get(record_id)))}"


def dot(graph: Json) -> Iterator[str]:
    """A graph in the DOT language; mined edges are dashed."""
    yield "digraph relatum {"
    yield "  node [shape=box];"
    for node in graph["nodes"]:
        record = node["record"]
        yield f"  {_quoted(record['record_id'])} [label={_quoted(clipped(visible(text_of(record)), _LABEL_CELLS))}];"
    for edge in map(_edge, graph["edges"]):
        style = ", style=dashed" if edge.mined else ""
        yield f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.name)}{style}];"
    yield "}"


def overview_dot(graph: Json) -> Iterator[str]:
    """An overview in the DOT language; curated links are dashed."""
    yield "digraph relatum {"
    yield "  node [shape=box];"
    for node in graph["nodes"]:
        label = clipped(visible(node["title"] or node["preview"]), _LABEL_CELLS)
        yield f"  {_quoted(node['record_id'])} [label={_quoted(label)}];"
    for edge in graph["edges"]:
        style = ", style=dashed" if edge["layer"] == "link" else ""
        ends = f"{_quoted(edge['source_id'])} -> {_quoted(edge['target_id'])}"
        yield f"  {ends} [label={_quoted(edge['kind'])}{style}];"
    yield "}"


def overview_lines(graph: Json) -> Iterator[str]:
    """The most linked records with what joins them, and how many others they are joined with."""
    around: dict[str, list[Json]] = defaultdict(list)
    for edge in graph["edges"]:
        around[edge["source_id"]].append(edge)
    for node in graph["nodes"]:
        yield f"{node['record_id']}  {node['degree']:>4}  {visible(node['title'] or node['preview'])}"
        for edge in around[node["record_id"]]:
            yield f"  -{shown(edge['kind'])}-> {edge['target_id']}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
