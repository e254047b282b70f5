"""What reads must answer, by the model: single objects, pages, graphs and receipts, eligible or not.

Everything here is asked of one view that the story has looked at, so that both speak of the same moment.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from crash_tests.adjacency import compare, neighbourhood
from crash_tests.history import Command, Json
from crash_tests.judgment_model.answer_checks import JudgmentsCompared
from crash_tests.model import Model
from crash_tests.simulation.partition_model import Chapter
from crash_tests.violation import require, require_same
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.queries import RecordFilter, RelationFilter
from relatum.errors import Refusal
from relatum.ledger.reads import (
    company,
    graph_evidence,
    graph_typed,
    receipts,
    record_query,
    records,
    relation_query,
    relations,
)
from relatum.limits import ANNOTATIONS_MAX, QUEUE_LIMIT_MAX
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

_PAGE_LIMITS = (3, 40)
_OBJECTS_READ = 3
_GRAPHS_READ = 1
_RECORDS_ANNOTATED = 6


def as_json(answer: object) -> Json:
    """An answer as it would go over the wire; a refusal is one too."""
    found: Json = msgspec.json.decode(msgspec.json.encode(answer))
    return found


class Answers:
    """What one view answers about one partition."""

    def __init__(self, view: LedgerView, chapter: Chapter, random: Random) -> None:
        self._view = view
        self._model: Model = chapter.model
        self._chapter = chapter
        self._random = random
        self._now = view.now_millis
        self._reader: PartitionReader = view.partition(chapter.partition)

    def check_some(self, count: int) -> None:
        """A few of the checks, of a few objects."""
        checks = (
            self._some_record,
            self._some_relation,
            self._some_graph,
            self._record_page,
            self._relation_page,
            self._some_judgments,
        )
        for _ in range(count):
            self._random.choice(checks)()

    def check_all(self) -> None:
        """Every object, and some of them in every way in which they can be read."""
        self._record_page()
        self._relation_page()
        self._check_listed()
        for record_id in self._sample(self._model.records, _OBJECTS_READ):
            self.check_record(record_id)
        for relation_id in self._sample(self._model.relations, _OBJECTS_READ):
            self.check_relation(relation_id)
        for record_id in self._sample(self._model.records, _GRAPHS_READ):
            self._check_evidence_graph(record_id)
            self._check_graph(record_id)

    # Single objects

    def check_record(self, record_id: str) -> None:
        """A record, as it is and as it was."""
        model, name = self._model, f"record {record_id}"
        revision = len(model.records[record_id])
        shown = model.record_at(record_id, revision)
        eligible = model.is_eligible(record_id, self._now)
        inspection = as_json(records.inspect(self._reader, self._now, record_id))
        require_same(f"the inspection of {name}", shown, inspection.get("record"))
        require_same(f"whether {name} is eligible", eligible, inspection["eligibility"]["eligible"])
        read = as_json(records.read(self._reader, self._now, record_id))
        require_same(name, shown if eligible else "record_not_found", read if eligible else read.get("code"))
        number = self._random.randint(1, revision)
        history = as_json(records.revision(self._reader, record_id, number))
        require_same(f"revision {number} of {name}", model.record_at(record_id, number), history.get("record"))

    def check_relation(self, relation_id: str) -> None:
        """A relation, as it is and as it was."""
        model, name = self._model, f"relation {relation_id}"
        shown = model.relations[relation_id][-1]
        eligible = self._is_eligible(relation_id)
        inspection = as_json(relations.inspect(self._reader, self._now, relation_id))
        require_same(f"the inspection of {name}", shown, inspection.get("relation"))
        require_same(f"whether {name} is eligible", eligible, inspection["eligibility"]["eligible"])
        read = as_json(relations.read(self._reader, self._now, relation_id))
        require_same(name, shown if eligible else "record_not_found", read if eligible else read.get("code"))
        number = self._random.randint(1, shown["revision"])
        history = as_json(relations.revision(self._reader, relation_id, number))
        require_same(f"revision {number} of {name}", model.relation_at(relation_id, number), history.get("relation"))

    def check_receipt(self, command: Command) -> None:
        """The receipt of an accepted command, found by its key; of a batch of judgments, the first one."""
        subject_id = command.desk.account.subject_id
        found = as_json(receipts.read(self._reader, subject_id, command.family, command.idempotency_key))
        told = (one.acknowledged() for one in command.claims())
        receipt = next((as_json(one) for one in told if one is not None), None)
        name = f"the receipt of {command.name}"
        require_same(name, receipt or "record_not_found", found if receipt else found.get("code"))

    # Judgments

    def check_judgments(self) -> None:
        """Everything that saves, judgments, links and standings have left."""
        compared = self._compared()
        compared.standings()
        compared.links()
        compared.promotions()
        compared.queue(0, QUEUE_LIMIT_MAX)
        compared.annotations(ANNOTATIONS_MAX, self._sample(self._model.records, _RECORDS_ANNOTATED))

    def _some_judgments(self) -> None:
        compared = self._compared()
        compared.queue(self._random.choice((None, 0)), self._random.choice(_PAGE_LIMITS))
        compared.standings()
        compared.promotions()

    def _compared(self) -> JudgmentsCompared:
        self._chapter.book.now_millis = self._now
        return JudgmentsCompared(self._reader, self._now, self._chapter.book)

    def _is_eligible(self, relation_id: str) -> bool:
        given = self._model.relations[relation_id][-1]["input"]
        ends = (given["source"], given["target"])
        return self._model.is_valid(relation_id, self._now) and all(
            self._model.is_eligible(end["record_id"], self._now, end["revision"]) for end in ends
        )

    def _some_record(self) -> None:
        for record_id in self._sample(self._model.records, 1):
            self.check_record(record_id)
            self._check_evidence_graph(record_id)

    def _some_relation(self) -> None:
        for relation_id in self._sample(self._model.relations, 1):
            self.check_relation(relation_id)

    # Graphs

    def _some_graph(self) -> None:
        for record_id in self._sample(self._model.records, 1):
            self._check_graph(record_id)

    def _check_graph(self, record_id: str) -> None:
        """The neighbourhood of a record: both directions of the adjacency index, and its headers."""
        query = TypedGraphQuery(root_record_ids=(record_id,), max_depth=1)
        graph = graph_typed.typed_graph(self._reader, self._now, query)
        require(not isinstance(graph, Refusal), f"a graph was refused: {graph}")
        compare(self._model, record_id, neighbourhood(self._model, record_id, self._now), as_json(graph))

    def _check_evidence_graph(self, record_id: str) -> None:
        """What a record was derived from, through every level."""
        query = EvidenceGraphQuery(root_record_ids=(record_id,), max_depth=8)
        graph = as_json(graph_evidence.evidence_graph(self._reader, self._now, query))
        found = {node["record"]["record_id"] for node in graph["nodes"]}
        expected: set[str] = set()
        if self._model.is_eligible(record_id, self._now):
            self._add_ancestry(record_id, expected)
        require_same(f"the ancestry of record {record_id}", expected, found)

    def _add_ancestry(self, record_id: str, found: set[str]) -> None:
        found.add(record_id)
        for source in (self._model.records[record_id][-1]["derivation"] or {}).get("sources", []):
            self._add_ancestry(source["record_id"], found)

    # Pages

    def _record_page(self) -> None:
        """All eligible records, page by page, newest first."""
        model, found, cursor = self._model, [], None
        limit = self._random.choice(_PAGE_LIMITS)
        while True:
            wanted = RecordFilter(limit=limit, cursor=cursor)
            page = as_json(record_query.query(self._reader, self._now, self._view.store_key, wanted))
            found += page["records"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        eligible = [one for one in sorted(model.records, reverse=True) if model.is_eligible(one, self._now)]
        require_same("the eligible records", [model.records[one][-1] for one in eligible], found)

    def _relation_page(self) -> None:
        """All retained relations, page by page, newest first."""
        model, found, cursor = self._model, [], None
        limit = self._random.choice(_PAGE_LIMITS)
        while True:
            wanted = RelationFilter(limit=limit, cursor=cursor)
            page = as_json(relation_query.query(self._reader, self._now, self._view.store_key, wanted))
            found += [one["relation"] for one in page["relations"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        retained = [model.relations[one][-1] for one in sorted(model.relations, reverse=True)]
        require_same("the retained relations", retained, found)

    def _check_listed(self) -> None:
        """A workspace is listed once it has had a record."""
        found = company.enter(self._view, self._chapter.partition.company_id, self._reader.workspace_id)
        listed = not isinstance(found, Refusal)
        require_same("whether a workspace is listed", bool(self._model.records), listed)

    def _sample(self, objects: dict[str, Any], count: int) -> list[str]:
        return self._random.sample(list(objects), min(count, len(objects)))
