"""Knots: records that took topic slots from each other by revisions, in a way that no order of commands repeats.

An export that can't be imported is none. So the supersessions of a partition that is in such a knot are left out, and
what they superseded comes back archived.
"""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from relatum.core.kinds import LINK_TOKENS
from relatum.ledger.text_export.extract import COMES_BACK_ARCHIVED, NO_ORDER
from relatum.ledger.text_export.import_plan import NoOrder, planned
from relatum.ledger.text_export.manifest import LeftOut
from relatum.ledger.text_export.model import CarriedPartition, CarriedRecord


def in_some_order(carried: CarriedPartition) -> tuple[CarriedPartition, LeftOut]:
    """What of a partition can be brought back in some order, and what was left out for that."""
    try:
        planned(carried)
    except NoOrder:
        untied = _without_supersessions(carried)
        planned(untied[0])
        return untied
    return carried, {}


def _without_supersessions(carried: CarriedPartition) -> tuple[CarriedPartition, LeftOut]:
    gone = {record.superseded_by for record in carried.records.values()} - {None}
    relations, archived = Counter[str](), Counter[str]()

    def without(record: CarriedRecord) -> CarriedRecord:
        lost = record.superseded_by is not None
        if lost:
            archived[record.input.type or "memory"] += 1
        relations.update(LINK_TOKENS[one.kind] for one in record.relations if one.relation_id in gone)
        kept = tuple(one for one in record.relations if one.relation_id not in gone)
        return replace(record, superseded_by=None, archived=record.archived or lost, relations=kept)

    records = {record_id: without(record) for record_id, record in carried.records.items()}
    return replace(carried, records=records), {NO_ORDER: dict(relations), COMES_BACK_ARCHIVED: dict(archived)}
