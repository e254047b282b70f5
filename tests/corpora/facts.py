"""What a loaded ledger says in the terms of a corpus, asked over HTTP: counts come from its answers alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.corpora.mapping import Corpus, Json
from tests.http.client import RECORDS, RELATIONS, Caller

Edge = tuple[str, str]


class Told(NamedTuple):
    """A relation as the ledger has it, and the kind and direction in which the corpus told it."""

    kind: str
    source: str
    target: str
    told_kind: str
    told_from: str
    told_to: str
    state: str
    eligible: bool


class Ledgered:
    """Everything that a partition holds, by the names of the corpus."""

    def __init__(self, caller: Caller, corpus: Corpus) -> None:
        self._caller = caller
        records = list(self._pages(RECORDS, "records", order="created_asc"))
        self.records: dict[str, Json] = {record["input"]["topic_key"]: record for record in records}
        self.names = {record["record_id"]: record["input"]["topic_key"] for record in records}
        self.record_count = len(records)
        self.relations = [
            self._told(corpus, entry) for entry in self._pages(RELATIONS, "relations", order="created_asc")
        ]

    def _told(self, corpus: Corpus, entry: Json) -> Told:
        relation, given = entry["relation"], entry["relation"]["input"]
        source, target = (self.names[given[end]["record_id"]] for end in ("source", "target"))
        method = given["provenance"]["method"]
        told_from, told_to = (target, source) if corpus.kinds[method].inverted else (source, target)
        eligible = entry["eligibility"]["eligible"]
        return Told(given["kind"], source, target, method, told_from, told_to, relation["state"], eligible)

    def _pages(self, family: str, member: str, **wanted: Any) -> Iterable[Json]:
        """Every entry of a query, page by page."""
        cursor = None
        while True:
            answer = self._caller.ask(f"{family}/query", filter={"limit": 100, "cursor": cursor, **wanted})
            assert answer.status_code == 200, answer.text
            page = answer.json()["page"]
            yield from page[member]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    # Counts

    def tagged(self, tag: str) -> set[str]:
        """The things with a tag, as the query finds them."""
        return {record["input"]["topic_key"] for record in self._pages(RECORDS, "records", tag=tag)}

    def superseding(self, told_kind: str | None = None) -> set[Edge]:
        """Who supersedes whom, each pair once, however many lines tell it; or only as one kind of line tells it."""
        return {
            (one.source, one.target)
            for one in self.relations
            if one.kind == "supersedes" and told_kind in (None, one.told_kind)
        }

    def superseded_by(self, name: str) -> set[str]:
        """Whom a thing supersedes, found by asking for the relations at that record alone: one step of a walk."""
        own_id = self.records[name]["record_id"]
        entries = self._pages(RELATIONS, "relations", kind="supersedes", endpoint=own_id)
        sources = [entry["relation"]["input"] for entry in entries]
        return {self.names[one["target"]["record_id"]] for one in sources if one["source"]["record_id"] == own_id}

    def told_edges(self, told_kind: str) -> set[Edge]:
        return {(one.told_from, one.told_to) for one in self.relations if one.told_kind == told_kind}

    def counts_by_kind(self) -> Json:
        return dict(Counter(one.told_kind for one in self.relations))


def longest_path(edges: set[Edge]) -> int:
    """Edges of the longest path of a graph without cycles."""
    below = _neighbours(edges)
    lengths: dict[str, int] = {}

    def length(node: str) -> int:
        if node not in lengths:
            lengths[node] = max((1 + length(other) for other in below[node]), default=0)
        return lengths[node]

    return max((length(source) for source, _ in edges), default=0)


def self_loops(edges: set[Edge]) -> list[str]:
    return sorted(source for source, target in edges if source == target)


def cycles(edges: set[Edge]) -> list[list[str]]:
    """The groups of two or more nodes in which each is reached from each."""
    reached = {node: _reached(node, edges) for node in {source for source, _ in edges}}
    groups = {
        frozenset({node, *(other for other in found if node in reached.get(other, set()))})
        for node, found in reached.items()
    }
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _neighbours(edges: set[Edge]) -> dict[str, set[str]]:
    below: dict[str, set[str]] = defaultdict(set)
    for source, target in edges:
        below[source].add(target)
    return below


def _reached(start: str, edges: set[Edge]) -> set[str]:
    below, found, waiting = _neighbours(edges), set[str](), [start]
    while waiting:
        for other in below[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found - {start}
