"""docs/digests.md is enough: an implementation written from the page alone agrees with its vectors and with a ledger.

IMPORTANT: the encoder and the digests below must not use `relatum.core.digests` or `relatum.core.canonical`. They are
what a client in another language would write with the page and a BLAKE3 library.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from relatum.core import canonical, digests
from relatum.core.cursors import CheckpointCommand
from relatum.core.streams import RECORDS, RELATIONS
from tests.docs.digest_vectors import COMPANY_ID, Exchange, assertion, vectors

Json = dict[str, Any]

UUID = "018bcfe5-6800-7000-8000-00000000000a"
PAGE = (Path(__file__).parents[2] / "docs" / "digests.md").read_text(encoding="utf-8")


# The page, as code


def pack(value: Any) -> bytes:
    """Canonical bytes."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return pack_integer(value)
        case float():
            return b"\xcb" + struct.pack(">d", 0.0 if value == 0 else value)
        case str():
            text = value.encode("utf-8")
            return pack_length(len(text), 0xA0, 31, [(0xD9, 1), (0xDA, 2), (0xDB, 4)]) + text
        case list():
            start = pack_length(len(value), 0x90, 15, [(0xDC, 2), (0xDD, 4)])
            return start + b"".join(pack(one) for one in value)
        case dict():
            start = pack_length(len(value), 0x80, 15, [(0xDE, 2), (0xDF, 4)])
            names = sorted(value, key=lambda name: name.encode("utf-8"))
            return start + b"".join(pack(name) + pack(value[name]) for name in names)
    raise TypeError


def pack_integer(value: int) -> bytes:
    if 0 <= value <= 127:
        return bytes([value])
    if -32 <= value < 0:
        return bytes([256 + value])
    tags = [(0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)] if value > 0 else [(0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)]
    for tag, size in tags:
        bits = 8 * size
        if -(2 ** (bits - 1)) <= value < (2**bits if value > 0 else 0):
            return bytes([tag]) + value.to_bytes(size, "big", signed=value < 0)
    raise OverflowError


def pack_length(length: int, short: int, short_max: int, tags: list[tuple[int, int]]) -> bytes:
    if length <= short_max:
        return bytes([short + length])
    tag, size = next((tag, size) for tag, size in tags if length < 2 ** (8 * size))
    return bytes([tag]) + length.to_bytes(size, "big")


def digest(label: str, value: Any) -> str:
    return blake3(label.encode("ascii") + b"\x00" + pack(value)).hexdigest()


def without_nulls(value: Any) -> Any:
    """A relation, its input or an operation, without the members that are left out."""
    match value:
        case dict():
            kept = {name: without_nulls(one) for name, one in value.items() if one is not None}
            return {name: one for name, one in kept.items() if not (name == "evidence_sources" and one == [])}
        case list():
            return [without_nulls(one) for one in value]
    return value


def with_normal_uuids(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: normal_uuid(one) if name in {"record_id", "relation_id"} else with_normal_uuids(one)
                for name, one in value.items()
            }
        case list():
            return [with_normal_uuids(one) for one in value]
    return value


def normal_uuid(text: str) -> str:
    digits = text.lower().removeprefix("urn:uuid:").replace("-", "")
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def workspace_id(company_id: str, scope: Json, subject_id: str) -> str:
    partition = {"company_id": company_id, **scope}
    if scope["visibility"] == "private":
        partition["private_subject_id"] = subject_id
    return digest("relatum/1/partition", without_nulls(partition))


def command_bytes(operation: Json) -> bytes:
    return pack(without_nulls(with_normal_uuids(operation)))


def command_digest(operation: Json) -> str:
    return digest("relatum/1/relation-command", without_nulls(with_normal_uuids(operation)))


def relation_digest(relation: Json) -> str:
    return digest("relatum/1/relation", without_nulls(relation))


def receipt_digest(workspace: str, receipt: Json) -> str:
    members = {name: value for name, value in receipt.items() if name != "receipt_digest"}
    return digest("relatum/1/receipt", {"workspace_id": workspace, "receipt": members})


def checkpoint_digest(workspace: str, stream: str, checkpoint: Json) -> str:
    members = {name: value for name, value in checkpoint.items() if name != "checkpoint_digest"}
    return digest("relatum/1/checkpoint", {"workspace_id": workspace, "stream": stream, "checkpoint": members})


