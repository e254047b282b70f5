# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""Typed relations (relations.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final, Literal, Unpack

from msgspec.structs import replace

from relatum.client.blocking.batches import Batches, Door
from relatum.client.blocking.pages import Pages, next_cursor
from relatum.client.blocking.stream import Stream
from relatum.client.errors import ConfigurationError
from relatum.client.requests import MEMORY, VERSION, CallOptions, CommandOptions
from relatum.client.results import Accepted, RecordAt, Refused, RelationAt, ref_of, refs_of, relation_of
from relatum.core.answers.commands import RelationBatchResults, RelationCommandAnswer
from relatum.core.answers.feeds import RelationChange, RelationChangesAnswer
from relatum.core.answers.receipts import RelationReceipt
from relatum.core.answers.records import Disposition
from relatum.core.answers.relations import (
    Origin,
    Relation,
    RelationHistory,
    RelationInspectAnswer,
    RelationInspection,
    RelationPage,
    RelationQueryAnswer,
    RelationReadAnswer,
    RelationRevisionAnswer,
    RelationState,
)
from relatum.core.commands import (
    AssertRelation,
    RelationCommand,
    RelationOperation,
    RestoreRelation,
    RetireRelation,
    ReviewRelation,
)
from relatum.core.ids import Scope
from relatum.core.kinds import Kind
from relatum.core.queries import (
    Order,
    RelationFilter,
    RelationQuery,
    RelationRead,
    RelationRevisionRead,
)
from relatum.core.relations import Provenance, RelationInput

_PATH: Final = f"{MEMORY}/relations"
_BATCH: Final = Door(f"{_PATH}/commands/batch", "relation", RelationBatchResults)


