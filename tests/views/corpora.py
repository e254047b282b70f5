"""Real things told to a ledger with the types and kinds that they have, and what it refused of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from relatum import limits
from tests.graphs.corpora import rows
from tests.http.client import RECORDS, RELATIONS, Caller, Json, provenance, ref


class Line(NamedTuple):
    """A relation as it is told: names of things, and a kind of the ledger."""

    source: str
    kind: str
    target: str


class Told(NamedTuple):
    """A corpus after it was told: where each thing is, what was accepted, and how the rest was refused."""

    caller: Caller
    refs: dict[str, Json]
    accepted: list[Line]
    refused: Counter[tuple[str, int, str]]


UNKNOWN = {"record_id": "6b1d4c1e-0000-4000-8000-000000000000", "revision": 1}
"""What stands for a thing that a corpus speaks of and does not have."""


def tell(caller: Caller, things: Mapping[str, Json], lines: Sequence[Line]) -> Told:
    """Records first, then relations, in batches."""
    receipts = _sent(caller, RECORDS, [{"type": "create", "record": record} for record in things.values()])
    refs = dict(zip(things, (ref(result["receipt"]) for result in receipts), strict=True))
    accepted: list[Line] = []
    refused: Counter[tuple[str, int, str]] = Counter()
    for line, result in zip(lines, _sent(caller, RELATIONS, [_assertion(refs, one) for one in lines]), strict=True):
        if "receipt" in result:
            accepted.append(line)
        else:
            refused[line.kind, result["error"]["status"], result["error"]["code"]] += 1
    return Told(caller, refs, accepted, refused)


def _assertion(refs: Mapping[str, Json], line: Line) -> Json:
    ends = {"source": refs.get(line.source, UNKNOWN), "target": refs.get(line.target, UNKNOWN)}
    if ends["source"] is ends["target"] is UNKNOWN:
        ends["target"] = {**UNKNOWN, "record_id": UNKNOWN["record_id"].replace("6b", "6c")}  # type: ignore[attr-defined]
    how = provenance(origin="imported_assertion")
    return {"type": "assert", "relation": {**ends, "kind": line.kind, "provenance": how}}


def _sent(caller: Caller, family: str, operations: Sequence[Json]) -> Iterator[Json]:
    for start in range(0, len(operations), limits.COMMAND_BATCH_MAX):
        batch = enumerate(operations[start : start + limits.COMMAND_BATCH_MAX], start=start)
        commands = [{"idempotency_key": f"{family} {at}", "operation": operation} for at, operation in batch]
        answer = caller.ask(f"{family}/commands/batch", commands=commands)
        assert answer.status_code == 200, answer.text
        yield from answer.json()["results"]


# RustSec: advisories and the crates that they are about. An advisory says, of its first CVE, whether it is withdrawn.


def rustsec(caller: Caller) -> Told:
    kinds = {"affects": "causal_claim", "related": "semantic_related", "alias": "same_entity"}
    first = first_cves()
    things = {row["id"]: _advisory(row, first.get(row["id"])) for row in rows("osv-rustsec", "records")}
    lines = [Line(row["from"], kinds[row["kind"]], row["to"]) for row in rows("osv-rustsec", "relations")]
    return tell(caller, things, lines)


def first_cves() -> dict[str, str]:
    """The first CVE among the aliases of each advisory that has one."""
    found: dict[str, str] = {}
    for row in rows("osv-rustsec", "relations"):
        if row["kind"] == "alias" and row["to"].startswith("CVE-"):
            found.setdefault(row["from"], row["to"])
    return found


def statement(row: Json) -> tuple[str, str]:
    """What an advisory says, and the state of its source."""
    return f"informational: {row['informational']}, withdrawn: {row['withdrawn'] is not None}", row["date"]


def _advisory(row: Json, cve: str | None) -> Json:
    if row["kind"] == "package":
        return {"content": row["id"]}
    content, source_hash = statement(row)
    provenance = {"source_id": f"rustsec/{row['id']}", "source_hash": source_hash}
    return {"title": row["id"], "content": content, "fact_key": cve, "provenance": provenance}


# ATT&CK for ICS: groups are persons, campaigns are sessions, everything else is a memory.

PERSONS, SESSIONS = ("intrusion-set", "identity"), ("campaign",)
MITRE = {
    "targets": "leads_to",
    "mitigates": "fixes_issue",
    "uses": "semantic_related",
    "detects": "supports",
    "attributed-to": "caused_by",
    "revoked-by": "supersedes",
}


def attack(caller: Caller) -> Told:
    things = {
        row["id"]: {"type": type_of(row["id"]), "title": row["name"], "content": row["id"]}
        for row in rows("attack-ics", "records")
    }
    return tell(caller, things, [_mitre(row) for row in rows("attack-ics", "relations")])


def type_of(name: str) -> str:
    kind = name.partition("--")[0]
    return "person" if kind in PERSONS else "session" if kind in SESSIONS else "memory"


def _mitre(row: Json) -> Line:
    """What a group or a campaign uses is told from the other end: a memory is about a person, or from a session."""
    if row["kind"] == "uses" and type_of(row["from"]) != "memory":
        kind = "about_person" if type_of(row["from"]) == "person" else "from_session"
        return Line(row["to"], kind, row["from"])
    return Line(row["from"], MITRE[row["kind"]], row["to"])


# Debian: packages as memories of what is installed, and the same packages as tasks of a build.

PACKAGES = {
    "depends": "leads_to",
    "pre-depends": "caused_by",
    "recommends": "supports",
    "suggests": "laterally_related",
    "enhances": "supports",
    "provides": "example_of",
    "replaces": "supersedes",
    "breaks": "causal_claim",
    "conflicts": "contradicts",
}
BUILD = {**PACKAGES, "depends": "blocks", "pre-depends": "blocks", "provides": "subtask_of"}


def packages(caller: Caller) -> Told:
    return _debian(caller, "memory", PACKAGES)


def builds(caller: Caller) -> Told:
    """As tasks: what nothing but memories can be to each other is refused."""
    return _debian(caller, "task", BUILD)


def _debian(caller: Caller, record_type: str, kinds: Mapping[str, str]) -> Told:
    things = {row["id"]: {"type": record_type, "content": row["id"]} for row in rows("debian-slice", "records")}
    lines = [Line(row["from"], kinds[row["kind"]], row["to"]) for row in rows("debian-slice", "relations")]
    return tell(caller, things, lines)
