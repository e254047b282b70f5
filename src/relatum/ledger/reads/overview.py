"""The most linked records of a partition and what joins them, for a picture (views.md, overview)."""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from typing import Final

from relatum import limits
from relatum.core.answers.standings import StandingView
from relatum.core.answers.survey import Overview, OverviewCoverage, OverviewEdge, OverviewNode, OverviewStop
from relatum.core.state import RecordVersion
from relatum.ledger.reads.partition_statistics import Survey
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader

EDGES_MAX: Final = 1_024


def overview(partition: PartitionReader, now_millis: int, nodes_max: int) -> Overview:
    """The most linked records, the newest first among equals, and what joins them."""
    survey = Survey(partition, now_millis)
    degrees = {record_id: len(others) for record_id, others in survey.partners().items()}
    chosen = dict.fromkeys(nlargest(nodes_max, degrees, key=lambda one: (degrees[one], one)))
    inside = (tie for tie in survey.ties if tie.source_id in chosen and tie.target_id in chosen)
    edges = tuple(OverviewEdge(**tie._asdict()) for tie in islice(inside, EDGES_MAX))
    coverage = survey.coverage
    stops: list[OverviewStop] = [*coverage.stop_reasons]
    if len(chosen) < len(degrees):
        stops.append("node_limit")
    if next(inside, None) is not None:
        stops.append("edge_limit")
    standings = Standings(partition)
    return Overview(
        nodes=tuple(_node(partition, survey.records[one], standings.of(one), degrees[one]) for one in chosen),
        edges=edges,
        coverage=OverviewCoverage(
            scanned_records=coverage.scanned_records,
            scanned_relations=coverage.scanned_relations,
            scanned_links=coverage.scanned_links,
            complete=not stops,
            stop_reasons=tuple(stops),
        ),
    )


def _node(partition: PartitionReader, version: RecordVersion, standing: StandingView, degree: int) -> OverviewNode:
    meta = version.meta
    payload = payload_of(partition, meta)
    return OverviewNode(
        record_id=meta.record_id,
        revision=meta.revision,
        title=None if payload is None else payload.title,
        preview="" if payload is None else payload.content[: limits.PREVIEW_CHARACTERS_MAX],
        degree=degree,
        standing=standing,
    )
