"""`python -m tests.judgments.peps`: the judgments of a real corpus, over HTTP, on a server of its own.

Every PEP is saved in the order of its creation, with its title and what its header said at first. A supersession that
the corpus knows is judged as soon as both its ends are there: on the candidate that a save has surfaced, or by
comparison where none was. Then whatever the queue still offers is closed. Prints what came of it; exits 0 if

- every PEP that the corpus knows as superseded is superseded, by one of those that the corpus names;
- what is refused is a second successor, or the supersession by a PEP that is itself superseded, and nothing else;
- both ends of every judgment say the same of it;
- the queue has at no time offered a pair with an end that is retired, and ends empty.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.corpora.mapping import PEPS, Json
from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise
from tests.judgments.over_http.calling import annotated, batch, compare, queue, save

MIRRORED = {"supersedes": "superseded_by", "superseded_by": "supersedes"}


class Pep(NamedTuple):
    """A PEP as it is saved."""

    name: str
    title: str
    content: str


class Edge(NamedTuple):
    """That one PEP supersedes another, by their names."""

    source: str
    target: str


def peps(number: int | None = None) -> list[Pep]:
    """The first PEPs in the order of their creation."""
    first_words: dict[str, Json] = {}
    for change in PEPS.rows("revisions"):
        first_words.setdefault(change["id"], change["set"])
    rows = sorted(PEPS.rows("records"), key=lambda row: (PEPS.created(row), int(row["id"][3:])))
    return [_pep(row, first_words.get(row["id"], {})) for row in rows[:number]]


def _pep(row: Json, header: Json) -> Pep:
    said = [str(value) for name, value in header.items() if name not in ("Title", "Status")]
    return Pep(row["id"], row["title"], " ".join([row["title"], row["type"], row["topic"] or "", *said]).strip())


def supersessions(names: set[str]) -> list[Edge]:
    """Who supersedes whom among some PEPs, each pair once."""
    edges: dict[Edge, None] = {}
    for row in PEPS.rows("relations"):
        kind = PEPS.kinds[row["kind"]]
        edge = Edge(row["to"], row["from"]) if kind.inverted else Edge(row["from"], row["to"])
        if kind.kind == "supersedes" and names >= set(edge):
            edges[edge] = None
    return list(edges)


@dataclass
class Campaign:
    """One partition that the PEPs are saved to, and what came of it."""

    caller: Caller
    ids: dict[str, str] = field(default_factory=dict)
    surfaced: dict[frozenset[str], str] = field(default_factory=dict)
    """The candidates of pairs, by the names of both ends."""
    judged: Counter[str] = field(default_factory=Counter)
    refused: list[Edge] = field(default_factory=list)

    def run(self, number: int | None = None) -> None:
        """Saves the PEPs, judges their supersessions, and closes whatever else the queue offers."""
        given = peps(number)
        waiting: dict[str, list[Edge]] = defaultdict(list)
        for edge in supersessions({pep.name for pep in given}):
            for end in edge:
                waiting[end].append(edge)
        for pep in given:
            self._save(pep)
            for edge in waiting[pep.name]:
                if self.ids.keys() >= set(edge):
                    self._judge(edge)
        self._drain()

    def _save(self, pep: Pep) -> None:
        answer = save(self.caller, pep.content, title=pep.title, key=pep.name)
        self.ids[pep.name] = answer["receipt"]["record_id"]
        names = {record_id: name for name, record_id in self.ids.items()}
        self.judged["saves that surfaced something"] += answer["judgment_required"]
        for one in answer["candidates"]:
            self.surfaced[frozenset((pep.name, names[one["target_id"]]))] = one["candidate_id"]

    def _judge(self, edge: Edge) -> None:
        """IMPORTANT: a candidate runs from the later PEP to the earlier one, and a few PEPs replace a later one."""
        source, target = edge
        candidate_id = self.surfaced.get(frozenset(edge))
        later = list(self.ids).index(source) > list(self.ids).index(target)
        if candidate_id is not None and later:
            [result] = batch(self.caller, {"candidate_id": candidate_id, "relation": "supersedes"})["results"]
            accepted, way = result["ok"], "on a candidate"
            assert accepted or result["code"] == "revision_conflict", result
        else:
            ends = {"record_id": self.ids[source]}, {"record_id": self.ids[target]}
            answer = compare(self.caller, *ends, "supersedes", confidence=1)
            accepted, way = answer.status_code == 200, "by comparison"
            assert accepted or answer.status_code == 409, answer.text
        if accepted:
            self.judged[way] += 1
        else:
            self.refused.append(edge)

    def _drain(self) -> None:
        """Closes what the queue offers; none of it may have a retired end."""
        while (page := queue(self.caller, limit=50))["total"]:
            offered = page["candidates"]
            assert offered, "the total counts what is offered"
            ends = {one[end]["record_id"] for one in offered for end in ("source", "target")}
            assert {"current"} == set(self._states(ends).values())
            for at in range(0, len(offered), 20):
                judgments = [
                    {"candidate_id": one["candidate_id"], "relation": "related"} for one in offered[at : at + 20]
                ]
                results = batch(self.caller, *judgments)["results"]
                assert all(one["ok"] for one in results), results
                self.judged["as related"] += len(results)

    def _states(self, record_ids: set[str]) -> dict[str, str]:
        return {one["record"]["record_id"]: one["standing"]["state"] for one in self._annotated(sorted(record_ids))}

    def _annotated(self, record_ids: list[str]) -> Iterator[Json]:
        for at in range(0, len(record_ids), 20):
            part = [{"record_id": one} for one in record_ids[at : at + 20]]
            yield from annotated(self.caller, *part, relations_limit=50)

    # What must hold

    def check(self) -> None:
        """Raises AssertionError where something does not hold."""
        found = {one["record"]["record_id"]: one for one in self._annotated(list(self.ids.values()))}
        names = {record_id: name for name, record_id in self.ids.items()}
        edges = supersessions(set(self.ids))
        successors: dict[str, set[str]] = defaultdict(set)
        for source, target in edges:
            successors[target].add(source)
        by = {name: names.get(found[record_id]["standing"]["superseded_by"]) for name, record_id in self.ids.items()}
        assert {name for name, other in by.items() if other} == set(successors)
        assert all(by[name] in others for name, others in successors.items())
        assert all(by[edge.target] != edge.source for edge in self.refused)
        assert all(by[edge.target] is not None for edge in self.refused), "refused for want of a free place alone"
        self._check_ends(found)
        assert 0 == queue(self.caller)["total"]

    def _check_ends(self, found: dict[str, Json]) -> None:
        """Both ends say the same; what still waits has a retired end, and `replaces` is the other side of the rest."""
        said = {
            (record_id, one["kind"], one["target_id"], one.get("candidate_id"))
            for record_id, record in found.items()
            for one in record["relations"]
        }
        whole = {record_id for record_id, record in found.items() if record["relations_total"] <= 50}
        for record_id, kind, other, candidate_id in said:
            if other in whole:
                assert (other, MIRRORED.get(kind, kind), record_id, candidate_id) in said
            if kind == "pending_conflict":
                states = {found[end]["standing"]["state"] for end in (record_id, other)}
                assert "superseded" in states, "the queue has left it out"
        for record_id, record in found.items():
            by = record["standing"]["superseded_by"]
            assert by is None or record_id in found[by]["standing"]["replaces"]

    def __str__(self) -> str:
        lines = [f"{len(self.ids):5} PEPs saved", f"{len(self.surfaced):5} candidates surfaced"]
        lines += [f"{number:5} {what}" for what, number in sorted(self.judged.items())]
        lines += [
            f"{len(self.refused):5} refused: " + ", ".join(f"{one.source} over {one.target}" for one in self.refused)
        ]
        return "\n".join(lines)


def main(arguments: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="relatum-peps-") as directory:
        store = Path(directory) / "store"
        secret = initialise(store)
        with Server(store) as server, Api(server.url) as api:
            campaign = Campaign(issue(Caller(api, secret)))
            campaign.run(arguments.number)
            print(campaign)  # noqa: T201
            campaign.check()
    return 0


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="python -m tests.judgments.peps", description=__doc__)
    made.add_argument("--number", type=int, help="the first so many of them; all, if nothing is said")
    return made


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
