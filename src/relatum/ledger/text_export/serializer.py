"""From what is carried to the entries of its files: in one order, each thing in one form."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from relatum.core.ids import Author, Partition
from relatum.core.kinds import LINK_TOKENS
from relatum.ledger.text_export.escapes import on_one_line
from relatum.ledger.text_export.grammar import Entry, written
from relatum.ledger.text_export.model import (
    CarriedDerivation,
    CarriedLink,
    CarriedPartition,
    CarriedRecord,
    CarriedRelation,
    CarriedReview,
    CarriedVerdict,
)

FORMAT: Final = "1"
PARTITION_NAME: Final = "partition.txt"
OUT: Final = ">"
IN: Final = "<"
LINK_PREFIX: Final = "link-"

_JSON: Final = msgspec.json.Encoder(order="sorted")
_INVISIBLE: Final = re.compile("[\x7f-\x9f\u2028\u2029]")

Incoming = dict[str, list[Entry]]
"""What is said of each record as a target."""


def files_of(carried: CarriedPartition) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file of a partition."""
    yield PARTITION_NAME, written(_partition(carried.partition))
    incoming = _incoming(carried)
    for record_id, record in carried.records.items():
        yield file_name(record_id), written(_record(record, incoming[record_id]))


def file_name(record_id: str) -> str:
    """The name of a record's file."""
    return f"{record_id}.txt"


def _partition(partition: Partition) -> Iterator[Entry]:
    yield Entry("relatum-partition", FORMAT)
    yield from _given(
        ("company", partition.company_id),
        ("project", partition.project_id),
        ("mission", partition.mission_id),
        ("agent", partition.agent_id),
        ("visibility", partition.visibility),
        ("subject", partition.private_subject_id),
    )


def _record(record: CarriedRecord, incoming: list[Entry]) -> Iterator[Entry]:
    given, source = record.input, record.input.provenance
    yield Entry("relatum-record", FORMAT)
    yield Entry("id", record.record_id)
    yield Entry("type", given.type)
    yield from _given(("title", given.title), ("category", given.category))
    yield from (Entry("tag", tag) for tag in given.tags or ())
    yield from _given(("topic-key", given.topic_key), ("fact-key", given.fact_key))
    if source is not None:
        yield from _given(
            ("source-id", source.source_id),
            ("source-hash", source.source_hash),
            ("source-revision", source.source_revision),
        )
    yield from _given(
        ("confidence", given.confidence),
        ("event-time-millis", given.event_time_millis),
        ("valid-until-millis", given.valid_until_millis),
    )
    yield _author(record.author)
    yield Entry("content", block=tuple(on_one_line(line) for line in given.content.split("\n")))
    if given.data is not None:
        yield Entry("data", block=_json(given.data))
    yield from _review(record.review)
    if record.derivation is not None:
        yield _derivation(record.derivation)
    yield from _given(("superseded-by", record.superseded_by))
    yield from (Entry(name, "yes") for name in ("archived", "pinned") if getattr(record, name))
    for mark in record.marks:
        yield Entry("stale-because", mark.because_id, members=tuple(_given(("confidence", mark.confidence))))
    said = [*map(_link, record.links), *map(_relation, record.relations), *incoming]
    yield from sorted(said, key=lambda entry: (entry.name, entry.value or ""))


def _given(*pairs: tuple[str, str | float | None]) -> Iterator[Entry]:
    for name, value in pairs:
        if value is not None:
            yield Entry(name, str(value))


def _author(author: Author) -> Entry:
    return Entry("author", f"{author.credential_id} {author.subject_id}")


def _json(value: Any) -> tuple[str, ...]:
    """JSON, a member a line; what nobody can see stands as JSON's own escapes."""
    text = msgspec.json.format(_JSON.encode(value), indent=2).decode()
    return tuple(_INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).split("\n"))


def _review(review: CarriedReview | None) -> Iterator[Entry]:
    if review is not None:
        yield Entry("review", review.disposition, (), (Entry("evidence", review.evidence_ref), _author(review.author)))


def _derivation(derivation: CarriedDerivation) -> Entry:
    members = (
        Entry("method-revision", derivation.method_revision),
        Entry("evidence", derivation.evidence_ref),
        *(Entry("source", source_id) for source_id in derivation.source_ids),
    )
    return Entry("derivation", derivation.method, (), members)


def _link(link: CarriedLink) -> Entry:
    return Entry(f"{LINK_PREFIX}{link.kind}", f"{OUT} {link.target_id}", (), (_author(link.author),))


def _relation(relation: CarriedRelation) -> Entry:
    value = f"{OUT} {relation.target_id} {relation.relation_id}"
    return Entry(LINK_TOKENS[relation.kind], value, (), tuple(_said(relation)))


def _said(relation: CarriedRelation) -> Iterator[Entry]:
    provenance, model = relation.provenance, relation.provenance.model
    yield _author(relation.author)
    yield Entry("origin", provenance.origin)
    yield Entry("method", provenance.method)
    yield Entry("method-revision", provenance.method_revision)
    yield Entry("evidence", provenance.evidence_ref)
    if model is not None:
        yield Entry("model-provider", model.provider)
        yield Entry("model", model.model)
        yield Entry("model-revision", model.revision)
    yield from _given(
        ("valid-from-millis", relation.valid_from_millis), ("valid-until-millis", relation.valid_until_millis)
    )
    yield from (Entry("evidence-source", record_id) for record_id in relation.evidence_ids)
    yield from (Entry("earlier", record_id) for record_id in relation.earlier_ids)
    if relation.review is not None:
        yield Entry("review", relation.review.disposition)
        yield Entry("review-evidence", relation.review.evidence_ref)
        yield Entry("review-author", f"{relation.review.author.credential_id} {relation.review.author.subject_id}")
    if relation.verdict is not None:
        yield from _verdict(relation.verdict)


def _verdict(verdict: CarriedVerdict) -> Iterator[Entry]:
    yield Entry("verdict", "comparison" if verdict.takeover_id is None else f"takeover {verdict.takeover_id}")
    yield from _given(("confidence", verdict.confidence), ("reason", verdict.reason))
    if verdict.evidence is not None:
        yield Entry("verdict-evidence", block=_json(verdict.evidence))


def _incoming(carried: CarriedPartition) -> Incoming:
    incoming: Incoming = defaultdict(list)
    for record_id, record in carried.records.items():
        for link in record.links:
            incoming[link.target_id].append(Entry(f"{LINK_PREFIX}{link.kind}", f"{IN} {record_id}"))
        for relation in record.relations:
            value = f"{IN} {record_id} {relation.relation_id}"
            incoming[relation.target_id].append(Entry(LINK_TOKENS[relation.kind], value))
    return incoming
