"""Eligibility of records and relations at one view and one clock value, in the documented order of the rules.

Records (records.md): own state first, then every derivation source, depth first in stored order.
Relations (relations.md): own state and interval, the two ends, the declared evidence.
Ancestry is walked by `ancestry.Walk`; budgets of the request are kept by `ancestry.Dependencies`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from relatum import limits
from relatum.core.ancestry import Dependencies, SourceFailure, Walk, own_failure
from relatum.core.answers.eligibility import (
    DependencyWork,
    EndpointReason,
    EvidenceFailure,
    FirstFailure,
    RecordEligibility,
    RelationEligibility,
    RelationReason,
)
from relatum.core.ids import Ref
from relatum.core.relations import StoredRelation
from relatum.core.state import Records, RecordVersion
from relatum.errors import Refused, invalid


class Evaluator:
    """One request's evaluations: one state, one clock value, one budget of dependency work."""

    def __init__(self, records: Records, now_millis: int) -> None:
        self.now_millis = now_millis
        self.dependencies = Dependencies(records)
        self._sound: dict[str, bool] = {}

    @property
    def work(self) -> DependencyWork:
        """Dependency work of the request so far."""
        return self.dependencies.work

    def record(self, record_id: str) -> RecordVersion | None:
        """A record for its own sake: read once per request, not counted as dependency work."""
        return self.dependencies.root(record_id)

    def is_eligible(self, version: RecordVersion) -> bool:
        """Whether a record is eligible at its current revision; evaluated once per request."""
        meta = version.meta
        if meta.derivation is None:  # nothing to walk, nothing to remember
            return own_failure(meta, self.now_millis) is None
        known = self._sound.get(meta.record_id)
        if known is None:
            known = self._failure(version)[0] is None
            self._sound[meta.record_id] = known
        return known

    def _failure(self, version: RecordVersion) -> tuple[SourceFailure | None, Walk | None]:
        meta = version.meta
        reason = own_failure(meta, self.now_millis)
        if reason is not None:
            return SourceFailure(meta.record_id, meta.revision, meta.revision, reason), None
        if meta.derivation is None:
            return None, None
        walk = Walk(self.dependencies, self.now_millis, root_id=meta.record_id)
        return walk.over(meta.derivation.sources, depth=1), walk

    def explain_record(self, version: RecordVersion) -> RecordEligibility:
        """The full verdict on a record; `dependency_work` is what this verdict added to the request's."""
        before = self.work
        failure, walk = self._failure(version)
        derived = version.meta.derivation is not None
        return RecordEligibility(
            eligible=failure is None,
            evaluated_at_millis=self.now_millis,
            first_failure=None
            if failure is None
            else FirstFailure(
                record_id=failure.record_id,
                expected_revision=failure.expected_revision,
                actual_revision=failure.actual_revision,
                reason=failure.reason,
            ),
            dependencies_checked=walk.nodes if walk else 0,
            max_depth_examined=walk.deepest if walk else 0,
            all_dependencies_checked=not derived or (walk is not None and failure is None),
            dependency_work=self.work.since(before),
        )

    def endpoint_failure(self, end: Ref, version: RecordVersion | None) -> EndpointReason | None:
        """Why an end, and the record it names, can't carry a relation, or None.

        Another revision is tested before the record's own state.
        """
        if version is None:
            return "endpoint_unavailable"
        if not version.meta.holds(end.revision):
            return "endpoint_revision_changed"
        return None if self.is_eligible(version) else "endpoint_unavailable"

    def failing_pin(self, sources: tuple[Ref, ...], *, depth: int) -> str:
        """The place, from 0, of the first of `sources` that makes a walk over them fail: for words to people."""
        for place in range(len(sources)):
            if Walk(self.dependencies, self.now_millis).over(sources[: place + 1], depth=depth) is not None:
                return str(place)
        raise AssertionError("the walk over all of them has failed")

    def derivation_failure(self, sources: tuple[Ref, ...]) -> SourceFailure | None:
        """Why a record can't be derived from `sources`, or None: they are at depth 1 of the record to be."""
        return Walk(self.dependencies, self.now_millis).over(sources, depth=1)

    def evidence_failure(self, sources: tuple[Ref, ...]) -> SourceFailure | None:
        """The first failure of one combined walk over declared evidence: a declared source is at depth 0."""
        return Walk(self.dependencies, self.now_millis).over(sources, depth=0) if sources else None

    def check_endpoint_bytes(self, source: RecordVersion | None, target: RecordVersion | None) -> None:
        """Raises Refused (400) where both ends together are over the byte budget."""
        total = (source.stored_bytes if source else 0) + (target.stored_bytes if target else 0)
        if total > limits.ENDPOINT_BYTES_MAX:
            raise Refused(invalid("the endpoint records are over the byte budget"))

    def own_reason(self, relation: StoredRelation) -> RelationReason | None:
        """The first of the four rules that need the relation alone, or None."""
        if relation.state == "retired":
            return "retired"
        if relation.disposition == "rejected":
            return "rejected"
        begins, ends = relation.input.valid_from_millis, relation.input.valid_until_millis
        if begins is not None and self.now_millis < begins:
            return "not_yet_valid"
        if ends is not None and self.now_millis >= ends:
            return "expired"
        return None

    def relation_is_eligible(self, relation: StoredRelation) -> bool:
        """Whether a relation is eligible, without the reasons."""
        return self._relation_failure(relation) is None

    def explain_relation(self, relation: StoredRelation) -> RelationEligibility:
        """The full verdict on a relation; `dependency_work` is what this verdict added to the request's."""
        before = self.work
        failure = self._relation_failure(relation) or _NO_FAILURE
        return RelationEligibility(
            eligible=failure is _NO_FAILURE,
            reason=failure.reason,
            evaluated_at_millis=self.now_millis,
            endpoint=failure.endpoint,
            dependency_work=self.work.since(before),
            evidence_failure=failure.evidence,
        )

    def _relation_failure(self, relation: StoredRelation) -> _RelationFailure | None:
        """The first rule that fails, or None."""
        reason = self.own_reason(relation)
        if reason is not None:
            return _RelationFailure(reason)
        given = relation.input
        source, target = self.record(given.source.record_id), self.record(given.target.record_id)
        self.check_endpoint_bytes(source, target)
        for end, version in ((given.source, source), (given.target, target)):
            unfit = self.endpoint_failure(end, version)
            if unfit is not None:
                return _RelationFailure(unfit, endpoint=end)
        failure = self.evidence_failure(given.evidence_sources)
        if failure is None:
            return None
        evidence = EvidenceFailure(
            record_id=failure.record_id,
            expected_revision=failure.expected_revision,
            actual_revision=failure.actual_revision,
            reason=failure.reason,
        )
        return _RelationFailure("evidence_unavailable", evidence=evidence)


class _RelationFailure(NamedTuple):
    reason: RelationReason
    endpoint: Ref | None = None
    evidence: EvidenceFailure | UnsetType = UNSET


_NO_FAILURE: Final = _RelationFailure("eligible")
