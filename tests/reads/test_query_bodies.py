"""Bodies and filters of reads: what decoding accepts, refuses and brings into one form."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from relatum import limits
from relatum.core import canonical, queries

RECORD_ID = "0189dfa2-0000-7000-8000-0000000000aa"
ENVELOPE = {
    "contract_version": 1,
    "scope": {"project_id": "atlas", "agent_id": "scout", "visibility": "shared"},
}


def decode(kind: type[Any], /, **members: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(members), type=kind)


def is_refused(kind: type[Any], /, **members: Any) -> bool:
    try:
        decode(kind, **members)
    except msgspec.ValidationError:
        return True
    return False


@pytest.mark.parametrize("kind", [queries.RecordFilter, queries.CompanyRecordFilter, queries.RelationFilter])
@pytest.mark.parametrize(
    ("member", "greatest"), [("limit", limits.PAGE_LIMIT_MAX), ("scan_limit", limits.SCAN_LIMIT_MAX)]
)
def test_limits_of_a_page_begin_at_one_and_end_at_their_maximum(kind: type[Any], member: str, greatest: int) -> None:
    assert is_refused(kind, **{member: 0})
    assert is_refused(kind, **{member: -1})
    assert getattr(decode(kind, **{member: 1}), member) == 1
    assert getattr(decode(kind, **{member: greatest}), member) == greatest
    assert is_refused(kind, **{member: greatest + 1})


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        (queries.RecordFilter, {"order": "created_desc"}),
        (queries.RelationFilter, {"order": "created_desc"}),
        (queries.CompanyRecordFilter, {"order": "created_desc", "view": "retained"}),
    ],
)
def test_a_default_spelled_out_is_the_same_query_for_a_cursor(kind: type[Any], default: dict[str, str]) -> None:
    assert canonical.encode(decode(kind)) == canonical.encode(decode(kind, **default))


@pytest.mark.parametrize("value", [True, 1.0, "1", [1]])
def test_a_limit_is_an_integer(value: Any) -> None:
    assert is_refused(queries.RecordFilter, limit=value)


NAMES: list[tuple[type[Any], str]] = [(queries.RecordFilter, name) for name in ("category", "fact_key", "topic_key")]
NAMES += [(queries.CompanyRecordFilter, "topic_key"), (queries.RelationFilter, "reporter")]


@pytest.mark.parametrize(("kind", "member"), NAMES)
def test_what_a_filter_seeks_a_name_by_is_an_identifier(kind: type[Any], member: str) -> None:
    longest = "n" * limits.IDENTIFIER_BYTES_MAX
    assert [None, None] == [decode(kind, **{member: value}).problem() for value in (None, longest)]
    assert None not in [decode(kind, **{member: value}).problem() for value in ("", " ", "a\nb", longest + "n")]


@pytest.mark.parametrize("kind", [queries.RecordFilter, queries.CompanyRecordFilter, queries.RelationFilter])
def test_null_means_the_same_as_omission(kind: type[Any]) -> None:
    assert decode(kind) == decode(kind, **dict.fromkeys(kind.__struct_encode_fields__))


def test_an_empty_filter_has_the_documented_defaults() -> None:
    filled = decode(queries.RecordFilter)
    assert (40, 1000, True) == (filled.entries_max, filled.scanned_max, filled.newest_first)
    assert "retained" == decode(queries.CompanyRecordFilter).view


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (queries.RecordFilter, {"kind": "supports"}),
        (queries.RecordFilter, {"view": "current"}),
        (queries.RecordFilter, {"order": "newest"}),
        (queries.RecordFilter, {"type": "note"}),
        (queries.CompanyRecordFilter, {"view": "all"}),
        (queries.RelationFilter, {"text": "tide"}),
        (queries.RelationFilter, {"kind": "likes"}),
        (queries.RelationFilter, {"state": "deleted"}),
        (queries.RelationFilter, {"disposition": "unknown"}),
        (queries.RelationFilter, {"origin": "rumour"}),
        (queries.RelationFilter, {"endpoint": "aa"}),
    ],
)
def test_a_filter_refuses_unknown_members_and_values(kind: type[Any], members: dict[str, Any]) -> None:
    assert is_refused(kind, **members)


@pytest.mark.parametrize(
    "spelling", [RECORD_ID, RECORD_ID.upper(), RECORD_ID.replace("-", ""), f"urn:uuid:{RECORD_ID}"]
)
def test_every_spelling_of_an_id_is_one_id(spelling: str) -> None:
    assert decode(queries.RelationFilter, endpoint=spelling).endpoint == RECORD_ID
    assert decode(queries.RecordRead, **ENVELOPE, record_id=spelling).record_id == RECORD_ID
    assert decode(queries.RelationRead, **ENVELOPE, relation_id=spelling).relation_id == RECORD_ID
    assert decode(queries.RecordBatchRead, **ENVELOPE, record_ids=[spelling]).record_ids == (RECORD_ID,)
    assert decode(queries.RecordRevisionRead, **ENVELOPE, record_id=spelling, revision=1).record_id == RECORD_ID
    assert decode(queries.RelationRevisionRead, **ENVELOPE, relation_id=spelling, revision=1).relation_id == RECORD_ID
    assert decode(queries.CredentialsQuery, contract_version=1, after=spelling).after == RECORD_ID


@pytest.mark.parametrize(
    ("kind", "member"),
    [(queries.RecordRevisionRead, "record_id"), (queries.RelationRevisionRead, "relation_id")],
)
def test_a_revision_lies_between_one_and_the_greatest_unsigned_integer(kind: type[Any], member: str) -> None:
    members = {**ENVELOPE, member: RECORD_ID}
    assert is_refused(kind, **members, revision=0)
    assert decode(kind, **members, revision=1).revision == 1
    assert decode(kind, **members, revision=limits.U64_MAX).revision == limits.U64_MAX
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(members)[:-1] + b',"revision":18446744073709551616}', type=kind)


def test_a_filter_is_a_required_member() -> None:
    assert is_refused(queries.RecordQuery, **ENVELOPE)
    assert is_refused(queries.RelationQuery, **ENVELOPE)
    assert decode(queries.RecordQuery, **ENVELOPE, filter={}).filter == queries.RecordFilter()


def test_a_receipt_is_asked_for_in_a_known_family() -> None:
    for family in ("record", "relation", "judgment", "link", "checkpoint"):
        assert decode(queries.ReceiptRead, **ENVELOPE, family=family, idempotency_key="k").family == family
    assert is_refused(queries.ReceiptRead, **ENVELOPE, family="credential", idempotency_key="k")


def test_the_list_of_credentials_takes_one_to_a_hundred() -> None:
    kind = queries.CredentialsQuery
    assert is_refused(kind, contract_version=1, limit=0)
    assert decode(kind, contract_version=1, limit=1).limit == 1
    assert decode(kind, contract_version=1, limit=limits.CREDENTIALS_PAGE_MAX).limit == limits.CREDENTIALS_PAGE_MAX
    assert is_refused(kind, contract_version=1, limit=limits.CREDENTIALS_PAGE_MAX + 1)
    assert is_refused(kind, contract_version=1, after="none")
