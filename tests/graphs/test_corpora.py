"""Graphs of real things over a real server: the RFC index of 2020 and a slice of Debian, with what is odd in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.graphs.corpora import PACKAGES, RFCS, Graphed, Refusal, load
from tests.http.client import Caller, Json, issue

GRAPH = "/api/v1/memory/graph/typed"
WIDE = {"node_limit": 256, "edge_limit": 1024, "scan_limit": 4096}
HOP = 8
"""The greatest depth of one walk."""


@pytest.fixture(scope="module")
def rfcs(admin: Caller) -> Graphed:
    return load(issue(admin), "rfc-index-2020", RFCS)


@pytest.fixture(scope="module")
def packages(admin: Caller) -> Graphed:
    return load(issue(admin), "debian-slice", PACKAGES)


def graph(corpus: Graphed, root: str, **query: Any) -> Json:
    asked = {"root_record_ids": [corpus.refs[root]["record_id"]], **WIDE, **query}
    answer = corpus.caller.ask(GRAPH, query=asked)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()["graph"]
    return found


def depths(corpus: Graphed, found: Json) -> dict[str, int]:
    names = {at["record_id"]: name for name, at in corpus.refs.items()}
    return {names[node["record"]["record_id"]]: node["depth"] for node in found["nodes"]}


def distances(edges: dict[str, list[str]], root: str) -> dict[str, int]:
    """How far everything that can be reached is, straight from the lines of the corpus."""
    found, waiting = {root: 0}, [root]
    for name in waiting:
        for other in edges.get(name, []):
            if other not in found:
                found[other] = found[name] + 1
                waiting.append(other)
    return found


@pytest.mark.slow
class TestRfcs:
    def test_every_line_is_told_but_those_with_an_end_that_is_not_in_the_index(self, rfcs: Graphed) -> None:
        assert (rfcs.stats["records"], rfcs.stats["relations"]) == (len(rfcs.refs), len(rfcs.lines))
        expected = {Refusal(kind, 409, "revision_conflict"): n for kind, n in rfcs.stats["dangling_ends"].items()}
        assert (expected, 419) == (dict(rfcs.refused), rfcs.refused.total())

    @pytest.mark.parametrize("depth", range(HOP + 1))
    def test_the_longest_chain_is_cut_at_each_depth(self, rfcs: Graphed, depth: int) -> None:
        chain: list[str] = rfcs.stats["longest_chain"]
        assert rfcs.stats["longest_supersession_chain_edges"] == len(chain) - 1 == 32
        edges, walked = rfcs.edges("obsoletes", "obsoleted-by"), [chain[0]]
        for start in range(0, len(chain) - 1, HOP):
            far = distances(edges, chain[start])
            found = graph(rfcs, chain[start], relation_kinds=["supersedes"], direction="outgoing", max_depth=depth)
            reached = depths(rfcs, found)
            assert {name: at for name, at in far.items() if at <= depth} == reached
            reason = ["depth_limit"] if max(far.values()) > depth else []
            assert (reason, not reason) == (found["coverage"]["stop_reasons"], found["coverage"]["complete"])
            walked += [name for at, name in enumerate(chain[start:][: HOP + 1]) if at and reached.get(name) == at]
        assert (chain == walked) == (depth == HOP), "hops of eight, and no less, cover the chain"

    def test_the_most_connected_document_meets_each_line_once_at_its_own_end(self, rfcs: Graphed) -> None:
        [[name, _]] = rfcs.stats["max_out"]
        lines = [one for one in rfcs.lines if name in (one["from"], one["to"])]
        told = [one for one in lines if {one["from"], one["to"]} <= rfcs.refs.keys()]
        found = graph(rfcs, name, max_depth=0)
        assert len(told) == found["coverage"]["adjacency_entries_examined"]
        assert (["depth_limit"], 1, 0) == (
            found["coverage"]["stop_reasons"],
            len(found["nodes"]),
            len(found["edges"]),
        )


class TestPackages:
    def test_dangling_ends_and_self_conflicts_are_refused_and_counted(self, packages: Graphed) -> None:
        dangling = {Refusal(kind, 409, "revision_conflict"): n for kind, n in packages.stats["dangling_ends"].items()}
        itself = sum(one["from"] == one["to"] for one in packages.lines)
        assert (2, [["exim4-config"]]) == (
            itself,
            [sorted({o["from"] for o in packages.lines if o["from"] == o["to"]})],
        )
        assert dangling | {Refusal("conflicts", 400, "invalid_request"): itself} == dict(packages.refused)

    def test_packages_that_replace_each_other_are_a_cycle_of_two(self, packages: Graphed) -> None:
        [pair] = packages.stats["supersession_cycles"]
        one, other = pair
        edges = packages.edges("replaces")
        assert other in edges[one]
        assert one in edges[other]
        found = graph(packages, one, relation_kinds=["supersedes"], direction="outgoing", max_depth=HOP)
        assert (distances(edges, one), []) == (depths(packages, found), found["coverage"]["stop_reasons"])
        assert edges[one].count(other) == len(between(packages, found, other, one))
        assert edges[other].count(one) == len(between(packages, found, one, other))

    def test_the_package_that_most_point_at_has_an_edge_for_each_line(self, packages: Graphed) -> None:
        [[absent, most]] = packages.stats["max_in"]
        assert 204 == most == sum(one["to"] == absent for one in packages.lines)
        assert absent not in packages.refs, "of the most wanted package the slice has lines only"
        pointed_at = Counter(one["to"] for one in packages.lines if one["to"] in packages.refs)
        [(name, count)] = pointed_at.most_common(1)
        found = graph(packages, name, direction="incoming", max_depth=1)
        assert count == len(between(packages, found, name))
        sources = {one["from"] for one in packages.lines if one["to"] == name}
        assert {name} | sources == set(depths(packages, found))

    def test_lines_told_more_than_once_are_parallel_relations(self, packages: Graphed) -> None:
        told = Counter((one["from"], one["to"]) for one in packages.lines if one["kind"] == "depends")
        source, target = next(ends for ends, _ in told.most_common() if set(ends) <= packages.refs.keys())
        found = graph(packages, source, relation_kinds=["leads_to"], direction="outgoing", max_depth=1)
        assert told[source, target] == len(between(packages, found, target, source)) > 1


def between(corpus: Graphed, found: Json, target: str, source: str | None = None) -> list[Json]:
    """The edges that end in one thing, all of them or those from another one."""
    inputs = [edge["input"] for edge in found["edges"]]
    at = corpus.refs[target]["record_id"]
    froms = {one["record_id"] for name, one in corpus.refs.items() if source in (None, name)}
    return [one for one in inputs if one["target"]["record_id"] == at and one["source"]["record_id"] in froms]
