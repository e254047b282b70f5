"""The corpus over HTTP, as batches of commands: records, then their real revisions, then what they say of each other.

Relations come last because a relation names its ends at exact revisions: asserted earlier, the next revision of an end
would hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click
from msgspec import convert

from relatum.cli.quickstart.api import SCOPE, Api, Json
from relatum.cli.quickstart.corpus import Corpus, Statement
from relatum.client import (
    AssertRelation,
    CreateRecord,
    Provenance,
    RecordInput,
    Ref,
    Refused,
    RelationInput,
    ReviseRecord,
)
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.kinds import Kind
from relatum.limits import COMMAND_BATCH_MAX

Progress = Callable[[str, int, int], None]
"""Is told what is loaded, how much of it is done, and how much there is."""


class Loaded(NamedTuple):
    """Where the corpus lies: each PEP's record at its current revision, each statement's relation."""

    records: dict[str, Json]
    relations: dict[Statement, str]


def load(writer: Api, corpus: Corpus, progress: Progress) -> Loaded:
    """Loads the corpus. Its keys are always the same, so that a second run would replay and change nothing."""
    with writer.client() as client:
        memory = client.scope(**SCOPE)
        created = _receipts(memory.records, "records", list(_creations(corpus)), progress)
        records = {pep: one.record_id for pep, one in zip(corpus.revisions, created, strict=True)}
        _receipts(memory.records, "revisions", list(_revisions(corpus, records)), progress)
        refs = {
            pep: Ref(record_id=record_id, revision=len(corpus.revisions[pep])) for pep, record_id in records.items()
        }
        asserted = _receipts(memory.relations, "relations", list(_assertions(corpus, refs)), progress)
    relations = [receipt.relation_id for receipt in asserted]
    places = {pep: {"record_id": ref.record_id, "revision": ref.revision} for pep, ref in refs.items()}
    return Loaded(places, dict(zip(corpus.statements, relations, strict=True)))


def _creations(corpus: Corpus) -> Iterator[tuple[str, RecordOperation]]:
    for pep, inputs in corpus.revisions.items():
        yield f"peps/{pep}/1", CreateRecord(record=convert(inputs[0], RecordInput))


def _revisions(corpus: Corpus, records: dict[str, str]) -> Iterator[tuple[str, RecordOperation]]:
    for pep, inputs in corpus.revisions.items():
        for known, record in enumerate(inputs[1:], start=1):
            revised = convert(record, RecordInput)
            operation = ReviseRecord(record_id=records[pep], expected_revision=known, record=revised)
            yield f"peps/{pep}/{known + 1}", operation


def _assertions(corpus: Corpus, refs: dict[str, Ref]) -> Iterator[tuple[str, RelationOperation]]:
    for statement in corpus.statements:
        provenance = Provenance(
            origin="imported_assertion",
            method="pep-header",
            method_revision="1",
            evidence_ref=statement.evidence_ref,
        )
        relation = RelationInput(
            source=refs[statement.source],
            target=refs[statement.target],
            kind=convert(statement.kind, Kind),
            provenance=provenance,
        )
        yield statement.idempotency_key, AssertRelation(relation=relation)


def _receipts(group: Any, what: str, commands: Sequence[tuple[str, object]], progress: Progress) -> list[Any]:
    """Sends commands in their order; their receipts. Ends the tour where one is refused: all of them are sound."""
    receipts: list[Any] = []
    operations, keys = (operation for _, operation in commands), (key for key, _ in commands)
    for outcome in group.submit_each(operations, keys=keys):
        if isinstance(outcome, Refused):
            raise click.ClickException(f"a command of the corpus was refused: {outcome.message}")
        receipts.append(outcome.receipt)
        if len(receipts) % COMMAND_BATCH_MAX == 0 or len(receipts) == len(commands):
            progress(what, len(receipts), len(commands))
    return receipts
