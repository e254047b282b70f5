"""What decoding a request alone decides (transport.md, strict JSON): schema faults, and spellings of one meaning."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from relatum import limits
from relatum.core import digests
from relatum.core.commands import CreateRecord, RecordBatch, RecordCommand, RelationBatch, RelationCommand
from relatum.core.records import RecordInput
from relatum.core.wire import canonical_uuid
from tests.core.world import STORE_KEY

ID = "0123abcd-4567-489a-bcde-f0123456789a"
OTHER = "0123abcd-4567-489a-bcde-f0123456789b"
SCOPE: dict[str, Any] = {"project_id": "p", "agent_id": "a", "visibility": "shared"}
REF = {"record_id": ID, "revision": 1}
PROVENANCE = {"origin": "tool_observation", "method": "m", "method_revision": "1", "evidence_ref": "e"}
RELATION = {
    "source": REF,
    "target": {"record_id": OTHER, "revision": 1},
    "kind": "supports",
    "provenance": PROVENANCE,
}
OPERATIONS: dict[str, dict[str, Any]] = {
    "create": {"type": "create", "record": {"content": "c"}},
    "revise": {"type": "revise", "record_id": ID, "expected_revision": 1, "record": {"content": "c"}},
    "delete": {"type": "delete", "record_id": ID, "expected_revision": 1},
    "derive": {
        "type": "derive",
        "record": {"content": "c"},
        "derivation": {"sources": [REF], "method": "m", "method_revision": "1", "evidence_ref": "e"},
    },
    "review record": {
        "type": "review",
        "record_id": ID,
        "expected_revision": 1,
        "disposition": "approved",
        "evidence_ref": "e",
    },
    "assert": {"type": "assert", "relation": RELATION},
    "retire": {"type": "retire", "relation_id": ID, "expected_revision": 1, "evidence_ref": "e"},
    "restore": {"type": "restore", "relation_id": ID, "expected_revision": 1, "evidence_ref": "e"},
    "review relation": {
        "type": "review",
        "relation_id": ID,
        "expected_revision": 1,
        "disposition": "rejected",
        "evidence_ref": "e",
    },
}
OF_RELATIONS = {"assert", "retire", "restore", "review relation"}
FULL_RECORD: dict[str, Any] = {
    "content": "c",
    "type": "memory",
    "title": "t",
    "data": {"n": 1},
    "tags": ["t"],
    "category": "c",
    "topic_key": "t",
    "fact_key": "f",
    "provenance": {"source_id": "s", "source_hash": "h", "source_revision": "r"},
    "confidence": 0.5,
    "event_time_millis": 1,
    "valid_until_millis": 2,
}
FULL_RELATION: dict[str, Any] = RELATION | {
    "provenance": PROVENANCE | {"model": {"provider": "p", "model": "m", "revision": "1"}},
    "valid_from_millis": 1,
    "valid_until_millis": 2,
    "evidence_sources": [REF],
}


def decoded(name: str, operation: Any) -> Any:
    body = {"contract_version": 1, "scope": SCOPE, "idempotency_key": "k", "operation": operation}
    kind: Any = RelationCommand if name in OF_RELATIONS else RecordCommand
    return msgspec.json.decode(json.dumps(body), type=kind).operation


def digest(name: str, operation: Any) -> str:
    """The identity of the command that a body means."""
    found = decoded(name, operation)
    if name in OF_RELATIONS:
        return digests.relation_command_digest(found)
    return digests.record_command_digest(found, STORE_KEY)


def changed(value: dict[str, Any], path: str, new: Any) -> dict[str, Any]:
    """A copy of `value` in which the member at a dotted path is `new`, or is gone if `new` is `...`."""
    copy = deepcopy(value)
    place: Any = copy
    *parents, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in parents:
        place = place[step]
    if new is ...:
        del place[last]
    else:
        place[last] = new
    return copy


def refused(name: str, operation: Any) -> bool:
    try:
        decoded(name, operation)
    except msgspec.ValidationError:
        return True
    return False


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_decodes(name: str) -> None:
    decoded(name, OPERATIONS[name])


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_member_of_an_operation_is_needed(name: str) -> None:
    kept = [member for member in OPERATIONS[name] if not refused(name, changed(OPERATIONS[name], member, ...))]
    assert [] == kept


def places(value: Any, path: str = "") -> list[str]:
    """Where a member could be added: every object in `value`."""
    match value:
        case dict():
            here = [f"{path}unknown"]
            return here + [place for name, inner in value.items() for place in places(inner, f"{path}{name}.")]
        case list():
            return [place for index, inner in enumerate(value) for place in places(inner, f"{path}{index}.")]
    return []


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unknown_member_is_refused_at_every_depth(name: str) -> None:
    operation = deepcopy(OPERATIONS[name])
    if "record" in operation:
        operation["record"] = FULL_RECORD | {"data": None}
    if "relation" in operation:
        operation["relation"] = FULL_RELATION
    spots = places(operation)
    assert spots
    assert [] == [spot for spot in spots if not refused(name, changed(operation, spot, 1))]


def test_caller_supplied_confidence_in_a_relation_is_an_unknown_member() -> None:
    assert refused("assert", changed(OPERATIONS["assert"], "relation.confidence", 0.5))
    assert refused("assert", changed(OPERATIONS["assert"], "relation.weight", 1))


OPTIONAL = [
    *(("create", "record", FULL_RECORD, member) for member in FULL_RECORD if member != "content"),
    ("create", "record", FULL_RECORD, "provenance.source_hash"),
    ("create", "record", FULL_RECORD, "provenance.source_revision"),
    ("assert", "relation", FULL_RELATION, "provenance.model"),
    ("assert", "relation", FULL_RELATION, "valid_from_millis"),
    ("assert", "relation", FULL_RELATION, "valid_until_millis"),
]


@pytest.mark.parametrize(("name", "holder", "full", "member"), OPTIONAL)
def test_an_optional_member_may_be_omitted_or_null_with_one_meaning(
    name: str, holder: str, full: dict[str, Any], member: str
) -> None:
    def with_member(new: Any) -> str:
        return digest(name, OPERATIONS[name] | {holder: changed(full, member, new)})

    assert with_member(...) == with_member(None)
    if member != "type":  # whose only other values are not its default
        assert with_member(...) != digest(name, OPERATIONS[name] | {holder: full})


DEFAULTS = [("type", "memory"), ("tags", [])]


@pytest.mark.parametrize(("member", "default"), DEFAULTS)
def test_a_member_at_its_default_means_what_its_omission_means(member: str, default: Any) -> None:
    bare = OPERATIONS["create"]
    assert digest("create", bare) == digest("create", changed(bare, f"record.{member}", default))


def test_an_empty_object_of_data_is_not_its_omission() -> None:
    bare = OPERATIONS["create"]
    assert digest("create", bare) != digest("create", changed(bare, "record.data", {}))


def test_no_evidence_is_an_empty_list_or_none_at_all_but_never_null() -> None:
    bare = OPERATIONS["assert"]
    assert digest("assert", bare) == digest("assert", changed(bare, "relation.evidence_sources", []))
    assert refused("assert", changed(bare, "relation.evidence_sources", None))


SPELLINGS = [
    ID,
    ID.upper(),
    ID.replace("-", ""),
    ID.replace("-", "").upper(),
    f"urn:uuid:{ID}",
    f"URN:UUID:{ID.upper()}",
]
NO_UUIDS = [
    "",
    ID[:-1],
    ID + "0",
    f"{{{ID}}}",
    f" {ID}",
    f"{ID}\n",
    ID.replace("-", "_"),
    "0123abcd4567-489a-bcde-f0123456789a",
]
NO_UUIDS += [f"urn:uuid:urn:uuid:{ID}", f"uuid:{ID}", "g" * 32, "\u0660" * 32, f"urn:uuid:{ID}#f"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_uuid_has_several_spellings_and_one_meaning(spelling: str) -> None:
    assert ID == canonical_uuid(spelling)
    for name, path in [("delete", "record_id"), ("retire", "relation_id"), ("assert", "relation.source.record_id")]:
        assert digest(name, OPERATIONS[name]) == digest(name, changed(OPERATIONS[name], path, spelling))


@pytest.mark.parametrize("text", NO_UUIDS)
def test_other_text_is_no_uuid(text: str) -> None:
    assert refused("delete", changed(OPERATIONS["delete"], "record_id", text))
    assert refused("assert", changed(OPERATIONS["assert"], "relation.target.record_id", text))


UNSIGNED = [
    ("delete", "expected_revision"),
    ("retire", "expected_revision"),
    ("assert", "relation.source.revision"),
    ("derive", "derivation.sources.0.revision"),
]
SIGNED = [
    ("create", "record.event_time_millis"),
    ("create", "record.valid_until_millis"),
    ("assert", "relation.valid_from_millis"),
    ("assert", "relation.valid_until_millis"),
]


def at(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value[int(step)] if step.isdigit() else getattr(value, step)
    return value


@pytest.mark.parametrize(("name", "path"), UNSIGNED)
def test_revisions_are_unsigned_64_bit_integers(name: str, path: str) -> None:
    for kept in (0, 1, 2**53 + 1, limits.U64_MAX):
        assert kept == at(decoded(name, changed(OPERATIONS[name], path, kept)), path)
    for other in (-1, limits.U64_MAX + 1, 1.0, True, "1", None, [1]):
        assert refused(name, changed(OPERATIONS[name], path, other))


@pytest.mark.parametrize(("name", "path"), SIGNED)
def test_times_are_signed_64_bit_integers(name: str, path: str) -> None:
    for kept in (limits.I64_MIN, -1, 0, 2**53 + 1, limits.I64_MAX):
        assert kept == at(decoded(name, changed(OPERATIONS[name], path, kept)), path)
    for other in (limits.I64_MIN - 1, limits.I64_MAX + 1, 1.0, False, "1", [1]):
        assert refused(name, changed(OPERATIONS[name], path, other))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("create", "record.type"),
        ("review record", "disposition"),
        ("review relation", "disposition"),
        ("assert", "relation.kind"),
        ("assert", "relation.provenance.origin"),
        ("retire", "type"),
    ],
)
def test_enumerations_are_closed(name: str, path: str) -> None:
    for other in ("", "Approved", "anything", 1):
        assert refused(name, changed(OPERATIONS[name], path, other))


def test_confidence_is_a_number_and_zero_has_one_form() -> None:
    bare = OPERATIONS["create"]

    def confident(value: Any) -> str:
        return digest("create", changed(bare, "record.confidence", value))

    assert confident(0) == confident(0.0) == confident(-0.0)
    assert confident(1) == confident(1.0)
    assert confident(0) != digest("create", bare)
    assert refused("create", changed(bare, "record.confidence", "1"))
    assert refused("create", changed(bare, "record.confidence", True))


def test_numbers_in_data_keep_their_kind() -> None:
    def holding(value: Any) -> str:
        return digest("create", changed(OPERATIONS["create"], "record.data", {"n": value}))

    assert holding(1) != holding(1.0)
    assert holding(0.0) == holding(-0.0)
    assert holding(limits.U64_MAX) != holding(limits.U64_MAX - 1)
    assert refused("create", changed(OPERATIONS["create"], "record.data", {"n": limits.U64_MAX + 1}))
    assert refused("create", changed(OPERATIONS["create"], "record.data", {"n": limits.I64_MIN - 1}))


@pytest.mark.parametrize("text", ["e\u0301", "\u00e9", " a", "a ", "A", "a"])
def test_text_is_taken_as_given(text: str) -> None:
    assert text == decoded("create", {"type": "create", "record": {"content": text}}).record.content


def test_the_order_of_members_does_not_matter() -> None:
    def reversed_members(value: Any) -> Any:
        match value:
            case dict():
                return {name: reversed_members(value[name]) for name in reversed(value)}
            case list():
                return [reversed_members(one) for one in value]
        return value

    assert [digest(name, one) for name, one in OPERATIONS.items()] == [
        digest(name, reversed_members(one)) for name, one in OPERATIONS.items()
    ]


@pytest.mark.parametrize(("kind", "operation"), [(RecordBatch, "create"), (RelationBatch, "assert")])
def test_a_schema_fault_of_one_item_refuses_the_batch(kind: type, operation: str) -> None:
    item = {"idempotency_key": "k", "operation": OPERATIONS[operation]}
    body = {"contract_version": 1, "scope": SCOPE, "commands": [item, item]}
    assert 2 == len(msgspec.json.decode(json.dumps(body), type=kind).commands)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(changed(body, "commands.1.operation.type", "other")), type=kind)


def test_the_library_gives_equal_commands_the_digests_that_the_wire_gives_them() -> None:
    spelled = CreateRecord(record=RecordInput(content="c", type=str(b"memory", "ascii"), confidence=1))  # type: ignore[arg-type]  # a text that is no literal
    expected = digest("create", changed(OPERATIONS["create"], "record.confidence", 1))
    assert expected == digests.record_command_digest(spelled, STORE_KEY)
