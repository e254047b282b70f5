"""Graphs the slow way: a partition in plain dictionaries, and walks that follow the contract sentence by sentence.

Nothing here knows how the ledger stores or walks. Only the sizes of rows are taken from the ledger, as measures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Pin = tuple[str, int]
"""A record at a revision."""

MEMORY = {
    "semantic_related",
    "same_entity",
    "temporal_before",
    "causal_claim",
    "supports",
    "contradicts",
    "supersedes",
    "laterally_related",
    "caused_by",
    "leads_to",
    "part_of",
    "example_of",
    "fixes_issue",
}


@dataclass
class PlainRecord:
    revision: int = 1
    content: int = 1
    """The revision that brought its content; those behind it were brought by reviews."""
    state: str = "active"
    rejected: bool = False
    expires: int | None = None
    sources: list[Pin] = field(default_factory=list)
    size: int = 0

    def holds(self, pinned: int) -> bool:
        return self.content <= pinned <= self.revision


@dataclass
class PlainRelation:
    source: Pin
    target: Pin
    kind: str
    begins: int | None = None
    expires: int | None = None
    evidence: list[Pin] = field(default_factory=list)
    state: str = "active"
    rejected: bool = False
    revision: int = 1
    size: int = 0

    @property
    def indexed(self) -> bool:
        return self.state == "active" and not self.rejected


@dataclass
class World:
    """Everything a partition holds, and what time it is."""

    records: dict[str, PlainRecord] = field(default_factory=dict)
    relations: dict[str, PlainRelation] = field(default_factory=dict)
    now: int = 0


class _Request:
    """What one request has learnt: who was looked up as a dependency, and which records were found eligible or not."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dependencies: set[str] = set()

    def eligible(self, record_id: str) -> bool:
        record = self.world.records[record_id]
        return self.sound_by_itself(record) and all(map(self.source_holds, record.sources))

    def sound_by_itself(self, record: PlainRecord) -> bool:
        expired = record.expires is not None and self.world.now >= record.expires
        return record.state == "active" and not record.rejected and not expired

    def source_holds(self, pin: Pin) -> bool:
        record_id, revision = pin
        self.dependencies.add(record_id)
        record = self.world.records.get(record_id)
        if record is None or not record.holds(revision):
            return False
        return self.sound_by_itself(record) and all(map(self.source_holds, record.sources))

    def work(self) -> dict[str, int]:
        sizes = [self.world.records[one].size for one in self.dependencies if one in self.world.records]
        return {"records_examined": len(self.dependencies), "bytes_examined": sum(sizes)}


class _Lookups(_Request):
    """And which records were looked up for the graph itself, at most `node_limit`; `depths` of those included."""

    def __init__(self, world: World, node_limit: int) -> None:
        super().__init__(world)
        self.node_limit = node_limit
        self.examined: list[str] = []
        self.depths: dict[str, int] = {}

    def may_look_up(self, record_id: str) -> bool:
        if record_id not in self.examined:
            if len(self.examined) == self.node_limit:
                return False
            self.examined.append(record_id)
        return True

    def is_good(self, pin: Pin) -> bool:
        record = self.world.records.get(pin[0])
        return record is not None and record.holds(pin[1]) and self.eligible(pin[0])

    def known_bad(self, pin: Pin) -> bool:
        return pin[0] in self.examined and not self.is_good(pin)

    def included(self, pin: Pin) -> bool:
        return pin[0] in self.depths and self.world.records[pin[0]].holds(pin[1])

    def take_roots(self, root_ids: list[str]) -> list[dict[str, str]]:
        roots = []
        for record_id in root_ids:
            status = "not_examined"
            if self.may_look_up(record_id):
                there = record_id in self.world.records and self.eligible(record_id)
                status = "included" if there else "unavailable"
            if status == "included":
                self.depths[record_id] = 0
            roots.append({"record_id": record_id, "status": status})
        return roots

    def record_bytes(self) -> int:
        return sum(self.world.records[one].size for one in self.examined if one in self.world.records)

    def nodes(self) -> list[tuple[str, int, int]]:
        return [(one, self.world.records[one].revision, depth) for one, depth in self.depths.items()]


ORDER = ["depth_limit", "node_limit", "edge_limit", "scan_limit"]


@dataclass
class _Walk:
    """A typed walk under way."""

    edges: list[str] = field(default_factory=list)
    deferred: list[tuple[str, str]] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)
    scanned: int = 0
    over: bool = False


def typed(world: World, query: dict[str, Any]) -> dict[str, Any]:
    """A typed graph as plain values: roots, nodes (id, revision, depth), edges (relation ids) and coverage."""
    looked = _Lookups(world, query["node_limit"])
    roots = looked.take_roots(query["root_record_ids"])
    walk = _Walk()
    for place in _growing(looked.depths):
        for outgoing in {"both": [True, False], "outgoing": [True], "incoming": [False]}[query["direction"]]:
            _read_index(looked, query, walk, place, outgoing)
    reasons = {"node_limit" for root in roots if root["status"] == "not_examined"}
    reasons |= {"scan_limit"} if walk.over else set()
    reasons |= _visit_deferred(looked, query, walk)
    return {
        "roots": roots,
        "nodes": looked.nodes(),
        "edges": walk.edges,
        "coverage": {
            "complete": not reasons,
            "stop_reasons": [reason for reason in ORDER if reason in reasons],
            "records_examined": len(looked.examined),
            "record_bytes": looked.record_bytes(),
            "adjacency_entries_examined": walk.scanned,
            "relations_examined": len(walk.loaded),
            "relation_bytes": sum(world.relations[one].size for one in walk.loaded),
            "dependency_work": looked.work(),
        },
    }


