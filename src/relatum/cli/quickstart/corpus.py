"""The PEPs as commands of the ledger: what their headers said when, and what they say of each other.

Pure but for reading the data that is shipped with the package. A PEP becomes a record whose revisions are the commits
that changed its header; a statement about another PEP becomes a relation.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

HEADERS: Final = ("Title", "Status", "Type", "Topic", "Python-Version", "Resolution")
PAGE: Final = "https://peps.python.org/pep-{:04d}/"


class Statement(NamedTuple):
    """One line of a PEP's header about another PEP, as a relation of the ledger."""

    source: str
    kind: str
    target: str
    stated_by: str
    header: str

    @property
    def evidence_ref(self) -> str:
        """Where it is stated."""
        return f"{page(self.stated_by)}#{self.header}"

    @property
    def idempotency_key(self) -> str:
        """The same on every run, so that loading twice asserts nothing twice."""
        return f"peps/{self.stated_by}/{self.header}/{self.source}-{self.target}"


@dataclass(frozen=True)
class Corpus:
    """`revisions` has the record inputs of each PEP, oldest first; `ended` counts numbers with a history and no PEP."""

    revisions: dict[str, list[Json]]
    statements: list[Statement]
    ended: int


def load() -> Corpus:
    """The corpus that is shipped with the package."""
    peps = {line["id"]: line for line in _lines("records")}
    history: dict[str, list[Json]] = defaultdict(list)
    for line in _lines("revisions"):
        history[line["id"]].append(line)
    return Corpus(
        revisions={pep: _inputs(facts, history[pep]) for pep, facts in peps.items()},
        statements=[_statement(line) for line in _lines("relations")],
        ended=len(history.keys() - peps.keys()),
    )


def page(pep: str) -> str:
    """Where a PEP can be read."""
    return PAGE.format(int(pep.removeprefix("PEP")))


def tag(pep: str) -> str:
    """The tag that finds a PEP's record."""
    return pep.lower()


def _lines(name: str) -> Iterator[Json]:
    text = (resources.files("relatum") / "data" / "peps" / f"{name}.jsonl").read_text(encoding="utf-8")
    return map(json.loads, text.splitlines())


def _inputs(facts: Json, history: list[Json]) -> list[Json]:
    """The header after each commit as a record input."""
    header: dict[str, str] = {}
    inputs = []
    for commit in history:
        header |= commit["set"]
        for name in commit.get("unset", ()):
            header.pop(name, None)
        inputs.append(_input(facts, header, commit))
    return inputs


def _input(facts: Json, header: dict[str, str], commit: Json) -> Json:
    pep = facts["id"]
    shown = {name: header[name] for name in HEADERS if name in header}
    title = shown.get("Title", facts["title"])
    lines = (f"{name}: {value}" for name, value in shown.items() if name != "Title")
    return {
        "title": title,
        "content": "\n".join([f"PEP {pep.removeprefix('PEP')}: {title}", *lines]),
        "data": {"committed_on": commit["date"], "header": shown},
        "tags": [tag(pep)],
        "category": "reference",
        "provenance": {"source_id": page(pep), "source_revision": commit["commit"]},
        "event_time_millis": _millis(facts["created"]),
    }


def _millis(day: str) -> int:
    return int(datetime.strptime(day, "%d-%b-%Y").replace(tzinfo=UTC).timestamp()) * 1000


def _statement(line: Json) -> Statement:
    """What a header line says, in the ledger's direction: the newer supersedes, the needed supports."""
    own, other, header = line["from"], line["to"], line["kind"]
    match header:
        case "replaces":
            return Statement(own, "supersedes", other, own, header)
        case "superseded-by":
            return Statement(other, "supersedes", own, own, header)
        case "requires":
            return Statement(other, "supports", own, own, header)
        case _:
            raise ValueError("a header line of an unknown kind")