class Relations(Stream[RelationChange]):
    """Directed assertions between records at exact revisions, and the stream of their changes."""

    _stream_path: ClassVar[str] = _PATH
    _changes = RelationChangesAnswer

    def assert_(
        self,
        kind: Kind,
        source: RecordAt | tuple[str, int],
        target: RecordAt | tuple[str, int],
        *,
        evidence_ref: str | None = None,
        provenance: Provenance | None = None,
        valid_from_millis: int | None = None,
        valid_until_millis: int | None = None,
        evidence_sources: Iterable[RecordAt | tuple[str, int]] = (),
        if_absent: bool = False,
        **options: Unpack[CommandOptions],
    ) -> RelationReceipt:
        """Assert that two records are related; with `if_absent` only where no equal relation is in force.

        The provenance is the memory's unless one is given; an `evidence_ref` takes the place of the one in it. Raises
        RevisionConflict where an end or an evidence source is not there at its revision, and ConfigurationError where
        neither the memory nor the call has a provenance.
        """
        relation = RelationInput(
            source=ref_of(source),
            target=ref_of(target),
            kind=kind,
            provenance=_with_evidence(provenance or self._scoped.provenance, evidence_ref),
            valid_from_millis=valid_from_millis,
            valid_until_millis=valid_until_millis,
            evidence_sources=refs_of(evidence_sources),
        )
        return self._operate(AssertRelation(relation=relation, if_absent=if_absent), options)

    def retire(
        self, relation: RelationAt | tuple[str, int], *, evidence_ref: str, **options: Unpack[CommandOptions]
    ) -> RelationReceipt:
        """Take a relation out of service. Raises RevisionConflict, RecordNotFound."""
        relation_id, revision = relation_of(relation)
        operation = RetireRelation(relation_id=relation_id, expected_revision=revision, evidence_ref=evidence_ref)
        return self._operate(operation, options)

    def restore(
        self, relation: RelationAt | tuple[str, int], *, evidence_ref: str, **options: Unpack[CommandOptions]
    ) -> RelationReceipt:
        """Put a retired relation back, after the checks of an assertion. Raises RevisionConflict, RecordNotFound."""
        relation_id, revision = relation_of(relation)
        operation = RestoreRelation(relation_id=relation_id, expected_revision=revision, evidence_ref=evidence_ref)
        return self._operate(operation, options)

    def review(
        self,
        relation: RelationAt | tuple[str, int],
        disposition: Disposition,
        *,
        evidence_ref: str,
        **options: Unpack[CommandOptions],
    ) -> RelationReceipt:
        """Say what a reviewer thinks of a relation. Raises RevisionConflict, RecordNotFound."""
        relation_id, revision = relation_of(relation)
        operation = ReviewRelation(
            relation_id=relation_id, expected_revision=revision, evidence_ref=evidence_ref, disposition=disposition
        )
        return self._operate(operation, options)

    def submit_many(
        self,
        operations: Iterable[RelationOperation],
        *,
        keys: Iterable[str] | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Accepted | Refused]:
        """Many commands in order, in as few requests as they fit in: an outcome each, in order.

        Raises OutcomeUnknown where the deadline of a request ends it, with `outcomes` so far and `unsettled` keys.
        """
        return Batches[RelationOperation](self._scoped, _BATCH).all(operations, keys, options)

    def submit_each(
        self,
        operations: Iterable[RelationOperation],
        *,
        keys: Iterable[str] | None = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[Accepted | Refused]:
        """As `submit_many`, one outcome after another, holding no more than one request's commands."""
        return Batches[RelationOperation](self._scoped, _BATCH).each(operations, keys, options)

    def get(self, relation_id: str, **options: Unpack[CallOptions]) -> Relation:
        """An eligible relation. Raises RecordNotFound."""
        found = self._read(f"{_PATH}/read", _reading(relation_id), RelationReadAnswer, options)
        return found.relation

    def inspect(self, relation_id: str, **options: Unpack[CallOptions]) -> RelationInspection:
        """A retained relation in whatever state, and the verdict on it. Raises RecordNotFound."""
        found = self._read(f"{_PATH}/inspect", _reading(relation_id), RelationInspectAnswer, options)
        return found.inspection

    def revision(self, relation_id: str, revision: int, **options: Unpack[CallOptions]) -> RelationHistory:
        """A relation as it was at one revision, with the receipt that brought it. Raises RecordNotFound."""
        found = self._read(
            f"{_PATH}/revision",
            lambda scope: RelationRevisionRead(
                contract_version=VERSION, scope=scope, relation_id=relation_id, revision=revision
            ),
            RelationRevisionAnswer,
            options,
        )
        return found.history

    def list(
        self,
        *,
        kind: Kind | None = None,
        state: RelationState | None = None,
        disposition: Disposition | Literal["none"] | None = None,
        origin: Origin | None = None,
        endpoint: RecordAt | str | None = None,
        reporter: str | None = None,
        limit: int | None = None,
        scan_limit: int | None = None,
        order: Order = "created_desc",
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[RelationInspection]:
        """Retained relations that agree with every member given, each with the verdict on it."""
        endpoint_id = None if endpoint is None else endpoint if isinstance(endpoint, str) else endpoint.record_id

        def fetch(after: str | None) -> RelationPage:
            query = RelationFilter(
                limit=limit,
                scan_limit=scan_limit,
                order=order,
                cursor=after,
                kind=kind,
                state=state,
                disposition=disposition,
                origin=origin,
                endpoint=endpoint_id,
                reporter=reporter,
            )
            found = self._read(
                f"{_PATH}/query",
                lambda scope: RelationQuery(contract_version=VERSION, scope=scope, filter=query),
                RelationQueryAnswer,
                options,
            )
            return found.page

        return Pages(fetch, lambda page: page.relations, next_cursor, cursor)

    def _operate(self, operation: RelationOperation, options: CommandOptions) -> RelationReceipt:
        def body(scope: Scope, key: str) -> RelationCommand:
            return RelationCommand(contract_version=VERSION, scope=scope, idempotency_key=key, operation=operation)

        return (self._command(f"{_PATH}/commands", "relation", body, RelationCommandAnswer, options)).receipt


def _reading(relation_id: str) -> Callable[[Scope], RelationRead]:
    return lambda scope: RelationRead(contract_version=VERSION, scope=scope, relation_id=relation_id)


def _with_evidence(provenance: Provenance | None, evidence_ref: str | None) -> Provenance:
    if provenance is None:
        raise ConfigurationError("an assertion needs a provenance: the memory's, or one of its own")
    return provenance if evidence_ref is None else replace(provenance, evidence_ref=evidence_ref)
