"""The rows of a relation that a command brought, be it the command's own or a consequence of it."""

from __future__ import annotations

from relatum.core.consequences import RelationPart
from relatum.core.receipts import RelationReceipt
from relatum.core.relations import StoredRelation
from relatum.core.verdicts import VERDICTS, StoredVerdict
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table, Use
from relatum.store.projection.instants import stage_interval
from relatum.store.projection.staged_partition import Staging


def stage_relation(
    staging: Staging, receipt: RelationReceipt, before: StoredRelation | None, after: StoredRelation, canonical: bytes
) -> None:
    """Both rows of its revision, its uses of records, its index entries, and what follows for the verdict it is."""
    k = staging.keys
    version = rows.pack_version(receipt.commit_sequence, bytes.fromhex(receipt.relation_digest), canonical)
    staging.put(k.relation(after.relation_id), version)
    staging.put(k.relation_revision(after.relation_id, after.revision), version)
    was_indexed = before is not None and before.indexed
    if after.indexed == was_indexed:
        return
    _index(staging, after, is_new=before is None)
    if before is not None and after.input.kind in VERDICTS and staging.verdict(after.relation_id) is not None:
        _stage_ends(staging, after)


def stage_verdict(staging: Staging, part: RelationPart, relation: StoredRelation, words_at: int | None) -> None:
    """What makes an asserted relation a verdict."""
    k, given = staging.keys, relation.input
    verdict = StoredVerdict(
        relation_id=relation.relation_id,
        kind=given.kind,
        source=given.source,
        target=given.target,
        candidate_id=part.candidate_id,
        confidence=part.confidence,
        words_at=words_at,
    )
    staging.put(k.verdict(relation.relation_id), rows.VERDICT.encode(verdict))
    pair = k.verdict_pair(given.source.record_id, given.target.record_id)
    staging.put(pair, rows.pack_uuid(relation.relation_id))
    _stage_ends(staging, relation)


def _stage_ends(staging: Staging, relation: StoredRelation) -> None:
    given, own, indexed = relation.input, relation.relation_id, relation.indexed
    source, target = given.source.record_id, given.target.record_id
    k = staging.keys
    forward, backward = k.verdict_end(source, Table.OUTGOING, own), k.verdict_end(target, Table.INCOMING, own)
    staging.put(forward, endpoint_rows.VerdictEnd(indexed, target, given.kind).pack())
    staging.put(backward, endpoint_rows.VerdictEnd(indexed, source, given.kind).pack())


def _index(staging: Staging, after: StoredRelation, *, is_new: bool) -> None:
    """Both entries, under the contents that the ends pin; of a new relation its uses and instants too."""
    given, own = after.input, after.relation_id
    source, target = staging.content_of(given.source), staging.content_of(given.target)
    forward, backward = rows.pack_adjacency(given.kind, given.target), rows.pack_adjacency(given.kind, given.source)
    as_source, as_target = (Use.SOURCE, Use.TARGET) if is_new else (None, None)
    staging.index(Table.OUTGOING, source, own, forward, present=after.indexed, use=as_source)
    staging.index(Table.INCOMING, target, own, backward, present=after.indexed, use=as_target)
    if is_new:
        stage_interval(staging, own, given)
        for ref in given.evidence_sources:
            staging.use(staging.content_of(ref), Use.EVIDENCE, own)
