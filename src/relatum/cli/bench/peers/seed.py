"""What every peer begins with: partitions with records, made by the product and handed to the others as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from relatum.core import journal
from relatum.core.canonical import encode
from relatum.core.commands import AssertRelation, CreateRecord, RelationCommand
from relatum.core.ids import Author, Partition, Ref, Scope, memory_partition, uuid7
from relatum.core.kinds import RecordType
from relatum.core.receipts import RecordReceipt
from relatum.core.records import RecordInput
from relatum.core.relations import Provenance, RelationInput
from relatum.core.streams import RELATIONS
from relatum.entropy import SystemEntropy
from relatum.ledger import Ledger
from relatum.limits import CONTRACT_VERSION
from relatum.store.view import LedgerView

COMPANY: Final = "bench"
BRANCHES: Final = 7
TWIGS: Final = 6
TREE_RELATIONS: Final = BRANCHES * (1 + TWIGS)
"""Relations within two hops of the root: 49."""

_GROUP = 128
_CONTENT = "What was learned of the tide tables of the northern harbours, number {}. " + "It was said twice. " * 6
_AUTHOR = Author(credential_id="00000000-0000-4000-8000-00000000000a", subject_id="worker")


class Tip(NamedTuple):
    """How far a partition has come: its last event, and its journal of relations."""

    sequence: int
    event_digest: bytes
    committed_at_millis: int
    journal_id: str
    journal_sequence: int
    prefix_digest: bytes


class SeedRecord(NamedTuple):
    """A record at its only revision; `body` is the kept part in canonical bytes."""

    place: int
    record_id: str
    revision: int
    type: RecordType
    event_time_millis: int | None
    valid_until_millis: int | None
    body: bytes


class Seed(Struct, frozen=True):
    """Partitions by place, from 0; the author of all commands; the records.

    `ends` has the ids that commands may relate, by place; `root` is the record whose surroundings `tree` makes.
    """

    author: Author
    partitions: tuple[Partition, ...]
    tips: tuple[Tip, ...]
    records: tuple[SeedRecord, ...]
    ends: tuple[tuple[str, ...], ...]
    root: str
    tree: tuple[bytes, ...]

    @property
    def company_id(self) -> str:
        """The company of all partitions."""
        return self.partitions[0].company_id


def plant(ledger: Ledger, *, partitions: int = 16, records: int = 256, author: Author = _AUTHOR) -> Seed:
    """Makes records in a new ledger and tells of them. The tree is left to whoever loads the seed."""
    own = tuple(memory_partition(COMPANY, author.subject_id, scope(place)) for place in range(partitions))
    ends = tuple(tuple(_create(ledger, partition, author, records)) for partition in own)
    tree_ids = _create(ledger, own[0], author, 1 + BRANCHES + BRANCHES * TWIGS)
    with ledger.view() as view:
        return Seed(
            author=author,
            partitions=own,
            tips=tuple(_tip(view, partition) for partition in own),
            records=tuple(
                _seed_record(view, own[place], place, record_id)
                for place, ids in enumerate(ends)
                for record_id in (*ids, *(tree_ids if place == 0 else ()))
            ),
            ends=ends,
            root=tree_ids[0],
            tree=tuple(_tree(own[0].scope, tree_ids)),
        )


def scope(place: int) -> Scope:
    """How the partition at a place is addressed."""
    return Scope(project_id=f"project-{place}", agent_id="scout", visibility="shared")


def command(within: Scope, key: str, source: str, target: str, evidence: Sequence[str] = ()) -> RelationCommand:
    """The command that asserts a relation between two records at their first revision."""
    return RelationCommand(
        contract_version=CONTRACT_VERSION,
        scope=within,
        idempotency_key=key,
        operation=AssertRelation(
            relation=RelationInput(
                source=Ref(record_id=source, revision=1),
                target=Ref(record_id=target, revision=1),
                kind="supports",
                provenance=Provenance(
                    origin="tool_observation",
                    method="reading",
                    method_revision="2026-11",
                    evidence_ref="log/northern/9",
                ),
                evidence_sources=tuple(Ref(record_id=one, revision=1) for one in evidence),
            )
        ),
    )


_NUMBERS = count(1)


def _create(ledger: Ledger, partition: Partition, author: Author, size: int) -> list[str]:
    made: list[str] = []
    while len(made) < size:
        submissions = [
            ledger.command(
                partition,
                author,
                f"seed-{next(_NUMBERS)}",
                CreateRecord(record=RecordInput(content=_CONTENT.format(number))),
            )
            for number in range(len(made), min(size, len(made) + _GROUP))
        ]
        for receipt in ledger.submit_all(submissions):
            assert isinstance(receipt, RecordReceipt), receipt
            made.append(receipt.record_id)
    return made


def _seed_record(view: LedgerView, partition: Partition, place: int, record_id: str) -> SeedRecord:
    version = view.partition(partition).record(record_id)
    assert version is not None
    meta = version.meta
    return SeedRecord(
        place,
        record_id,
        meta.revision,
        meta.facts.type,
        meta.facts.event_time_millis,
        meta.facts.valid_until_millis,
        encode(meta),
    )


def _tip(view: LedgerView, partition: Partition) -> Tip:
    reader = view.partition(partition)
    head = reader.head()
    opened = journal.opened(reader.workspace_id, RELATIONS, uuid7(view.now_millis, SystemEntropy().draw(10)))
    return Tip(head.sequence, head.event_digest, head.committed_at_millis, opened.journal_id, 0, opened.prefix_digest)


def _tree(within: Scope, ids: Sequence[str]) -> list[bytes]:
    root, branches, twigs = ids[0], ids[1 : 1 + BRANCHES], ids[1 + BRANCHES :]
    edges = [(root, branch) for branch in branches]
    edges += [(branches[number // TWIGS], twig) for number, twig in enumerate(twigs)]
    return [
        msgspec.json.encode(command(within, f"tree-{number}", source, target))
        for number, (source, target) in enumerate(edges)
    ]
