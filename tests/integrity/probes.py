"""Probes: everything a client can ask of the scene, each as one call. A probe answers, or meets an inconsistency."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from relatum.core.feeds import Window
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.ids import Partition, Ref
from relatum.core.queries import CompanyRecordFilter, RecordFilter, RelationFilter
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.reads import (
    changes,
    checkpoints,
    diagnosis,
    receipts,
    record_query,
    records,
    relation_query,
    relations,
)
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView
from tests.integrity.scene import CONSUMER, ELSEWHERE, Rows, Scene, opened
from tests.support import builders
from tests.support.builders import ADA, PARTITION
from tests.support.steps import Operation

INCONSISTENT: Final = "storage_inconsistency"
Answer = object
Probe = Callable[[Scene, Ledger], Answer]


def answers(scene: Scene, rows: Rows) -> dict[str, Answer]:
    """What every probe gets from a ledger on `rows`; each command from one of its own, since it changes it."""
    with opened(rows) as ledger:
        found = {name: _answer(probe, scene, ledger) for name, probe in READS.items()}
    for name, probe in COMMANDS.items():
        with opened(rows) as ledger:
            found[name] = _answer(probe, scene, ledger)
    return found


def _answer(probe: Probe, scene: Scene, ledger: Ledger) -> Answer:
    try:
        return probe(scene, ledger)
    except StorageInconsistency:
        return INCONSISTENT


def _read(read: Callable[[Scene, PartitionReader, LedgerView], Answer], at: Partition = PARTITION) -> Probe:
    def probe(scene: Scene, ledger: Ledger) -> Answer:
        with ledger.view() as view:
            return read(scene, view.partition(at), view)

    return probe


def _command(operation: Callable[[Scene], Operation], key: str = "fresh", at: Partition = PARTITION) -> Probe:
    return lambda scene, ledger: ledger.submit(ledger.command(at, ADA, key, operation(scene)))


def _typed(root: Literal["source", "target"], direction: Literal["both", "incoming"]) -> Probe:
    def read(scene: Scene, partition: PartitionReader, view: LedgerView) -> Answer:
        ref = scene.source if root == "source" else scene.target
        query = TypedGraphQuery(root_record_ids=(ref.record_id,), direction=direction, max_depth=1)
        return typed_graph(partition, view.now_millis, query)

    return _read(read)


def _page(stream: Stream) -> Probe:
    return _read(lambda _, partition, __: changes.page(partition, stream, Window(), 256))


def _main(revision: int) -> Probe:
    return _read(lambda scene, partition, _: relations.revision(partition, scene.main[0].relation_id, revision))


def _key(scene: Scene, place: int) -> str:
    return scene.main[place].idempotency_key


def _replay(place: int, operation: Callable[[Scene], Operation]) -> Probe:
    def probe(scene: Scene, ledger: Ledger) -> Answer:
        return ledger.submit(ledger.command(PARTITION, ADA, _key(scene, place), operation(scene)))

    return probe


RELATION_READS: Final[dict[str, Probe]] = {
    "relations/read": _read(
        lambda scene, partition, view: relations.read(partition, view.now_millis, scene.main[0].relation_id)
    ),
    "relations/inspect": _read(
        lambda scene, partition, view: relations.inspect(partition, view.now_millis, scene.main[0].relation_id)
    ),
    "relations/query": _read(
        lambda _, partition, view: relation_query.query(partition, view.now_millis, view.store_key, RelationFilter())
    ),
    **{f"relations/revision {number}": _main(number) for number in (1, 2, 3, 4)},
}
RELATION_REPLAYS: Final[dict[str, Probe]] = {
    "replay of the assertion": _replay(
        0, lambda scene: builders.assertion(scene.source, scene.target, evidence_sources=(scene.witness,))
    ),
    "replay of the retirement": _replay(1, lambda scene: builders.retire(scene.main[0].relation_id, 1)),
    "replay of the restoration": _replay(2, lambda scene: builders.restore(scene.main[0].relation_id, 2)),
    "replay of the approval": _replay(3, lambda scene: builders.judge(scene.main[0].relation_id, 3)),
}
RELATION_MUTATIONS: Final[dict[str, Probe]] = {
    "retire": _command(lambda scene: builders.retire(scene.main[0].relation_id, 4)),
    "review": _command(lambda scene: builders.judge(scene.main[0].relation_id, 4, "rejected")),
    "restore of an active one": _command(lambda scene: builders.restore(scene.main[0].relation_id, 4)),
    "assert": _command(lambda scene: builders.assertion(scene.source, scene.target)),
}
RECORD_READS: Final[dict[str, Probe]] = {
    "records/read": _read(
        lambda scene, partition, view: [
            records.read(partition, view.now_millis, ref.record_id)
            for ref in (scene.source, scene.reviewed, scene.deleted)
        ]
    ),
    "records/batch": _read(
        lambda scene, partition, view: records.batch(
            partition, view.now_millis, (scene.derived.record_id, scene.revised.record_id)
        )
    ),
    "records/inspect source": _read(
        lambda scene, partition, view: records.inspect(partition, view.now_millis, scene.source.record_id)
    ),
    "records/inspect reviewed": _read(
        lambda scene, partition, view: records.inspect(partition, view.now_millis, scene.reviewed.record_id)
    ),
    "records/inspect deleted": _read(
        lambda scene, partition, view: records.inspect(partition, view.now_millis, scene.deleted.record_id)
    ),
    "records/revision 1": _read(lambda scene, partition, _: records.revision(partition, scene.revised.record_id, 1)),
    "records/revision 2": _read(lambda scene, partition, _: records.revision(partition, scene.revised.record_id, 2)),
    "records/query": _read(
        lambda _, partition, view: record_query.query(partition, view.now_millis, view.store_key, RecordFilter())
    ),
    "company records/query": _read(
        lambda _, partition, view: record_query.company_query(
            partition, view.now_millis, view.store_key, CompanyRecordFilter()
        )
    ),
}
RECORD_COMMANDS: Final[dict[str, Probe]] = {
    "replay of a creation": _command(lambda _: builders.create("source", topic_key="slot"), key="scene-2"),
    "replay of a review": _command(
        lambda scene: builders.review(Ref(record_id=scene.reviewed.record_id, revision=1)), key="scene-6"
    ),
    "replay of a deletion": _command(
        lambda scene: builders.delete(Ref(record_id=scene.deleted.record_id, revision=1)), key="scene-10"
    ),
    "create": _command(lambda _: builders.create("fresh")),
    "derive": _command(lambda scene: builders.derive(scene.source)),
    "revise source": _command(lambda scene: builders.revise(scene.source)),
    "revise revised": _command(lambda scene: builders.revise(scene.revised)),
    "review reviewed": _command(lambda scene: builders.review(scene.reviewed, "rejected")),
    "delete target": _command(lambda scene: builders.delete(scene.target)),
    "delete deleted": _command(lambda scene: builders.delete(scene.deleted)),
}
GRAPHS: Final[dict[str, Probe]] = {
    "graph of source": _typed("source", "both"),
    "graph into target": _typed("target", "incoming"),
    "evidence graph": _read(
        lambda scene, partition, view: evidence_graph(
            partition, view.now_millis, EvidenceGraphQuery(root_record_ids=(scene.derived.record_id,))
        )
    ),
}
RECEIPTS: Final[dict[str, Probe]] = {
    "receipt of the assertion": _read(
        lambda scene, partition, _: receipts.read(partition, ADA.subject_id, "relation", _key(scene, 0))
    ),
    "receipt of the approval": _read(
        lambda scene, partition, _: receipts.read(partition, ADA.subject_id, "relation", _key(scene, 3))
    ),
    "receipt of a creation": _read(
        lambda _, partition, __: receipts.read(partition, ADA.subject_id, "record", "scene-2")
    ),
}
FEEDS: Final[dict[str, Probe]] = {
    "relation changes": _page(RELATIONS),
    "record changes": _page(RECORDS),
    "checkpoint": _read(lambda _, partition, __: checkpoints.read(partition, RELATIONS, ADA.subject_id, CONSUMER)),
    "diagnosis": _read(
        lambda _, partition, __: diagnosis.diagnose(partition, RELATIONS, ADA.subject_id, CONSUMER, None)
    ),
}
ELSEWHERE_READS: Final[dict[str, Probe]] = {
    "read elsewhere": _read(
        lambda scene, partition, view: relations.read(partition, view.now_millis, scene.elsewhere[2].relation_id),
        ELSEWHERE,
    ),
    "graph elsewhere": _read(
        lambda scene, partition, view: typed_graph(
            partition, view.now_millis, TypedGraphQuery(root_record_ids=(scene.elsewhere[0].record_id,))
        ),
        ELSEWHERE,
    ),
    "changes elsewhere": _read(lambda _, partition, __: changes.page(partition, RELATIONS, Window(), 256), ELSEWHERE),
}
ELSEWHERE_COMMANDS: Final[dict[str, Probe]] = {
    "retire elsewhere": _command(lambda scene: builders.retire(scene.elsewhere[2].relation_id, 1), at=ELSEWHERE),
    "create elsewhere": _command(lambda _: builders.create("fresh"), at=ELSEWHERE),
}

READS: Final[dict[str, Probe]] = {
    **RELATION_READS,
    **RECORD_READS,
    **GRAPHS,
    **RECEIPTS,
    **FEEDS,
    **ELSEWHERE_READS,
}
COMMANDS: Final[dict[str, Probe]] = {
    **RELATION_REPLAYS,
    **RELATION_MUTATIONS,
    **RECORD_COMMANDS,
    **ELSEWHERE_COMMANDS,
}
