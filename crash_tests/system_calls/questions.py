"""Questions to a store, of every kind of read: each must be answered with the same bytes, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import get_args

import msgspec
from msgspec import Struct

from crash_tests.embedded.accounts import COMPANY_PARTITION, DESKS
from crash_tests.history import Desk
from crash_tests.violation import require_same
from relatum.core.access import Credential
from relatum.core.answers.judgments import Status
from relatum.core.feeds import Window
from relatum.core.graphs import TypedGraphQuery
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.links import StoredLink
from relatum.core.queries import RecordFilter, RelationFilter
from relatum.core.streams import RECORDS, RELATIONS
from relatum.errors import Failure
from relatum.ledger import Ledger
from relatum.ledger.reads import (
    changes,
    checkpoints,
    graph_typed,
    judgments,
    record_query,
    records,
    relation_query,
    relations,
    standings,
)
from relatum.limits import ANNOTATIONS_DEFAULT
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

NOW_MILLIS = 2_000_000_000_000
"""All questions are asked at one time, later than anything was committed."""
OBJECTS_MAX = 4
"""So many records and relations of each partition are asked about one by one, the last ones."""
CHANGES_MAX = 50
CONSUMERS = ("pager", "follower")
WAITED_MILLIS_MAX = NOW_MILLIS
"""Candidates are pending however long they have waited."""

Question = Callable[[], object]
Answers = dict[str, bytes]


class Subjects(Struct, frozen=True):
    """What there is to ask about at a desk."""

    records: list[str]
    relations: list[str]


def subjects_of(ledger: Ledger) -> list[Subjects]:
    """What there is to ask about, desk by desk."""
    with ledger.view() as view:
        return [_subjects(view.partition(desk.partition)) for desk in DESKS]


def ask(ledger: Ledger, subjects: list[Subjects]) -> Answers:
    """The answers to all questions that were answered, each encoded. Nothing is asked about nothing."""
    found: Answers = {}
    if not subjects:
        return found
    with ledger.view() as view:
        for name, question in _asked(view, subjects):
            with suppress(Failure):
                found[name] = msgspec.json.encode(question())
    return found


def require_answers(expected: Answers, found: Answers) -> int:
    """Raise `Violation` if a question has another answer than it should; how many have none."""
    for name, answer in found.items():
        require_same(f"the answer to {name}", expected[name], answer)
    return len(expected) - len(found)


def _subjects(partition: PartitionReader) -> Subjects:
    return Subjects(
        [version.meta.record_id for version in partition.records()][-OBJECTS_MAX:],
        [version.relation.relation_id for version in partition.relations()][-OBJECTS_MAX:],
    )


def _asked(view: LedgerView, subjects: list[Subjects]) -> Iterator[tuple[str, Question]]:
    for number, (desk, own) in enumerate(zip(DESKS, subjects, strict=True)):
        partition = view.partition(desk.partition)
        for name, question in (
            *_questions(partition, view.store_key, desk.account.subject_id, own),
            *_questions_of_judgments(partition, desk, own),
        ):
            yield f"{name} at desk {number}", question
    yield "credentials", partial(_credentials, view.partition(COMPANY_PARTITION))


def _questions(
    partition: PartitionReader, store_key: bytes, subject_id: str, own: Subjects
) -> Iterator[tuple[str, Question]]:
    now = NOW_MILLIS
    for name in own.records:
        yield f"record {name}", partial(records.inspect, partition, now, name)
        yield f"first revision of {name}", partial(records.revision, partition, name, 1)
        around = TypedGraphQuery(root_record_ids=(name,))
        yield f"graph around {name}", partial(graph_typed.typed_graph, partition, now, around)
    for name in own.relations:
        yield f"relation {name}", partial(relations.inspect, partition, now, name)
        yield f"first revision of {name}", partial(relations.revision, partition, name, 1)
    yield "all records", partial(record_query.query, partition, now, store_key, RecordFilter())
    yield "all relations", partial(relation_query.query, partition, now, store_key, RelationFilter())
    for stream in (RECORDS, RELATIONS):
        yield f"changes of {stream}", partial(changes.page, partition, stream, Window(), CHANGES_MAX)
        for consumer in CONSUMERS:
            what = f"checkpoint of {consumer} in {stream}"
            yield what, partial(checkpoints.read, partition, stream, subject_id, consumer)


def _questions_of_judgments(partition: PartitionReader, desk: Desk, own: Subjects) -> Iterator[tuple[str, Question]]:
    now = NOW_MILLIS
    for name in own.records:
        yield f"standing of {name}", partial(standings.checked_standing, partition, name)
        yield f"links of {name}", partial(_links, partition, name)
        yield f"annotations of {name}", partial(judgments.annotated, partition, now, (name,), ANNOTATIONS_DEFAULT)
    for status in get_args(Status):
        asked = JudgmentsQuery(contract_version=1, scope=desk.scope, status=status)
        yield f"{status} candidates", partial(judgments.query, partition, now, asked, 0, WAITED_MILLIS_MAX)


def _links(partition: PartitionReader, record_id: str) -> list[StoredLink]:
    return [link for _, link in partition.links_of(record_id)]


def _credentials(partition: PartitionReader) -> list[Credential]:
    return [stored.credential for stored in partition.credentials()]
