"""From the entries of files back to what is carried. Raises TextUnusable for whatever is not as it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

import msgspec

from relatum.core.answers.receipts import LinkKind
from relatum.core.answers.records import Disposition
from relatum.core.answers.relations import Origin
from relatum.core.canonical import normal_json
from relatum.core.ids import Author, Partition, Visibility
from relatum.core.kinds import KINDS_BY_TOKEN, RecordType
from relatum.core.records import RecordInput, RecordProvenance
from relatum.core.relations import Model, Provenance
from relatum.core.text import is_identifier
from relatum.core.wire import canonical_uuid
from relatum.ledger.text_export.escapes import as_it_was
from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.grammar import Entry, Fields, fraction, read
from relatum.ledger.text_export.model import (
    CarriedDerivation,
    CarriedLink,
    CarriedMark,
    CarriedRecord,
    CarriedRelation,
    CarriedReview,
    CarriedVerdict,
)
from relatum.ledger.text_export.serializer import FORMAT, IN, LINK_PREFIX, OUT

Word = TypeVar("Word", bound=str)


def partition_from(data: bytes) -> Partition:
    """The partition that a folder is of."""
    fields = Fields(read(data))
    _require_format(fields, "relatum-partition")
    partition = Partition(
        company_id=fields.required("company"),
        project_id=fields.required("project"),
        mission_id=fields.optional("mission"),
        agent_id=fields.required("agent"),
        visibility=_word(fields.required("visibility"), Visibility),
        private_subject_id=fields.optional("subject"),
    )
    fields.require_nothing_else()
    if (partition.visibility == "private") != (partition.private_subject_id is not None):
        raise TextUnusable("what is private has a subject, and nothing else has")
    _identifier(partition.private_subject_id or partition.company_id)
    if not partition.scope.well_formed():
        raise TextUnusable("what must be an identifier is none")
    return partition


def record_from(data: bytes) -> CarriedRecord:
    """The record of a file, with what it says of others; what others say of it stands in their files."""
    entries = read(data)
    fields = Fields(entry for entry in entries if not _relates(entry))
    _require_format(fields, "relatum-record")
    outgoing = [entry for entry in entries if _relates(entry) and not _value(entry).startswith(f"{IN} ")]
    record = CarriedRecord(
        record_id=_uuid(fields.required("id")),
        author=_author(fields.required("author")),
        input=_input(fields),
        review=_review(fields),
        derivation=_derivation(fields),
        superseded_by=_optional(fields.optional("superseded-by"), _uuid),
        archived=fields.flag("archived"),
        pinned=fields.flag("pinned"),
        marks=tuple(map(_mark, fields.all("stale-because"))),
        links=tuple(_link(entry) for entry in outgoing if entry.name not in KINDS_BY_TOKEN),
        relations=tuple(_relation(entry) for entry in outgoing if entry.name in KINDS_BY_TOKEN),
    )
    fields.require_nothing_else()
    return record


def _relates(entry: Entry) -> bool:
    return entry.name in KINDS_BY_TOKEN or entry.name.startswith(LINK_PREFIX)


def _input(fields: Fields) -> RecordInput:
    content, data = fields.block("content"), fields.block("data")
    if content is None:
        raise TextUnusable("content is missing")
    source_id, source_hash = fields.optional("source-id"), fields.optional("source-hash")
    source_revision = fields.optional("source-revision")
    if source_id is None and (source_hash, source_revision) != (None, None):
        raise TextUnusable("source-id is missing")
    with _understood():
        return RecordInput(
            type=_word(fields.required("type"), RecordType),
            content="\n".join(as_it_was(line) for line in content),
            title=fields.optional("title"),
            data=None if data is None else _object(data),
            tags=fields.values("tag"),
            category=fields.optional("category"),
            topic_key=fields.optional("topic-key"),
            fact_key=fields.optional("fact-key"),
            provenance=None
            if source_id is None
            else RecordProvenance(source_id=source_id, source_hash=source_hash, source_revision=source_revision),
            confidence=fields.number("confidence"),
            event_time_millis=fields.integer("event-time-millis"),
            valid_until_millis=fields.integer("valid-until-millis"),
        )


def _object(lines: tuple[str, ...]) -> dict[str, Any]:
    found = _json(lines)
    if not isinstance(found, dict):
        raise TextUnusable("data must be an object")
    return found


def _json(lines: tuple[str, ...]) -> Any:
    with _understood():
        return normal_json(msgspec.json.decode("\n".join(lines)))


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except (ValueError, OverflowError, RecursionError) as error:  # msgspec's own errors are ValueErrors
        raise TextUnusable("a value can't be understood") from error


def _review(fields: Fields) -> CarriedReview | None:
    found = fields.one("review")
    if found is None:
        return None
    members = Fields(found.members)
    evidence_ref, author = members.required("evidence"), _author(members.required("author"))
    members.require_nothing_else()
    return CarriedReview(disposition=_word(_value(found), Disposition), evidence_ref=evidence_ref, author=author)


def _derivation(fields: Fields) -> CarriedDerivation | None:
    found = fields.one("derivation")
    if found is None:
        return None
    members = Fields(found.members)
    derivation = CarriedDerivation(
        source_ids=tuple(map(_uuid, members.values("source"))),
        method=_value(found),
        method_revision=members.required("method-revision"),
        evidence_ref=members.required("evidence"),
    )
    members.require_nothing_else()
    return derivation


def _mark(entry: Entry) -> CarriedMark:
    members = Fields(entry.members)
    mark = CarriedMark(because_id=_uuid(_value(entry)), confidence=members.number("confidence"))
    members.require_nothing_else()
    return mark


def _link(entry: Entry) -> CarriedLink:
    direction, _, target_id = _value(entry).partition(" ")
    members = Fields(entry.members)
    author = _author(members.required("author"))
    members.require_nothing_else()
    if direction != OUT:
        raise TextUnusable(f"{entry.name} must point somewhere")
    kind = _word(entry.name.removeprefix(LINK_PREFIX), LinkKind)
    return CarriedLink(target_id=_uuid(target_id), kind=kind, author=author)


def _relation(entry: Entry) -> CarriedRelation:
    direction, _, ends = _value(entry).partition(" ")
    target_id, _, relation_id = ends.partition(" ")
    if direction != OUT:
        raise TextUnusable(f"{entry.name} must point somewhere")
    members = Fields(entry.members)
    relation = CarriedRelation(
        relation_id=_uuid(relation_id),
        kind=KINDS_BY_TOKEN[entry.name],
        target_id=_uuid(target_id),
        author=_author(members.required("author")),
        provenance=_provenance(members),
        valid_from_millis=members.integer("valid-from-millis"),
        valid_until_millis=members.integer("valid-until-millis"),
        evidence_ids=tuple(map(_uuid, members.values("evidence-source"))),
        earlier_ids=tuple(map(_uuid, members.values("earlier"))),
        review=_relation_review(members),
        verdict=_verdict(members),
    )
    members.require_nothing_else()
    return relation


def _provenance(members: Fields) -> Provenance:
    model = members.optional("model")
    provider, revision = members.optional("model-provider"), members.optional("model-revision")
    if (model is None) != (provider is None) or (model is None) != (revision is None):
        raise TextUnusable("a model has a provider and a revision")
    return Provenance(
        origin=_word(members.required("origin"), Origin),
        method=members.required("method"),
        method_revision=members.required("method-revision"),
        evidence_ref=members.required("evidence"),
        model=None if model is None else Model(provider=provider or "", model=model, revision=revision or ""),
    )


def _relation_review(members: Fields) -> CarriedReview | None:
    disposition = members.optional("review")
    if disposition is None:
        return None
    return CarriedReview(
        disposition=_word(disposition, Disposition),
        evidence_ref=members.required("review-evidence"),
        author=_author(members.required("review-author")),
    )


def _verdict(members: Fields) -> CarriedVerdict | None:
    found = members.optional("verdict")
    if found is None:
        return None
    how, _, candidate_id = found.partition(" ")
    if (how, bool(candidate_id)) not in {("comparison", False), ("takeover", True)}:
        raise TextUnusable("verdict must be a comparison or a takeover")
    confidence, evidence = members.optional("confidence"), members.block("verdict-evidence")
    return CarriedVerdict(
        confidence=None if confidence is None else fraction("confidence", confidence),
        reason=members.optional("reason"),
        evidence=None if evidence is None else _json(evidence),
        takeover_id=_uuid(candidate_id) if candidate_id else None,
    )


def _require_format(fields: Fields, name: str) -> None:
    if fields.required(name) != FORMAT:
        raise TextUnusable(f"it is of a version that this program does not know; it knows {name}: {FORMAT}")


def _value(entry: Entry) -> str:
    if entry.value is None:
        raise TextUnusable(f"{entry.name} must have a value")
    return entry.value


def _word(value: str, words: Any) -> Any:
    """One of the words of a Literal."""
    if value not in get_args(words):
        raise TextUnusable("a word that is not known here")
    return value


def _uuid(value: str) -> str:
    with _understood():
        found = canonical_uuid(value)
    if found != value:
        raise TextUnusable("an id must be 36 lower-case characters")
    return found


def _author(value: str) -> Author:
    credential_id, _, subject_id = value.partition(" ")
    return Author(credential_id=_uuid(credential_id), subject_id=_identifier(subject_id))


def _identifier(value: str) -> str:
    if not is_identifier(value):
        raise TextUnusable("what must be an identifier is none")
    return value


def _optional(value: str | None, read_value: Callable[[str], str]) -> str | None:
    return None if value is None else read_value(value)