def _read_index(looked: _Lookups, query: dict[str, Any], walk: _Walk, place: str, outgoing: bool) -> None:
    for relation_id in _index(looked.world, place, outgoing):
        if walk.over or walk.scanned == query["scan_limit"]:
            walk.over = True
            return
        walk.scanned += 1
        walk.loaded.add(relation_id)
        relation = looked.world.relations[relation_id]
        neighbour = relation.target if outgoing else relation.source
        if not _skipped(looked, query, walk, relation_id, neighbour):
            reason = _no_room(looked, query, walk, neighbour, looked.depths[place])
            if reason in ORDER:
                walk.deferred.append((relation_id, reason))
            elif reason == "":
                walk.edges.append(relation_id)
                looked.depths.setdefault(neighbour[0], looked.depths[place] + 1)


def _skipped(looked: _Lookups, query: dict[str, Any], walk: _Walk, relation_id: str, neighbour: Pin) -> bool:
    """Whether an entry leaves no trace."""
    relation, now = looked.world.relations[relation_id], looked.world.now
    if relation_id in walk.edges:
        return True
    if relation.kind not in (query["relation_kinds"] or MEMORY):
        return True
    if relation.begins is not None and now < relation.begins:
        return True
    if relation.expires is not None and now >= relation.expires:
        return True
    return looked.known_bad(neighbour) or not all(map(looked.source_holds, relation.evidence))


def _no_room(looked: _Lookups, query: dict[str, Any], walk: _Walk, neighbour: Pin, depth: int) -> str:
    """The reason to defer an edge, "bad" for a neighbour that can't be had, or nothing."""
    if not looked.included(neighbour):
        if depth == query["max_depth"]:
            return "depth_limit"
        if not looked.may_look_up(neighbour[0]):
            return "node_limit"
        if not looked.is_good(neighbour):
            return "bad"
    return "edge_limit" if len(walk.edges) == query["edge_limit"] else ""


def _visit_deferred(looked: _Lookups, query: dict[str, Any], walk: _Walk) -> set[str]:
    """Deferred edges once more, in order of encounter: what remains of the reasons."""
    reasons: set[str] = set()
    for relation_id, reason in walk.deferred:
        relation = looked.world.relations[relation_id]
        if relation_id in walk.edges:
            continue
        if looked.included(relation.source) and looked.included(relation.target):
            if len(walk.edges) < query["edge_limit"]:
                walk.edges.append(relation_id)
            else:
                reasons.add("edge_limit")
        elif not looked.known_bad(relation.source) and not looked.known_bad(relation.target):
            reasons.add(reason)
    return reasons


def _index(world: World, record_id: str, outgoing: bool) -> list[str]:
    def is_at(pin: Pin) -> bool:
        return pin[0] == record_id and world.records[record_id].holds(pin[1])

    return sorted(
        relation_id
        for relation_id, relation in world.relations.items()
        if relation.indexed and is_at(relation.source if outgoing else relation.target)
    )


def _growing(depths: dict[str, int]) -> Any:
    """The keys in order of insertion, those inserted meanwhile too."""
    at = 0
    while at < len(depths):
        yield list(depths)[at]
        at += 1


def evidence(world: World, query: dict[str, Any]) -> dict[str, Any]:
    """An evidence graph as plain values: roots, nodes (id, revision, depth), edges (pin, pin) and coverage."""
    looked = _Lookups(world, query["node_limit"])
    roots = looked.take_roots(query["root_record_ids"])
    for record_id in _growing(looked.depths):
        for source in sorted(world.records[record_id].sources):
            depth = looked.depths[record_id]
            if source[0] not in looked.depths and depth < query["max_depth"] and looked.may_look_up(source[0]):
                looked.depths[source[0]] = depth + 1
    reasons = {"node_limit" for root in roots if root["status"] == "not_examined"}
    edges: list[tuple[Pin, Pin]] = []
    for record_id, revision, depth in looked.nodes():
        for source in sorted(world.records[record_id].sources):
            if looked.included(source):
                edges.append(((record_id, revision), source))
            else:
                reasons.add("depth_limit" if depth == query["max_depth"] else "node_limit")
    return {
        "roots": roots,
        "nodes": looked.nodes(),
        "edges": edges,
        "coverage": {
            "complete": not reasons,
            "stop_reasons": [reason for reason in ORDER if reason in reasons],
            "records_examined": len(looked.examined),
            "record_bytes": looked.record_bytes(),
            "dependency_work": looked.work(),
        },
    }
