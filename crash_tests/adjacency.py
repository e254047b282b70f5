"""Typed graphs over HTTP: what leads from a record to its neighbours, held against a naive walk over the model.

What always holds: nothing is left out of a comparison: nodes, edges, the number of index entries that were examined,
and whether the walk was cut.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from crash_tests.history import Desk, Json
from crash_tests.model import Model, holds
from crash_tests.violation import require, require_same
from crash_tests.witness import Witness
from relatum.limits import GRAPH_EDGES_MAX, GRAPH_NODES_MAX, GRAPH_SCAN_MAX

ROOTS_MAX = 10

_NOT_FOLLOWED = ("compatible", "scoped", "not_conflict")
"""Kinds that are verdicts and no more."""

Node = tuple[str, int]
"""A record at a revision."""


class Neighbourhood(NamedTuple):
    """What a walk of one step from a root must find."""

    nodes: dict[Node, int]
    """How far each node is."""
    edges: set[str]
    entries: int
    """The entries in the indexes of all nodes, whatever they lead to."""
    leads_on: bool
    """Whether a relation that may be read leads out of it."""
    may_lead_on: bool
    """Whether one does that is sound in all but its other end."""

    @property
    def fits(self) -> bool:
        """Whether one answer may hold all of it."""
        return (
            len(self.nodes) <= GRAPH_NODES_MAX and len(self.edges) <= GRAPH_EDGES_MAX and self.entries <= GRAPH_SCAN_MAX
        )


def check_graphs(witness: Witness, desk: Desk, model: Model, random: Random) -> int:
    """The neighbourhoods of some records; how many there are."""
    roots = random.sample(sorted(model.records), min(ROOTS_MAX, len(model.records)))
    return sum(_check(witness, desk, model, root_id) for root_id in roots)


def neighbourhood(model: Model, root_id: str, now_millis: int) -> Neighbourhood:
    """A walk of one step over everything that the model has, as simply as it can be."""

    def is_eligible(node: Node) -> bool:
        return model.is_eligible(node[0], now_millis, node[1])

    links = [_link(model, relation_id) for relation_id in model.relations if model.is_indexed(relation_id)]
    sound = [link for link in links if link.leads and model.is_valid(link.relation_id, now_millis)]
    nodes: dict[Node, int] = {}
    if model.is_eligible(root_id, now_millis):
        root = root_id, model.records[root_id][-1]["revision"]
        near = (end for link in sound if root in link.ends for end in link.ends)
        nodes = dict.fromkeys(filter(is_eligible, near), 1) | {root: 0}
    beyond = [end for link in sound if nodes.keys() & link.ends for end in link.ends if end not in nodes]
    return Neighbourhood(
        nodes=nodes,
        edges={link.relation_id for link in sound if nodes.keys() >= set(link.ends)},
        entries=sum(end in nodes for link in links for end in link.ends),
        leads_on=any(map(is_eligible, beyond)),
        may_lead_on=bool(beyond),
    )


class _Link(NamedTuple):
    relation_id: str
    ends: tuple[Node, Node]
    leads: bool
    """Whether a walk follows it, unless it is told which kinds to follow."""


def _link(model: Model, relation_id: str) -> _Link:
    given = model.relations[relation_id][-1]["input"]
    source, target = (_node(model, end["record_id"], end["revision"]) for end in (given["source"], given["target"]))
    return _Link(relation_id, (source, target), given["kind"] not in _NOT_FOLLOWED)


def _node(model: Model, record_id: str, pinned: int) -> Node:
    """The record as it is now, where a pin on one of its revisions holds; otherwise what was pinned."""
    now = model.records[record_id][-1]
    return record_id, now["revision"] if holds(now, pinned) else pinned


def _check(witness: Witness, desk: Desk, model: Model, root_id: str) -> bool:
    limits = {"node_limit": GRAPH_NODES_MAX, "edge_limit": GRAPH_EDGES_MAX, "scan_limit": GRAPH_SCAN_MAX}
    graph = witness.graph(desk, root_record_ids=[root_id], max_depth=1, **limits)
    expected = neighbourhood(model, root_id, graph["evaluated_at_millis"])
    if not expected.fits:
        return False
    compare(model, root_id, expected, graph)
    return True


def compare(model: Model, root_id: str, expected: Neighbourhood, graph: Json) -> None:
    """Everything that an answer tells."""
    where = f"the graph around record {root_id}"
    status = "included" if expected.nodes else "unavailable"
    require_same(f"{where}: its root", [{"record_id": root_id, "status": status}], graph["roots"])
    found = {(node["record"]["record_id"], node["record"]["revision"]): node["depth"] for node in graph["nodes"]}
    require_same(f"{where}: its nodes", expected.nodes, found)
    for node in graph["nodes"]:
        record = node["record"]
        known = model.record_at(record["record_id"], record["revision"])
        require_same(f"{where}: record {record['record_id']}", known, record)
    edges = {edge["relation_id"]: edge for edge in graph["edges"]}
    require_same(f"{where}: its edges", expected.edges, set(edges))
    require(len(edges) == len(graph["edges"]), f"{where} tells an edge twice")
    for relation_id, edge in edges.items():
        require_same(f"{where}: relation {relation_id}", model.relations[relation_id][-1], edge)
    coverage = graph["coverage"]
    examined = coverage["adjacency_entries_examined"]
    require_same(f"{where}: how many index entries it examined", expected.entries, examined)
    stops = coverage["stop_reasons"]
    require(stops in ([], ["depth_limit"]), f"{where} was cut by {stops}")
    require_same(f"{where}: whether it is complete", not stops, coverage["complete"])
    require(bool(stops) or not expected.leads_on, f"{where} says that nothing leads on, and something does")
    require(not stops or expected.may_lead_on, f"{where} says that something leads on, and nothing does")
