"""Two corpora as graphs: each thing a record, each line that can be told a relation, the rest counted as refused."""

from __future__ import annotations

import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from relatum import limits
from tests.corpora.mapping import FOLDER, Json, KindRow
from tests.http.client import RECORDS, RELATIONS, Caller, ref

RFCS: Mapping[str, KindRow] = {
    "obsoletes": KindRow("supersedes"),
    "obsoleted-by": KindRow("supersedes", inverted=True),
    "updates": KindRow("fixes_issue"),
    "updated-by": KindRow("fixes_issue", inverted=True),
    "also": KindRow("same_entity"),
}
PACKAGES: Mapping[str, KindRow] = {
    "depends": KindRow("leads_to"),
    "pre-depends": KindRow("caused_by"),
    "recommends": KindRow("supports"),
    "suggests": KindRow("laterally_related"),
    "enhances": KindRow("supports", inverted=True),
    "provides": KindRow("example_of"),
    "replaces": KindRow("supersedes"),
    "breaks": KindRow("causal_claim"),
    "conflicts": KindRow("contradicts"),
}
"""Source kinds to kinds of the ledger. A relation's method keeps the source kind."""

_UNKNOWN = uuid.UUID("6b1d4c1e-0000-5000-8000-000000000000")


class Refusal(NamedTuple):
    """Lines that were refused in the same way."""

    kind: str
    status: int
    code: str


class Graphed(NamedTuple):
    """A loaded corpus: where each thing is, what was refused, and the lines themselves."""

    caller: Caller
    refs: dict[str, Json]
    refused: Counter[Refusal]
    lines: list[Json]
    stats: Json

    def edges(self, *kinds: str) -> dict[str, list[str]]:
        """Who points to whom by lines of some kinds, read the other way round where the table says so."""
        found: dict[str, list[str]] = defaultdict(list)
        for line in self.lines:
            if line["kind"] in kinds and {line["from"], line["to"]} <= self.refs.keys():
                ends = line["from"], line["to"]
                source, target = ends[::-1] if line["kind"].endswith("-by") else ends
                if source != target:
                    found[source].append(target)
        return found


def load(caller: Caller, folder: str, kinds: Mapping[str, KindRow]) -> Graphed:
    """Records first, then relations, in batches."""
    things, lines = rows(folder, "records"), rows(folder, "relations")
    records = [{"type": "create", "record": {"content": thing["id"], "data": thing}} for thing in things]
    receipts = [ref(result["receipt"]) for result in _told(caller, RECORDS, records)]
    refs = {thing["id"]: receipt for thing, receipt in zip(things, receipts, strict=True)}
    assertions = [{"type": "assert", "relation": _relation(line, kinds, refs)} for line in lines]
    refused: Counter[Refusal] = Counter()
    for line, result in zip(lines, _told(caller, RELATIONS, assertions), strict=True):
        if "error" in result:
            refused[Refusal(line["kind"], result["error"]["status"], result["error"]["code"])] += 1
    stats: Json = json.loads((FOLDER / folder / "stats.json").read_text(encoding="utf-8"))
    return Graphed(caller, refs, refused, lines, stats)


def rows(folder: str, name: str) -> list[Json]:
    with (FOLDER / folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _relation(line: Json, kinds: Mapping[str, KindRow], refs: dict[str, Json]) -> Json:
    row = kinds[line["kind"]]
    ends = [refs.get(line[end]) or _unknown(line[end]) for end in ("from", "to")]
    source, target = ends[::-1] if row.inverted else ends
    how = {"origin": "imported_assertion", "method": line["kind"], "method_revision": "1", "evidence_ref": "corpus"}
    return {"source": source, "target": target, "kind": row.kind, "provenance": how}


def _unknown(name: str) -> Json:
    """A well-formed reference to something that the corpus speaks of and does not have."""
    return {"record_id": str(uuid.uuid5(_UNKNOWN, name)), "revision": 1}


def _told(caller: Caller, family: str, operations: Sequence[Json]) -> Iterator[Json]:
    for start in range(0, len(operations), limits.COMMAND_BATCH_MAX):
        batch = operations[start : start + limits.COMMAND_BATCH_MAX]
        commands = [
            {"idempotency_key": f"{family} {number}", "operation": operation}
            for number, operation in enumerate(batch, start=start)
        ]
        answer = caller.ask(f"{family}/commands/batch", commands=commands)
        assert answer.status_code == 200, answer.text
        yield from answer.json()["results"]
