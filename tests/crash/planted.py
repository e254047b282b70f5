"""Planted faults: what a bug of the product would leave in a store, done to the rows of a sound one.

Each is what one forgotten or wrong line would do, and all but the last keep every checksum sound, so that nothing but
the inspection can notice. docs/crash-testing.md lists them under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from relatum.core.events import RelationEvent
from relatum.core.ids import Partition
from relatum.core.row_counts import NOTHING
from relatum.core.streams import RECORDS
from relatum.store import keys, rows
from relatum.store.keys import PREFIX_BYTES, STREAM_BYTE, PartitionKeys, StoreTable, Table
from relatum.store.partition import PartitionReader
from tests.support.builders import PARTITION

Rows = dict[bytes, bytes]
Plant = Callable[[Rows], None]


class Fault(NamedTuple):
    """A fault, and what the inspection must say of it."""

    plant: Plant
    told: str


FAULTS: dict[str, Fault] = {}


def fault(told: str) -> Callable[[Plant], Plant]:
    """Enters a fault under its name."""

    def enter(plant: Plant) -> Plant:
        FAULTS[plant.__name__.replace("_", " ")] = Fault(plant, told)
        return plant

    return enter


def keys_of(found: Rows, table: Table) -> list[bytes]:
    """The keys of a table of the shared partition, ascending."""
    prefix = own().table(table)
    return sorted(key for key in found if key.startswith(prefix))


def own() -> PartitionKeys:
    """The keys of the shared partition."""
    return PartitionReader(None, PARTITION).keys  # type: ignore[arg-type]  # nothing is read


def body(found: Rows, key: bytes) -> bytes:
    return rows.unseal(key, found[key])


def put(found: Rows, key: bytes, value: bytes) -> None:
    found[key] = rows.seal(key, value)


# Events


@fault("the events are not numbered")
def an_event_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.EVENT)[3]]


@fault("says it is event")
def an_event_was_written_twice(found: Rows) -> None:
    last = keys_of(found, Table.EVENT)[-1]
    put(found, own().event(len(keys_of(found, Table.EVENT)) + 1), body(found, last))


@fault("does not follow the event before it")
def an_event_was_altered_after_its_commit(found: Rows) -> None:
    key = keys_of(found, Table.EVENT)[-2]
    event = rows.EVENT.decode(body(found, key))
    assert isinstance(event, RelationEvent)
    put(found, key, rows.EVENT.encode(replace(event, nonces=(bytes(16),))))


@fault("the head is not the last event")
def a_receipt_was_altered_in_the_last_event(found: Rows) -> None:
    key = keys_of(found, Table.EVENT)[-1]
    event = rows.EVENT.decode(body(found, key))
    assert isinstance(event, RelationEvent)
    put(found, key, rows.EVENT.encode(replace(event, receipt=replace(event.receipt, evidence_ref="another"))))


@fault("the head is not the last event")
def the_head_lags_behind_the_events(found: Rows) -> None:
    head = rows.HEAD.decode(body(found, own().head))
    put(found, own().head, rows.HEAD.encode(replace(head, sequence=head.sequence - 1)))


@fault("the head counts")
def the_head_does_not_count_a_row(found: Rows) -> None:
    head = rows.HEAD.decode(body(found, own().head))
    put(found, own().head, rows.HEAD.encode(replace(head, counted=NOTHING)))


@fault("the store is at position")
def the_position_does_not_count_a_command(found: Rows) -> None:
    position = rows.POSITION.decode(body(found, keys.POSITION))
    put(found, keys.POSITION, rows.POSITION.encode(replace(position, position=position.position - 1)))


# Torn commands: the event is there and some of its rows are not


@fault("outgoing: the row .* should not be there")
def a_command_is_torn_behind_its_event(found: Rows) -> None:
    sequence = len(keys_of(found, Table.EVENT))
    for table in (Table.RELATION, Table.RELATION_REVISION):
        for key in keys_of(found, table):
            if rows.unpack_version(body(found, key)).sequence == sequence:
                del found[key]


@fault("relation: the row .* is altered")
def a_current_row_lags_behind_its_revisions(found: Rows) -> None:
    for key in keys_of(found, Table.RELATION):
        first = own().table(Table.RELATION_REVISION) + key[-16:] + (1).to_bytes(8, "big")
        put(found, key, body(found, first))


@fault("revision 1 is missing")
def a_revision_is_missing(found: Rows) -> None:
    last = keys_of(found, Table.RECORD_REVISION)[-1]
    revised = next(key for key in keys_of(found, Table.RECORD_REVISION) if key.endswith(b"\2"))
    assert revised != last
    del found[revised[:-1] + b"\1"]


@fault("receipts by key: the row .* is missing")
def a_receipt_cannot_be_found_by_its_key(found: Rows) -> None:
    del found[keys_of(found, Table.RECEIPT)[4]]


@fault("receipts by key: the row .* is altered")
def a_key_leads_to_another_command(found: Rows) -> None:
    one, other = keys_of(found, Table.RECEIPT)[:2]
    put(found, one, body(found, other))


# Indexes


@fault("outgoing: the row .* is missing")
def an_outgoing_entry_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.OUTGOING)[0]]


@fault("incoming: the row .* is missing")
def an_incoming_entry_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.INCOMING)[0]]


@fault("outgoing: the row .* is altered")
def an_entry_names_another_end(found: Rows) -> None:
    one, other = keys_of(found, Table.OUTGOING)[:2]
    put(found, one, body(found, other))


@fault("outgoing: the row .* should not be there")
def a_retired_relation_is_still_indexed(found: Rows) -> None:
    for key in keys_of(found, Table.RELATION):
        relation = rows.RELATION.decode(rows.unpack_version(body(found, key)).canonical)
        if relation.state == "retired":
            source, given = relation.input.source, relation.input
            entry = own().adjacency(Table.OUTGOING, source.record_id, source.revision) + key[-16:]
            put(found, entry, rows.pack_adjacency(given.kind, given.target))


@fault("header: the row .* is altered")
def a_header_counts_one_too_many(found: Rows) -> None:
    key = keys_of(found, Table.HEADER)[0]
    header = rows.unpack_completeness(body(found, key))
    put(found, key, replace(header, outgoing_count=header.outgoing_count + 1).pack())


@fault("header: the row .* is altered")
def a_header_sums_wrongly(found: Rows) -> None:
    key = keys_of(found, Table.HEADER)[0]
    header = rows.unpack_completeness(body(found, key))
    put(found, key, replace(header, incoming_sum=header.incoming_sum ^ 1).pack())


@fault("header: the row .* is missing")
def a_header_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.HEADER)[-1]]


@fault("dependent: the row .* is missing")
def a_dependent_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.DEPENDENT)[0]]


@fault("dependent: the row .* is missing")
def a_dependent_lies_under_another_content(found: Rows) -> None:
    key = keys_of(found, Table.DEPENDENT)[0]
    del found[key]
    put(found, key[:-18] + b"\x09" + key[-17:], b"")


@fault("dependent: the row .* is altered")
def a_dependent_says_more(found: Rows) -> None:
    put(found, keys_of(found, Table.DEPENDENT)[0], rows.pack_u64(9))


@fault("header: the row .* is altered")
def a_header_counts_too_few_dependents(found: Rows) -> None:
    key = keys_of(found, Table.HEADER)[0]
    header = rows.unpack_completeness(body(found, key))
    put(found, key, replace(header, uses_sum=header.uses_sum ^ 1).pack())


@fault("topic: the row .* should not be there")
def a_topic_slot_is_not_freed(found: Rows) -> None:
    holder = body(found, keys_of(found, Table.TOPIC)[0])
    put(found, own().topic("tides"), holder)


@fault("rows derived from the events: the row .* is missing")
def a_workspace_is_not_listed(found: Rows) -> None:
    del found[next(key for key in found if key[PREFIX_BYTES] == StoreTable.WORKSPACE and not any(key[:PREFIX_BYTES]))]


# Journals


@fault("entries are not numbered")
def a_journal_entry_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.JOURNAL)[0]]


@fault("8 entries for 9 changes")
def the_last_journal_entry_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.JOURNAL)[-1]]


@fault("does not tell event")
def a_journal_entry_tells_another_event(found: Rows) -> None:
    key = keys_of(found, Table.JOURNAL)[-1]
    entry = rows.RECORD_ENTRY.decode(body(found, key))
    put(found, key, rows.RECORD_ENTRY.encode(replace(entry, commit_sequence=1)))


# Checkpoints


@fault("checkpoint: the row .* is altered")
def a_checkpoint_lags_behind_its_revisions(found: Rows) -> None:
    for key in keys_of(found, Table.CHECKPOINT):
        put(
            found,
            key,
            body(found, own().table(Table.CHECKPOINT_REVISION) + key[PREFIX_BYTES + 1 :] + (1).to_bytes(8, "big")),
        )


@fault("checkpoint: the row .* is missing")
def a_checkpoint_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.CHECKPOINT)[0]]


@fault("checkpoint_revision: the row .* is missing")
def a_revision_of_a_checkpoint_is_missing(found: Rows) -> None:
    del found[next(key for key in keys_of(found, Table.CHECKPOINT_REVISION) if key.endswith(b"\2"))]


@fault("checkpoint: the row .* is altered")
def a_checkpoint_is_that_of_another_subject(found: Rows) -> None:
    one, other = (
        key for key in keys_of(found, Table.CHECKPOINT) if key[PREFIX_BYTES + 1 :].startswith(STREAM_BYTE[RECORDS])
    )
    put(found, one, body(found, other))


@fault("rows derived from the events: the row .* is altered")
def a_credential_has_another_secret(found: Rows) -> None:
    key = next(key for key in found if key[PREFIX_BYTES] == Table.CREDENTIAL and any(key[:PREFIX_BYTES]))
    put(found, key, rows.CREDENTIAL.encode(replace(rows.CREDENTIAL.decode(body(found, key)), verifier=bytes(32))))


# Payloads


@fault("a payload is missing")
def a_payload_is_missing(found: Rows) -> None:
    del found[keys_of(found, Table.PAYLOAD)[0]]


@fault("a payload does not match its digest")
def a_payload_was_altered(found: Rows) -> None:
    key = keys_of(found, Table.PAYLOAD)[0]
    payload = rows.PAYLOAD.decode(body(found, key))
    assert payload.payload is not None
    put(found, key, rows.PAYLOAD.encode(replace(payload, payload=replace(payload.payload, content="something else"))))


@fault("a payload is left that nothing refers to")
def a_deletion_left_a_payload_behind(found: Rows) -> None:
    deleted = next(_deleted(found))
    put(found, own().payload(deleted, 1), body(found, keys_of(found, Table.PAYLOAD)[0]))


def _deleted(found: Rows) -> Iterator[str]:
    for key in keys_of(found, Table.RECORD):
        meta = rows.RECORD.decode(rows.unpack_version(body(found, key)).canonical)
        if meta.state == "deleted":
            yield meta.record_id


# Whole stores


@fault("belong to no partition")
def rows_belong_to_no_partition(found: Rows) -> None:
    stray = PartitionReader(None, Partition(company_id="nobody")).keys  # type: ignore[arg-type]  # nothing is read
    put(found, stray.event(1), body(found, keys_of(found, Table.EVENT)[0]))


@fault("does not match its checksum")
def a_byte_flipped_on_disk(found: Rows) -> None:
    key = keys_of(found, Table.RECORD)[0]
    found[key] = found[key][:-1] + bytes([found[key][-1] ^ 1])
