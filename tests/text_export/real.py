"""Real corpora in a ledger, loaded in process: histories of records, and relations between them as they are now.

How PEPs, BIPs and ATT&CK are told is the table of `tests/corpora/mapping.py`; that of RustSec and of the Debian slice
stands here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise

import msgspec

from relatum.core.commands import AssertRelation, CreateRecord, ReviseRecord
from relatum.core.ids import Author, Partition, Ref, Scope, memory_partition
from relatum.core.kinds import LINK_TOKENS, Kind
from relatum.core.links import Link
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.records import RecordInput
from relatum.core.relations import RelationInput
from relatum.errors import Failure
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import MemorySubmission
from tests.corpora.mapping import ATTACK_ICS, BIPS, PEPS, Corpus, Json, KindRow

AT_ONCE = 256
LOADER = Author(credential_id="00000000-0000-4000-8000-0000000000c0", subject_id="loader")


def _advised(row: Json) -> int:
    day = datetime.strptime(row.get("date") or "1970-01-01", "%Y-%m-%d").replace(tzinfo=UTC)
    return int(day.timestamp()) * 1000


RUSTSEC = Corpus(
    name="osv-rustsec",
    kinds={
        "alias": KindRow("same_entity"),
        "affects": KindRow("leads_to"),
        "related": KindRow("laterally_related"),
    },
    title="id",
    title_in_history="id",
    category=lambda row: str(row["kind"]),
    tags=lambda row: ["withdrawn"] if row.get("withdrawn") else [],
    created=_advised,
)
DEBIAN = Corpus(
    name="debian-slice",
    kinds={
        "depends": KindRow("supports", inverted=True),
        "pre-depends": KindRow("temporal_before"),
        "recommends": KindRow("semantic_related"),
        "suggests": KindRow("laterally_related"),
        "enhances": KindRow("example_of"),
        "provides": KindRow("part_of"),
        "breaks": KindRow("causal_claim"),
        "conflicts": KindRow("contradicts"),
        "replaces": KindRow("supersedes"),
    },
    title="id",
    title_in_history="id",
    category=lambda row: str(row["section"]),
    tags=lambda row: [],
    created=lambda row: int(row["size"]),
)
CORPORA: Mapping[str, Corpus] = {one.name: one for one in (PEPS, BIPS, ATTACK_ICS, RUSTSEC, DEBIAN)}


def partition_of(corpus: Corpus) -> Partition:
    """The partition of a corpus: every other one is private."""
    private = len(corpus.name) % 2 == 0
    scope = Scope(project_id=f"Ünï/{corpus.name}", agent_id="..", visibility="private" if private else "shared")
    return memory_partition("acme", "loader", scope)


class Loaded:
    """A corpus in a ledger, and what the ledger did not take."""

    def __init__(self, ledger: Ledger, corpus: Corpus) -> None:
        self.corpus = corpus
        self.refused = Counter[str]()
        self.asserted = Counter[str]()
        self.linked = 0
        self._ledger = ledger
        self._partition = partition_of(corpus)
        self._records: dict[str, Ref] = {}
        self._load_records()
        self._load_relations()

    def _load_records(self) -> None:
        history: dict[str, list[Json]] = defaultdict(list)
        for change in self.corpus.rows("revisions"):
            history[change["id"]].append(change)
        rows = {row["id"]: row for row in self.corpus.rows("records")}
        most = max(len(changes) for changes in history.values())
        for rank in range(max(most, 1)):
            due = [name for name in rows if rank < max(len(history[name]), 1)]
            self._give([(name, self._record(rows[name], history[name], rank)) for name in due], rank)

    def _record(self, row: Json, changes: list[Json], rank: int) -> CreateRecord | ReviseRecord:
        fields: Json = {}
        for change in changes[: rank + 1]:
            fields |= change.get("set") or {"version": change.get("version"), "suite": change.get("suite")}
        latest = rank == max(len(changes), 1) - 1
        given = msgspec.convert(self.corpus.record(row, fields, str(rank), latest=latest), RecordInput)
        if rank == 0:
            return CreateRecord(record=given)
        at = self._records[row["id"]]
        return ReviseRecord(record_id=at.record_id, expected_revision=at.revision, record=given)

    def _give(self, commands: list[tuple[str, CreateRecord | ReviseRecord]], rank: int) -> None:
        given = [(name, self._command(f"{name}@{rank}", operation)) for name, operation in commands]
        for name, answer in zip((name for name, _ in given), self._submit([one for _, one in given]), strict=True):
            assert isinstance(answer, RecordReceipt), answer
            self._records[name] = Ref(record_id=answer.record_id, revision=answer.revision)

    def _load_relations(self) -> None:
        told: list[tuple[Json, MemorySubmission]] = []
        for line, row in enumerate(self.corpus.rows("relations"), start=1):
            ends = [self._records.get(row[end]) for end in ("from", "to")]
            if None in ends or row["from"] == row["to"]:
                self.refused[row["kind"]] += 1
                continue
            source, target = (msgspec.to_builtins(end) for end in ends)
            given = msgspec.convert(self.corpus.relation(row, line, source, target), RelationInput)
            told.append((row, self._command(f"line {line}", AssertRelation(relation=given))))
        for (row, _), answer in zip(told, self._submit([one for _, one in told]), strict=True):
            if isinstance(answer, RelationReceipt):
                self.asserted[LINK_TOKENS[self._kind(row)]] += 1
            else:
                assert not isinstance(answer, Failure), answer
                self.refused[row["kind"]] += 1

    def _kind(self, row: Json) -> Kind:
        kind: Kind = self.corpus.kinds[row["kind"]].kind  # type: ignore[assignment]  # a table of the tests
        return kind

    def link_neighbours(self, most: int) -> None:
        """Curated links between the first records of the corpus, each with the next."""
        names = list(self._records)[: most + 1]
        pairs = [(self._records[one], self._records[other]) for one, other in pairwise(names)]
        links = [Link(source_id=one.record_id, target_id=other.record_id, kind="related") for one, other in pairs]
        commands = [self._command(f"link {place}", link) for place, link in enumerate(links)]
        assert not [answer for answer in self._submit(commands) if not hasattr(answer, "receipt_digest")]
        self.linked = len(commands)

    def _command(self, key: str, operation: CreateRecord | ReviseRecord | AssertRelation | Link) -> MemorySubmission:
        return self._ledger.command(self._partition, LOADER, key, operation)

    def _submit(self, commands: list[MemorySubmission]) -> list[object]:
        answers: list[object] = []
        for start in range(0, len(commands), AT_ONCE):
            answers += self._ledger.submit_all(commands[start : start + AT_ONCE])
        return answers