def prefix_digests(workspace: str, journal: Json) -> Iterator[str]:
    """The prefix digest of the baseline, then of each entry."""
    identity = {"workspace_id": workspace, "stream": journal["stream"], "journal_id": journal["journal_id"]}
    previous = digest("relatum/1/journal-baseline", identity)
    yield previous
    for sequence, entry in enumerate(journal["entries"], start=1):
        told = {"sequence": sequence, "previous": previous, "nonce": entry["nonce"], "change": entry["change"]}
        previous = digest("relatum/1/journal-entry", identity | told)
        yield previous


# The page against its vectors


@pytest.fixture(scope="module")
def printed() -> Json:
    """The vectors on the page."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    found: Json = json.loads(block)
    return found


def test_the_vectors_on_the_page_are_those_of_a_real_exchange(printed: Json) -> None:
    assert vectors() == printed


def test_the_printed_workspace_follows_from_its_partition(printed: Json) -> None:
    assert printed["workspace_id"] == workspace_id(printed["company_id"], printed["scope"], "ada")


def test_the_printed_relation_commands_are_recomputed(printed: Json) -> None:
    assert 2 == len(printed["relation_commands"])
    for told in printed["relation_commands"]:
        receipt = told["receipt"]
        assert told["operation_bytes"] == command_bytes(told["operation"]).hex()
        assert told["relation_bytes"] == pack(without_nulls(told["relation"])).hex()
        assert receipt["command_digest"] == command_digest(told["operation"])
        assert receipt["relation_digest"] == relation_digest(told["relation"])
        assert receipt["receipt_digest"] == receipt_digest(printed["workspace_id"], receipt)


def test_the_printed_record_receipt_is_recomputed(printed: Json) -> None:
    receipt = printed["record_receipt"]
    assert receipt["receipt_digest"] == receipt_digest(printed["workspace_id"], receipt)


def test_the_printed_journal_is_recomputed(printed: Json) -> None:
    entries = printed["journal"]["entries"]
    baseline, *after = prefix_digests(printed["workspace_id"], printed["journal"])
    assert [entry["prefix_digest"] for entry in entries] == after
    assert baseline not in after


def test_the_table_of_values_and_bytes_is_right() -> None:
    table = PAGE.split("A few values and their bytes:")[1].split("\n\n")[1]
    rows = re.findall(r"^\| `(.+)` \| `([0-9a-f]+)` \|$", table, re.MULTILINE)
    assert 6 == len(rows)
    assert [written for _, written in rows] == [pack(json.loads(value)).hex() for value, _ in rows]


def test_every_label_of_the_code_is_on_the_page_and_no_other() -> None:
    source = Path(digests.__file__).read_text(encoding="utf-8")
    built = {f"relatum/1/{label}" for label in re.findall(r'_digest\(\s*b"([a-z-]+)"', source)}
    written = set(re.findall(r'b"(relatum/1/[a-z-]+)\\0"', source)) - {"relatum/1/draw"}
    assert built | written == set(re.findall(r"`(relatum/1/[a-z-]+)`", PAGE))


# The page against a ledger


@pytest.fixture(params=["shared", "private"])
def exchange(request: pytest.FixtureRequest) -> Iterator[Exchange]:
    scope = {"project_id": "pröject", "mission_id": "m", "agent_id": "agent " * 20, "visibility": request.param}
    found = Exchange(scope)
    yield found
    found.close()


def created(exchange: Exchange, number: int) -> list[Json]:
    return [
        exchange.record(f"r{one}", {"type": "create", "record": {"content": f"fact {one}"}}) for one in range(number)
    ]


def bare_assertion(one: Json, two: Json) -> Json:
    """The least that an assertion can say."""
    operation = assertion(one, two, one)
    relation = operation["relation"]
    relation["provenance"] = {"origin": "human_statement", "method": "m", "method_revision": "1", "evidence_ref": "e"}
    relation["evidence_sources"] = []
    del relation["valid_from_millis"], relation["valid_until_millis"]
    return operation


def test_the_workspace_id_of_a_fresh_partition_is_recomputed(exchange: Exchange) -> None:
    assert workspace_id(COMPANY_ID, exchange.scope, "ada") == exchange.workspace_id()


@pytest.mark.parametrize("build", [assertion, lambda one, two, _: bare_assertion(one, two)], ids=["full", "bare"])
def test_every_digest_of_a_fresh_relation_exchange_is_recomputed(exchange: Exchange, build: Any) -> None:
    operation = build(*created(exchange, 3))
    receipt = exchange.relation("k", operation)
    for number, kind in enumerate(["retire", "restore", "review"], start=1):
        assert command_digest(operation) == receipt["command_digest"]
        assert relation_digest(exchange.revision(receipt)) == receipt["relation_digest"]
        assert receipt_digest(exchange.workspace_id(), receipt) == receipt["receipt_digest"]
        operation = {
            "type": kind,
            "relation_id": receipt["relation_id"].upper(),
            "expected_revision": number,
            "evidence_ref": "note",
        }
        operation |= {"disposition": "approved"} if kind == "review" else {}
        receipt = exchange.relation(f"k{number}", operation)
    assert relation_digest(exchange.revision(receipt)) == receipt["relation_digest"]


def test_the_receipt_digest_of_a_fresh_record_exchange_is_recomputed(exchange: Exchange) -> None:
    (first,) = created(exchange, 1)
    at = {"record_id": first["record_id"], "expected_revision": 1}
    second = exchange.record("k", {"type": "review", **at, "disposition": "rejected", "evidence_ref": "note"})
    third = exchange.record("d", {"type": "delete", **at, "expected_revision": 2})
    for receipt in (first, second, third):
        assert receipt_digest(exchange.workspace_id(), receipt) == receipt["receipt_digest"]


def test_fresh_journals_are_recomputed_from_their_stored_nonces(exchange: Exchange) -> None:
    one, two = created(exchange, 2)
    exchange.relation("k", bare_assertion(one, two))
    for stream in (RECORDS, RELATIONS):
        journal = exchange.journal(stream)
        _, *after = prefix_digests(exchange.workspace_id(), journal)
        assert after == [entry["prefix_digest"] for entry in journal["entries"]]


def test_a_fresh_checkpoint_and_its_receipt_are_recomputed(exchange: Exchange) -> None:
    created(exchange, 1)
    journal = exchange.journal(RECORDS)
    cursor = {
        "version": 1,
        "stream": RECORDS,
        "journal_id": journal["journal_id"],
        "sequence": 1,
        "prefix_digest": journal["entries"][0]["prefix_digest"],
    }
    command = {
        "contract_version": 1,
        "idempotency_key": "k",
        "consumer_id": "indexer",
        "expected_revision": 0,
        "operation": {"type": "advance", "cursor": cursor},
    }
    receipt = exchange.checkpoint(RECORDS, command)
    workspace, checkpoint = exchange.workspace_id(), receipt["checkpoint"]
    assert checkpoint_digest(workspace, RECORDS, checkpoint) == checkpoint["checkpoint_digest"]
    assert receipt_digest(workspace, receipt) == receipt["receipt_digest"]


def test_the_identity_of_a_checkpoint_command_is_as_described() -> None:
    cursor = {"version": 1, "stream": RECORDS, "journal_id": UUID, "sequence": 1, "prefix_digest": "0" * 64}
    asked = {"consumer_id": "indexer", "expected_revision": 0, "operation": {"type": "advance", "cursor": cursor}}
    command = msgspec.convert(asked | {"contract_version": 1, "idempotency_key": "k"}, CheckpointCommand)
    described = digest("relatum/1/checkpoint-command", asked | {"stream": RECORDS, "expected_checkpoint_digest": None})
    assert described == digests.checkpoint_command_digest(RECORDS, command)


def test_what_a_record_exchange_hides_is_no_plain_digest_of_the_command(exchange: Exchange) -> None:
    operation = {"type": "create", "record": {"content": "yes"}}
    receipt = exchange.record("k", deepcopy(operation))
    guesses = [digest(label, operation) for label in ("relatum/1/record-command", "relatum/1/relation-command")]
    assert receipt["command_digest"] not in guesses


FREE_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20),
    max_leaves=30,
)


@given(FREE_JSON)
def test_the_encoder_of_the_page_is_the_encoder_of_the_ledger(value: Any) -> None:
    assert canonical.encode(canonical.normal_json(value)) == pack(value)


@pytest.mark.parametrize("size", [31, 32, 255, 256, 65_535, 65_536])
def test_both_encoders_agree_on_great_lengths(size: int) -> None:
    for value in ("a" * size, [1] * size, {f"{number:05}": 1 for number in range(size)}):
        assert canonical.encode(value) == pack(value)
