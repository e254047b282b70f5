"""Who superseded whom, who took over whose topic slot, and by which step of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.model import CarriedRecord, CarriedRelation


class Successions:
    """The successions of one partition. Raises TextUnusable where a record is superseded by what is not there.

    `takeovers` has, by its source, each supersession that a save made by taking the topic slot of its target. `late`
    has the records that come to be without their topic key, and get it once they can hold no slot any more.
    """

    def __init__(self, records: Mapping[str, CarriedRecord]) -> None:
        self._records = records
        self._superseding: dict[str, tuple[str, CarriedRelation]] = {}
        for record_id, record in records.items():
            for relation in record.relations:
                target = records.get(relation.target_id)
                if target is not None and target.superseded_by == relation.relation_id:
                    self._superseding[relation.target_id] = record_id, relation
        for record_id, record in records.items():
            if record.superseded_by is not None and record_id not in self._superseding:
                raise TextUnusable(f"{record_id} is superseded by a relation that is not there")
        self.takeovers = {source_id: one for source_id, one in self._superseding.values() if _takes_over(one)}
        self._replaced = {relation.target_id for relation in self.takeovers.values()}
        self._superseding_as_they_are = {
            source_id for source_id, relation in self._superseding.values() if source_id not in relation.earlier_ids
        }
        self.late = {record_id for record_id, record in records.items() if self._can_come_late(record)}

    def supersession(self, record_id: str) -> str:
        """The step that supersedes a record."""
        source_id, relation = self._superseding[record_id]
        return f"record/{source_id}" if _takes_over(relation) else f"relation/{relation.relation_id}"

    def freed(self, record: CarriedRecord) -> str:
        """The step after which a record that is not current holds its topic slot no more."""
        superseded = record.superseded_by is not None
        return self.supersession(record.record_id) if superseded else f"archive/{record.record_id}"

    def lines(self) -> Iterator[list[str]]:
        """The records that hold a topic slot at some time, each behind the one that it took it over from."""
        successors = {relation.target_id: source_id for source_id, relation in self.takeovers.items()}
        for record_id in self._records:
            if record_id in self.takeovers or record_id in self.late:
                continue
            line = [record_id]
            while line[-1] in successors:
                line.append(successors[line[-1]])
            yield line

    def _can_come_late(self, record: CarriedRecord) -> bool:
        """So can what is not current, if no supersession that it has a part in speaks of it as it is in the end."""
        own = record.record_id
        if record.current or record.derivation is not None or record.input.topic_key is None:
            return False
        if own in self.takeovers or own in self._replaced or own in self._superseding_as_they_are:
            return False
        return record.superseded_by is None or own in self._superseding[own][1].earlier_ids


def _takes_over(relation: CarriedRelation) -> bool:
    return relation.verdict is not None and relation.verdict.takeover_id is not None
