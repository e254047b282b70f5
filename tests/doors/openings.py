"""Every way in which a stored row is opened, by its table: the typed reads of the program, each as one call.

A read is given a store in which the row of one key is another than was written. It answers, or says that stored rows
are inconsistent; there is no third thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Self, get_args

from relatum.core.answers.judgments import Status
from relatum.core.ids import Ref, uuid_text
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.ledger.reads import company
from relatum.store import adjacency, endpoint_rows, integrity, keys, rows
from relatum.store.journal import Journal
from relatum.store.keys import STREAM_BYTE, StoreTable, Table
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView, company_exists, store_body

Opening = Callable[[PartitionReader, bytes], object]
"""Reads what a key leads to; what of the key is behind its table is given."""

NOW_MILLIS: Final = 1_700_000_000_000
COMPANY: Final = "acme"


class Replaced:
    """A reader over rows, one of which is another."""

    def __init__(self, store: Reader, key: bytes, row: bytes) -> None:
        self._store = store
        self._key = key
        self._row = row

    def get(self, key: bytes) -> bytes | None:
        return self._row if key == self._key else self._store.get(key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        for key, row in self._store.scan(start, stop, reverse=reverse):
            yield key, self._row if key == self._key else row


def _id(rest: bytes, at: int = 0) -> str:
    return uuid_text(rest[at : at + 16])


def _u64(rest: bytes, at: int) -> int:
    return int.from_bytes(rest[at : at + 8], "big")


def _stream(rest: bytes) -> Stream:
    return RELATIONS if rest[:1] == STREAM_BYTE[RELATIONS] else RECORDS


def _head(reader: PartitionReader, _: bytes) -> object:
    head = reader.head()
    integrity.verify_tip(reader, head)
    return head, [Journal.open(reader, stream) for stream in (RELATIONS, RECORDS)]


def _event(reader: PartitionReader, rest: bytes) -> object:
    return reader.event(_u64(rest, 0))


def _record(reader: PartitionReader, rest: bytes) -> object:
    found = reader.record(_id(rest))
    if found is not None:
        integrity.verify_record(reader, found)
        integrity.verify_content(reader, found)
    return found, list(reader.records()), list(reader.records(reverse=True))


def _record_revision(reader: PartitionReader, rest: bytes) -> object:
    return reader.record_revision(_id(rest), _u64(rest, 16))


def _payload(reader: PartitionReader, rest: bytes) -> object:
    found = reader.record_revision(_id(rest), _u64(rest, 16))
    return None if found is None else (reader.payload(found.meta), reader.review_evidence(found.meta))


def _relation(reader: PartitionReader, rest: bytes) -> object:
    found = reader.relation(_id(rest))
    if found is not None:
        integrity.verify_relation(reader, found)
    return found, list(reader.relations()), reader.indexed_relation(_id(rest))


def _relation_revision(reader: PartitionReader, rest: bytes) -> object:
    return reader.relation_revision(_id(rest), _u64(rest, 16))


def _adjacency(reader: PartitionReader, rest: bytes) -> object:
    end = Ref(record_id=_id(rest), revision=_u64(rest, 16))
    found = reader.record(end.record_id)
    met = []
    for direction in (Table.OUTGOING, Table.INCOMING):
        for entry in adjacency.entries(reader, direction, end):
            relation = reader.indexed_relation(entry.relation_id).relation
            if found is not None and found.meta.content == end:
                met.append(adjacency.neighbour(entry, direction, found.meta, relation))
    return met, list(adjacency.dependents(reader, end))


def _header(reader: PartitionReader, rest: bytes) -> object:
    return reader.completeness(Ref(record_id=_id(rest), revision=_u64(rest, 16))), _adjacency(reader, rest)


def _journal(reader: PartitionReader, rest: bytes) -> object:
    stream = _stream(rest)
    opened = Journal.open(reader, stream)
    if opened is None:
        return None
    return [opened.holds(cursor) for cursor, _ in opened.changes(opened.baseline, 100)]


def _stored_checkpoint(table: Table) -> Opening:
    return lambda reader, rest: reader.stored_checkpoint(reader.keys.table(table) + rest)


def _credential(reader: PartitionReader, rest: bytes) -> object:
    return reader.credential(_id(rest)), list(reader.credentials()), _view(reader.reader).credential(_id(rest))


def _view(reader: Reader) -> LedgerView:
    return LedgerView(_Cut(reader), NOW_MILLIS, bytes(rows.STORE_KEY_BYTES))


class _Cut:
    """A reader as a view."""

    position = None

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def get(self, key: bytes) -> bytes | None:
        return self._reader.get(key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        return self._reader.scan(start, stop, reverse=reverse)

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _standing(reader: PartitionReader, rest: bytes) -> object:
    return reader.standing(_id(rest)), list(reader.standings())


def _replaced(reader: PartitionReader, rest: bytes) -> object:
    return list(reader.replaces(_id(rest))), list(reader.supersessions())


def _candidates(reader: PartitionReader, _: bytes) -> object:
    statuses: tuple[Status, ...] = get_args(Status)
    return [list(reader.candidates(status)) for status in statuses]


def _candidate_pair(reader: PartitionReader, rest: bytes) -> object:
    return reader.pending_between(_id(rest), _id(rest, 16)), list(reader.pending_pairs())


def _verdict_end(reader: PartitionReader, rest: bytes) -> object:
    return list(reader.verdict_ends(_id(rest), Table(rest[16])))


def _link(reader: PartitionReader, rest: bytes) -> object:
    one_id, other_id = _id(rest), _id(rest, 16)
    return reader.link_between(one_id, other_id), reader.links_of(one_id), list(reader.all_links())


JUDGED_OPENINGS: Final[dict[Table, Opening]] = {
    Table.STANDING: _standing,
    Table.PINNED: lambda reader, _: reader.pinned(),
    Table.REPLACED: _replaced,
    Table.CANDIDATE: lambda reader, rest: reader.candidate(_id(rest)),
    Table.CANDIDATE_STATUS: _candidates,
    Table.CANDIDATE_PAIR: _candidate_pair,
    Table.CANDIDATE_END: lambda reader, rest: list(reader.candidate_ends(_id(rest))),
    Table.VERDICT: lambda reader, rest: reader.verdict(_id(rest)),
    Table.VERDICT_PAIR: lambda reader, rest: reader.verdict_between(_id(rest), _id(rest, 16)),
    Table.VERDICT_END: _verdict_end,
    Table.WORDS: lambda reader, rest: reader.words(_u64(rest, 0)),
    Table.SWEPT: lambda reader, rest: reader.swept(_id(rest)),
    Table.LINK: _link,
    Table.SUSPICION: lambda reader, rest: reader.suspicion(_id(rest), _id(rest, 16)),
    Table.PROMOTED: lambda reader, rest: reader.promoted_on(rest.decode()),
    Table.FACT: lambda reader, _: list(reader.all_facts()),
    Table.SOURCE: lambda reader, _: list(reader.of_source("book")),
}
"""Of what judgments, links, promotions and facts leave."""


def _unpacked(table: Table, unpack: Callable[[bytes], object]) -> Opening:
    """For a row of few fields that no read returns as it is."""

    def opening(reader: PartitionReader, rest: bytes) -> object:
        body = reader.body(reader.keys.table(table) + rest)
        assert body is not None
        return unpack(body)

    return opening


class Decoder(NamedTuple):
    """What makes a value of a body, from behind its first bytes on."""

    decode: Callable[[bytes], object]
    behind: int = 0


VERSION_HEAD_BYTES: Final = 40

PARTITION_DECODERS: Final[dict[Table, tuple[Decoder, ...]]] = {
    Table.HEAD: (Decoder(rows.HEAD.decode),),
    Table.PARTITION: (Decoder(rows.PARTITION.decode),),
    Table.EVENT: (
        Decoder(rows.EVENT.decode),
        Decoder(rows.SEALED_EVENT.decode),
    ),
    Table.RECORD: (Decoder(rows.unpack_version), Decoder(rows.RECORD.decode, VERSION_HEAD_BYTES)),
    Table.PAYLOAD: (Decoder(rows.PAYLOAD.decode),),
    Table.RELATION: (Decoder(rows.unpack_version), Decoder(rows.RELATION.decode, VERSION_HEAD_BYTES)),
    Table.OUTGOING: (Decoder(rows.unpack_adjacency),),
    Table.INCOMING: (Decoder(rows.unpack_adjacency),),
    Table.HEADER: (Decoder(rows.unpack_completeness),),
    Table.RECEIPT_WITNESS: (Decoder(rows.unpack_u64),),
    Table.RECEIPT: (Decoder(rows.unpack_receipt),),
    Table.JOURNAL: (Decoder(rows.RELATION_ENTRY.decode), Decoder(rows.RECORD_ENTRY.decode)),
    Table.TOPIC: (Decoder(rows.unpack_uuid),),
    Table.CREDENTIAL: (Decoder(rows.CREDENTIAL.decode),),
    Table.CHECKPOINT: (Decoder(rows.CHECKPOINT.decode),),
    Table.STANDING: (Decoder(rows.STANDING.decode),),
    Table.REPLACED: (Decoder(endpoint_rows.unpack_replaced),),
    Table.CANDIDATE: (Decoder(rows.CANDIDATE.decode),),
    Table.CANDIDATE_END: (Decoder(endpoint_rows.unpack_candidate_end),),
    Table.VERDICT: (Decoder(rows.VERDICT.decode),),
    Table.VERDICT_END: (Decoder(endpoint_rows.unpack_verdict_end),),
    Table.WORDS: (Decoder(rows.WORDS.decode),),
    Table.LINK: (Decoder(rows.LINK.decode),),
    Table.SUSPICION: (Decoder(rows.SUSPICION.decode),),
    Table.PROMOTED: (Decoder(rows.PROMOTED.decode),),
}
"""By a table that has such bodies. An opening may look at a digest first; these do not."""

STORE_DECODERS: Final[dict[StoreTable, tuple[Decoder, ...]]] = {
    StoreTable.FORMAT: (Decoder(rows.FORMAT.decode), Decoder(rows.STORE_VERSION.decode)),
    StoreTable.POSITION: (Decoder(rows.POSITION.decode),),
    StoreTable.COMPANY: (Decoder(rows.unpack_text),),
    StoreTable.CREDENTIAL_COMPANY: (Decoder(rows.unpack_credential_place),),
}


def decoders_of(table: Table | StoreTable) -> tuple[Decoder, ...]:
    """The numbers of the two kinds of tables overlap."""
    return STORE_DECODERS.get(table, ()) if isinstance(table, StoreTable) else PARTITION_DECODERS.get(table, ())


PARTITION_OPENINGS: Final[dict[Table, Opening]] = {
    Table.HEAD: _head,
    Table.PARTITION: _unpacked(Table.PARTITION, rows.PARTITION.decode),
    Table.EVENT: _event,
    Table.RECORD: _record,
    Table.RECORD_REVISION: _record_revision,
    Table.PAYLOAD: _payload,
    Table.RELATION: _relation,
    Table.RELATION_REVISION: _relation_revision,
    Table.OUTGOING: _adjacency,
    Table.INCOMING: _adjacency,
    Table.HEADER: _header,
    Table.DEPENDENT: _adjacency,
    Table.LEAF: _unpacked(Table.LEAF, bytes),
    Table.TILE: _unpacked(Table.TILE, bytes),
    Table.INSTANT: _unpacked(Table.INSTANT, bytes),
    Table.STANDING_REVISION: _unpacked(Table.STANDING_REVISION, rows.STANDING.decode),
    Table.FACT_REVISION: _unpacked(Table.FACT_REVISION, bytes),
    Table.RECEIPT: _unpacked(Table.RECEIPT, rows.unpack_receipt),
    Table.JOURNAL: _journal,
    Table.TOPIC: _unpacked(Table.TOPIC, rows.unpack_uuid),
    Table.CREDENTIAL: _credential,
    Table.CHECKPOINT: _stored_checkpoint(Table.CHECKPOINT),
    Table.CHECKPOINT_REVISION: _stored_checkpoint(Table.CHECKPOINT_REVISION),
    Table.RECEIPT_WITNESS: _unpacked(Table.RECEIPT_WITNESS, rows.unpack_u64),
    **JUDGED_OPENINGS,
}

StoreOpening = Callable[[Reader, bytes], object]


def _workspace(reader: Reader, rest: bytes) -> object:
    view = _view(reader)
    return company.workspaces(view, COMPANY, None, None), company.enter(view, COMPANY, rest[-32:].hex())


def _company(reader: Reader, rest: bytes) -> object:
    return company_exists(reader, COMPANY), _store_body(reader, keys.company(COMPANY)[: -len(rest)] + rest)


STORE_OPENINGS: Final[dict[StoreTable, StoreOpening]] = {
    StoreTable.FORMAT: lambda reader, _: rows.FORMAT.decode(_store_body(reader, keys.FORMAT)),
    StoreTable.POSITION: lambda reader, _: rows.POSITION.decode(_store_body(reader, keys.POSITION)),
    StoreTable.COMPANY: _company,
    StoreTable.CREDENTIAL_COMPANY: lambda reader, rest: _view(reader).credential(_id(rest)),
    StoreTable.WORKSPACE: _workspace,
}


def _store_body(reader: Reader, key: bytes) -> bytes:
    body = store_body(reader, key)
    assert body is not None
    return body
