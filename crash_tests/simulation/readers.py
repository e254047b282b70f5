"""Readers: a view shows what was acknowledged before it, answers as the model does, and goes on to while it is held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from typing import get_args

import msgspec

from crash_tests.company import SHARED
from crash_tests.simulation.answers import Answers
from crash_tests.simulation.environment import AGES
from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import Story
from crash_tests.simulation.partition_model import Chapter
from crash_tests.violation import require_same
from relatum.core.answers.judgments import Status
from relatum.core.feeds import PageQuery
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Partition
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.queries import RecordFilter, RelationFilter
from relatum.core.streams import RECORDS, RELATIONS
from relatum.ledger.reads import changes, graph_typed, judgments, record_query, records, relation_query, relations
from relatum.limits import ANNOTATIONS_DEFAULT
from relatum.store.view import LedgerView

_PAUSE_SECONDS = 0.005

Question = Callable[[LedgerView], object]


class Reader:
    """One reader."""

    def __init__(self, machine: Machine, story: Story, random: Random) -> None:
        self._machine = machine
        self._story = story
        self._random = random

    async def work(self, turns: int) -> None:
        """So many turns."""
        for _ in range(turns):
            await self._machine.pause(_PAUSE_SECONDS)
            view = self._machine.view()
            if view is not None:
                with view:
                    self._story.look(view)
                    chapter = self._random.choice(list(self._story.chapters.values()))
                    Answers(view, chapter, self._random).check_some(1)
                    if self._random.random() < 0.3:
                        await self._hold(view, chapter)

    async def _hold(self, view: LedgerView, chapter: Chapter) -> None:
        """Asks the same view the same again, after others have written."""
        question = self._random.choice([*questions(chapter), *questions_of_judgments(chapter)])
        before = told(question, view)
        generation = self._machine.generation
        for _ in range(self._random.randint(1, 4)):
            if self._machine.leaving or self._machine.generation != generation:
                return
            await asyncio.sleep(self._random.random() * _PAUSE_SECONDS)
        require_same("what a view answers a second time", before, told(question, view))


def told(question: Question, view: LedgerView) -> bytes:
    """An answer as it would go over the wire."""
    return msgspec.json.encode(question(view))


def questions(chapter: Chapter) -> list[Question]:
    """Everything that can be asked about records, relations and changes, each as a function of a view.

    What is answered says so if a row that goes with it is gone.
    """
    partition = chapter.partition

    def record(record_id: str) -> Question:
        return lambda view: records.inspect(view.partition(partition), view.now_millis, record_id)

    def graph(record_id: str) -> Question:
        query = TypedGraphQuery(root_record_ids=(record_id,))
        return lambda view: graph_typed.typed_graph(view.partition(partition), view.now_millis, query)

    def relation(relation_id: str) -> Question:
        return lambda view: relations.inspect(view.partition(partition), view.now_millis, relation_id)

    return [
        *(ask(record_id) for record_id in chapter.model.records for ask in (record, graph)),
        *(relation(relation_id) for relation_id in chapter.model.relations),
        lambda view: changes.page(view.partition(partition), RECORDS, PageQuery(limit=256), 256),
        lambda view: changes.page(view.partition(partition), RELATIONS, PageQuery(limit=256), 256),
        lambda view: record_query.query(view.partition(partition), view.now_millis, view.store_key, RecordFilter()),
        lambda view: relation_query.query(view.partition(partition), view.now_millis, view.store_key, RelationFilter()),
    ]


def questions_of_judgments(chapter: Chapter) -> list[Question]:
    """The same about judgments: some rows of theirs can be gone without an answer that says so (docs/integrity.md)."""
    partition = chapter.partition

    def annotated(record_id: str) -> Question:
        return lambda view: judgments.annotated(
            view.partition(partition), view.now_millis, (record_id,), ANNOTATIONS_DEFAULT
        )

    return [
        *map(annotated, chapter.model.records),
        *(partial(_candidates, partition, status) for status in get_args(Status)),
    ]


def _candidates(partition: Partition, status: Status, view: LedgerView) -> object:
    asked = JudgmentsQuery(contract_version=1, scope=SHARED, status=status, min_age_millis=0)
    return judgments.query(view.partition(partition), view.now_millis, asked, 0, AGES.deadline_millis)
