"""Everything that there is to ask of a store whose clients were told so much, and which rows each answer needs.

What an answer needs is written down here from docs/integrity.md, and not observed: a check that gets lost in the
product is missed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from crash_tests.company import COMPANY
from crash_tests.damage.judgment_scene import JUDGED, LONG
from crash_tests.damage.question import Failed, Question, answer
from crash_tests.damage.workload import CONSUMERS, ELSEWHERE, IDLE, OTHER_COMPANY, Saved, Taken, Told
from crash_tests.embedded.accounts import PARTITIONS
from crash_tests.violation import Violation, require_same
from relatum.core import digests
from relatum.core.ids import Partition, Ref, company_partition
from relatum.core.relations import StoredRelation
from relatum.core.secret import credential_id_of
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.ledger import Ledger
from relatum.store import keys
from relatum.store.keys import COUNTED, PREFIX_BYTES, PartitionKeys, Table, beyond
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

MEMORY = (*(one for one in PARTITIONS if one.project_id is not None), ELSEWHERE, JUDGED, LONG)
STREAMS: tuple[Stream, ...] = (RECORDS, RELATIONS)
OTHER_DIGEST = "00" * 32
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
PAGE = 7
FEED_PAGE = 23
PAGES_MAX = 200

Answered = list[tuple[Question, bytes]]


def all_answered(ledger: Ledger, told: Told) -> Answered:
    """Each question with its answer. The store is sound: a failure, or a receipt other than told, is a violation."""
    with ledger.view() as view:
        asking = _Asking(ledger, view)
        for partition in MEMORY:
            for question in _of_partition(view.partition(partition), partition, told):
                asking.ask(question)
            _pages(asking, partition)
            _judged(asking, view.partition(partition), partition)
        _idle(asking)
        _of_company(asking, told)
    _require_receipts(asking.answered, told)
    return asking.answered


class _Asking:
    def __init__(self, ledger: Ledger, view: LedgerView) -> None:
        self.answered: Answered = []
        self._ledger = ledger
        self._view = view

    def ask(self, question: Question) -> Any:
        """The answer as JSON, entered."""
        found = answer(self._ledger, self._view, question)
        if isinstance(found, Failed):
            raise Violation(f"the undamaged store failed at {question}: {found.error}")
        self.answered.append((question, found))
        return None if found.startswith(b"refused") else msgspec.json.decode(found)

    def shows(self, question: Question) -> bool:
        """Whether the answer is not a refusal; it is not entered."""
        found = answer(self._ledger, self._view, question)
        return not isinstance(found, Failed) and not found.startswith(b"refused")

    def ask_pages(self, first: Question, following: Callable[[Any], Question | None]) -> None:
        """A page and all that follow it."""
        question: Question | None = first
        for _ in range(PAGES_MAX):
            if question is None:
                return
            question = following(self.ask(question))
        raise Violation(f"the pages of {first} have no end")


def _require_receipts(answered: Answered, told: Told) -> None:
    """What clients were told is what the store says: each receipt, asked for and replayed."""
    found = {(one.ask, one.partition, one.given): said for one, said in answered if one.ask in ("receipt", "replay")}
    for taken in told.taken:
        key = taken.family, taken.subject_id, taken.idempotency_key
        for ask, given in (("receipt", key), ("replay", (*key, taken.command_digest))):
            said = msgspec.json.decode(found[ask, taken.partition, given])
            require_same(f"the {ask} of {key}", msgspec.json.decode(taken.receipt), said)


# One partition


def _of_partition(reader: PartitionReader, partition: Partition, told: Told) -> Iterator[Question]:
    yield from _of_keys(reader, partition, told)
    record_ids = [version.meta.record_id for version in reader.records()]
    for record_id in record_ids:
        yield from _of_record(reader, partition, record_id)
    for start in range(0, len(record_ids), 100):
        yield Question("records", partition, tuple(record_ids[start : start + 100]))
    for relation in reader.relations():
        yield from _of_relation(reader, partition, relation.relation.relation_id)
    for ask in ("record", "record inspected", "relation", "relation inspected"):
        yield Question(ask, partition, (UNKNOWN_ID,))


def _of_keys(reader: PartitionReader, partition: Partition, told: Told) -> Iterator[Question]:
    for taken in told.taken:
        if taken.partition == partition:
            yield from _of_key(reader, taken)
    for saved in told.saved:
        if saved.partition == partition:
            yield from _of_saved(reader, saved)
    for where, family, subject_id, key in told.refused:
        if where == partition:
            yield Question("receipt", partition, (family, subject_id, key))
            yield Question("replay", partition, (family, subject_id, key, OTHER_DIGEST))


def _of_key(reader: PartitionReader, taken: Taken) -> Iterator[Question]:
    key = taken.family, taken.subject_id, taken.idempotency_key
    event = reader.keys.event(taken.commit_sequence)
    needs = (reader.keys.receipt(*key), reader.keys.receipt_witness(*key), event)
    history = _record_rows if taken.family == "record" else _relation_rows
    yield Question("receipt", taken.partition, key, needs)
    yield Question("replay", taken.partition, (*key, taken.command_digest), (*needs, *history(reader, taken.object_id)))
    if taken.revision == 1:
        yield Question("replay", taken.partition, (*key, OTHER_DIGEST), needs)


def _of_saved(reader: PartitionReader, saved: Saved) -> Iterator[Question]:
    whose = saved.stream, saved.subject_id, saved.receipt.checkpoint.consumer_id
    key = "checkpoint", saved.subject_id, saved.idempotency_key
    revision = reader.keys.checkpoint_revision(*whose, saved.receipt.checkpoint.revision)
    needs = (reader.keys.receipt(*key), reader.keys.receipt_witness(*key), revision)
    yield Question("receipt", saved.partition, key, needs)
    yield Question("replay", saved.partition, (*key, saved.command_digest), needs)
    number = saved.receipt.checkpoint.revision
    yield Question("checkpoint revision", saved.partition, (*whose, number), (revision,))
    yield Question("checkpoint revision", saved.partition, (*whose, number + 1))
    yield Question("checkpoint", saved.partition, whose, (reader.keys.checkpoint(*whose),))
    cursor = msgspec.to_builtins(saved.receipt.checkpoint.cursor)
    for witness in (None, cursor):
        yield Question("diagnosis", saved.partition, (*whose, witness), (reader.keys.checkpoint(*whose),))
    yield Question("changes", saved.partition, (saved.stream, cursor, None, 2))
    yield Question("changes", saved.partition, (saved.stream, None, cursor, 2))


def _record_rows(reader: PartitionReader, record_id: str) -> tuple[bytes, ...]:
    """What must be there together of a record as it is now."""
    version = reader.record(record_id)
    assert version is not None
    meta = version.meta
    event = reader.keys.event(version.sequence)
    return (
        reader.keys.record(record_id),
        reader.keys.record_revision(record_id, meta.revision),
        reader.keys.header(record_id, meta.content_revision),
        event,
    )


def _relation_rows(reader: PartitionReader, relation_id: str) -> tuple[bytes, ...]:
    """What must be there together of a relation as it is now."""
    version = reader.relation(relation_id)
    assert version is not None
    relation = version.relation
    contents = [reader.content_of(end) for end in _ends(relation)]
    found = [
        reader.keys.relation(relation_id),
        reader.keys.relation_revision(relation_id, relation.revision),
        reader.keys.event(version.sequence),
        *(reader.keys.header(end.record_id, end.revision) for end in contents),
    ]
    if relation.indexed:
        for direction, end in zip((Table.OUTGOING, Table.INCOMING), contents, strict=True):
            found.append(reader.keys.adjacency_entry(direction, end.record_id, end.revision, relation_id))
    return tuple(found)


def _ends(relation: StoredRelation) -> tuple[Ref, Ref]:
    return relation.input.source, relation.input.target


def _of_record(reader: PartitionReader, partition: Partition, record_id: str) -> Iterator[Question]:
    version = reader.record(record_id)
    assert version is not None
    meta = version.meta
    payload = () if meta.state == "deleted" else (reader.keys.payload(record_id, meta.payload_revision),)
    yield Question("record", partition, (record_id,), (reader.keys.record(record_id),))
    yield Question("record inspected", partition, (record_id,), (*_record_rows(reader, record_id), *payload))
    for number in range(1, meta.revision + 2):
        needs = (reader.keys.record_revision(record_id, number),) if number <= meta.revision else ()
        yield Question("record revision", partition, (record_id, number), needs)
    yield Question("typed graph", partition, (record_id, 1), (reader.keys.record(record_id),))
    yield Question("evidence graph", partition, (record_id,), (reader.keys.record(record_id),))


def _of_relation(reader: PartitionReader, partition: Partition, relation_id: str) -> Iterator[Question]:
    version = reader.relation(relation_id)
    assert version is not None
    needs = _relation_rows(reader, relation_id)
    yield Question("relation", partition, (relation_id,), needs)
    yield Question("relation inspected", partition, (relation_id,), needs)
    for number in range(1, version.relation.revision + 2):
        own = (reader.keys.relation_revision(relation_id, number),) if number <= version.relation.revision else ()
        yield Question("relation revision", partition, (relation_id, number), own)


# What judgments have left


def _judged(asking: _Asking, reader: PartitionReader, partition: Partition) -> None:
    """Whoever asks for any of it needs all of it: nothing beside such a row tells that it is there."""
    needs = tuple(_counted(reader))
    record_ids = [version.meta.record_id for version in reader.records() if version.meta.state == "active"]
    for record_id in record_ids if partition == JUDGED else record_ids[:1]:
        asking.ask(Question("status", partition, (record_id,), needs))
        # Of a record that is not shown nothing is said, for which no row is needed.
        shown = asking.shows(Question("record", partition, (record_id,)))
        asking.ask(Question("annotated", partition, (record_id,), needs if shown else ()))
    for status in ("pending", "judged", "orphaned"):
        asking.ask(Question("queue", partition, (status,), needs))
    for ask in ("overview", "needs review", "validate", "health"):
        asking.ask(Question(ask, partition, (), needs))


def _counted(reader: PartitionReader) -> Iterator[bytes]:
    prefix = reader.keys.prefix
    for key, _ in reader.reader.scan(prefix, beyond(prefix)):
        if key[PREFIX_BYTES] in COUNTED:
            yield key


# Pages


def _pages(asking: _Asking, partition: Partition) -> None:
    for order in ("created_asc", "created_desc"):
        for ask in ("record page", "retained page", "relation page"):
            _query_pages(asking, ask, partition, {"order": order, "limit": PAGE})
    _query_pages(asking, "record page", partition, {"text": "text 1"})
    _query_pages(asking, "retained page", partition, {"view": "current"})
    _query_pages(asking, "relation page", partition, {"state": "retired"})
    for stream in STREAMS:
        _feed_pages(asking, partition, stream)


def _query_pages(asking: _Asking, ask: str, partition: Partition, members: dict[str, Any]) -> None:
    def following(page: Any) -> Question | None:
        cursor = page["next_cursor"]
        return None if cursor is None else Question(ask, partition, ({**members, "cursor": cursor},))

    asking.ask_pages(Question(ask, partition, (members,)), following)


def _feed_pages(asking: _Asking, partition: Partition, stream: Stream) -> None:
    entry = PartitionKeys(digests.workspace_id(partition)).journal_entry
    first = asking.ask(Question("changes", partition, (stream, None, None, 1)))
    if not first["active"]:
        return
    tip = first["high_watermark"]["sequence"]

    def page(after: Any) -> Question:
        start = 0 if after is None else after["sequence"]
        told = range(start + 1, min(start + FEED_PAGE, tip) + 1)
        return Question(
            "changes", partition, (stream, after, None, FEED_PAGE), tuple(entry(stream, number) for number in told)
        )

    asking.ask_pages(page(None), lambda found: None if found["complete"] else page(found["next_cursor"]))


def _idle(asking: _Asking) -> None:
    for stream in STREAMS:
        page = asking.ask(Question("changes", IDLE, (stream, None, None, FEED_PAGE)))
        if page["active"]:
            asking.ask(Question("changes", IDLE, (stream, page["baseline"], None, FEED_PAGE)))
        asking.ask(Question("diagnosis", IDLE, (stream, "extractor", CONSUMERS[0], page["baseline"])))


# The company


def _of_company(asking: _Asking, told: Told) -> None:
    for secret in told.secrets:
        credential_id = credential_id_of(secret)
        assert credential_id is not None
        asking.ask(Question("caller", company_partition(COMPANY), (secret,), (keys.credential_company(credential_id),)))
    for company in (COMPANY, OTHER_COMPANY):
        _company_pages(asking, company)
    asking.ask(Question("company", company_partition("nobody"), ("nobody",)))


def _company_pages(asking: _Asking, company: str) -> None:
    at = company_partition(company)

    asking.ask_pages(
        Question("credentials", at, (3, None)),
        lambda page: None if page["next_after"] is None else Question("credentials", at, (3, page["next_after"])),
    )
    asking.ask(Question("company", at, (company,), (keys.company(company),)))

    def workspaces(page: Any) -> Question | None:
        for one in page["workspaces"]:
            name = one["workspace_id"]
            asking.ask(Question("workspace", at, (company, name), (keys.workspace(company, name),)))
        after = page["next_after_workspace_id"]
        return None if after is None else Question("workspaces", at, (company, 2, after))

    asking.ask_pages(Question("workspaces", at, (company, 2, None)), workspaces)
    asking.ask(Question("workspace", at, (company, OTHER_DIGEST)))
    for stream in STREAMS:
        _consumer_pages(asking, at, company, stream)


def _consumer_pages(asking: _Asking, at: Partition, company: str, stream: Stream) -> None:
    members = {"stream": stream, "limit": 2}
    asking.ask_pages(
        Question("consumers", at, (company, members)),
        lambda page: (
            None
            if page["next_cursor"] is None
            else Question("consumers", at, (company, {**members, "cursor": page["next_cursor"]}))
        ),
    )
