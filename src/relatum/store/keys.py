"""The only maker of keys (docs/storage-format.md).

A key is a 16-byte prefix, a table byte, and the rest. The prefix is the head of the partition's workspace id, so that
a partition can be exported, moved or verified alone; store-wide tables lie under sixteen zero bytes. Ids are 16 raw
bytes, revisions and sequences 8 bytes big endian, so that byte order is the order of ids, revisions and sequences.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from relatum.core import digests
from relatum.core.answers.judgments import Status
from relatum.core.ids import uuid_bytes
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import StorageInconsistency
from relatum.store.instants import Timed

PREFIX_BYTES = 16
STORE_PREFIX = bytes(PREFIX_BYTES)


class StoreTable(IntEnum):
    """Tables under the store's own prefix."""

    FORMAT = 1
    POSITION = 2
    COMPANY = 3
    CREDENTIAL_COMPANY = 4
    WORKSPACE = 5


class Table(IntEnum):
    """Tables of a partition."""

    HEAD = 1
    PARTITION = 2
    EVENT = 3
    RECORD = 4
    RECORD_REVISION = 5
    PAYLOAD = 6
    RELATION = 7
    RELATION_REVISION = 8
    OUTGOING = 9
    INCOMING = 10
    HEADER = 11
    DEPENDENT = 12
    RECEIPT = 13
    JOURNAL = 14
    TOPIC = 15
    CREDENTIAL = 16
    CHECKPOINT = 17
    CHECKPOINT_REVISION = 18
    RECEIPT_WITNESS = 19
    STANDING = 20
    PINNED = 21
    REPLACED = 22
    CANDIDATE = 23
    CANDIDATE_STATUS = 24
    CANDIDATE_PAIR = 25
    CANDIDATE_END = 26
    VERDICT = 27
    VERDICT_PAIR = 28
    VERDICT_END = 29
    WORDS = 30
    SWEPT = 31
    LINK = 32
    SUSPICION = 33
    PROMOTED = 34
    FACT = 35
    SOURCE = 36
    LEAF = 64
    TILE = 65
    INSTANT = 66
    STANDING_REVISION = 67
    FACT_REVISION = 68


_UNCOUNTED_FROM = 64
"""The tables from here on have something beside them: the events, and what the head says of the log."""
COUNTED = frozenset((Table.TOPIC, *(table for table in Table if Table.STANDING <= table < _UNCOUNTED_FROM)))
"""The tables of rows that nothing beside them witnesses: each is counted in the head, so that a lost one is missed."""


class Use(IntEnum):
    """How a dependent uses a record, in the reverse index."""

    DERIVED = 1
    SOURCE = 2
    TARGET = 3
    EVIDENCE = 4


STATUS_BYTE: dict[Status, bytes] = {"pending": b"\1", "judged": b"\2", "orphaned": b"\3"}
_USE_BYTE = {use: bytes([use]) for use in Use}
STREAM_BYTE: dict[Stream, bytes] = {RELATIONS: b"\1", RECORDS: b"\2"}


def _u64(value: int) -> bytes:
    """Eight bytes. What a client names was checked before, so a number that does not fit is a stored one."""
    try:
        return value.to_bytes(8, "big")
    except OverflowError as error:
        raise StorageInconsistency("a stored number is out of range") from error


@lru_cache(maxsize=8192)
def _id(uuid: str) -> bytes:
    """Sixteen bytes, of an id that was checked before if a client names it. Remembered, as `_at` is."""
    try:
        return uuid_bytes(uuid)
    except ValueError as error:
        raise StorageInconsistency("a stored id is not a UUID") from error


@lru_cache(maxsize=8192)
def _at(uuid: str, revision: int) -> bytes:
    """A thing at one revision: twenty-four bytes. Remembered: a command makes several keys of the same few."""
    return _id(uuid) + _u64(revision)


def beyond(prefix: bytes) -> bytes:
    """The first key after every key that starts with `prefix`."""
    head = prefix.rstrip(b"\xff")
    assert head, "a prefix of 0xff bytes alone has nothing beyond it"
    return head[:-1] + bytes([head[-1] + 1])


FORMAT = STORE_PREFIX + bytes([StoreTable.FORMAT])
POSITION = STORE_PREFIX + bytes([StoreTable.POSITION])


def company(company_id: str) -> bytes:
    """A company that was bootstrapped."""
    return STORE_PREFIX + bytes([StoreTable.COMPANY]) + digests.company_digest(company_id)


def credential_company(credential_id: str) -> bytes:
    """Which company a credential belongs to."""
    return STORE_PREFIX + bytes([StoreTable.CREDENTIAL_COMPANY]) + _id(credential_id)


def workspaces(company_id: str) -> bytes:
    """Prefix of a company's workspaces."""
    return STORE_PREFIX + bytes([StoreTable.WORKSPACE]) + digests.company_digest(company_id)


def workspace(company_id: str, workspace_id: str) -> bytes:
    """One workspace of a company."""
    return workspaces(company_id) + bytes.fromhex(workspace_id)


def partition_prefix(workspace_id: str) -> bytes:
    """The prefix of a partition's keys."""
    return bytes.fromhex(workspace_id[: 2 * PREFIX_BYTES])


class PartitionKeys:
    """The keys of one partition."""

    def __init__(self, workspace_id: str) -> None:
        self.prefix = prefix = partition_prefix(workspace_id)
        self.head = prefix + bytes([Table.HEAD])
        self.partition = prefix + bytes([Table.PARTITION])
        self._tables = {table: prefix + bytes([table]) for table in Table}
        self.counted = (
            (self._tables[Table.TOPIC], beyond(self._tables[Table.TOPIC])),
            (self._tables[Table.STANDING], beyond(self._tables[max(COUNTED)])),
        )
        """The key ranges of the rows that the head counts, from and to."""
        self._event = self._tables[Table.EVENT]
        self._record = self._tables[Table.RECORD]
        self._record_revision = self._tables[Table.RECORD_REVISION]
        self._payload = self._tables[Table.PAYLOAD]
        self._relation = self._tables[Table.RELATION]
        self._relation_revision = self._tables[Table.RELATION_REVISION]
        self._header = self._tables[Table.HEADER]
        self._dependent = self._tables[Table.DEPENDENT]
        self._leaf = self._tables[Table.LEAF]
        self._receipt = self._tables[Table.RECEIPT]
        self._receipt_witness = self._tables[Table.RECEIPT_WITNESS]
        self._journals = {stream: self._tables[Table.JOURNAL] + own for stream, own in STREAM_BYTE.items()}

    def table(self, table: Table) -> bytes:
        """Prefix of a whole table."""
        return self._tables[table]

    def event(self, sequence: int) -> bytes:
        """An event, by its place in the partition."""
        return self._event + _u64(sequence)

    def leaf(self, sequence: int) -> bytes:
        """The leaf hash of an event, by its place."""
        return self._leaf + _u64(sequence)

    def tile(self, level: int, index: int) -> bytes:
        """A tile of the log: 256 hashes, or less where it grows, of subtrees of 256 ** level leaves."""
        return self._tables[Table.TILE] + bytes([level]) + _u64(index)

    def record(self, record_id: str) -> bytes:
        """A record at its current revision."""
        return self._record + _id(record_id)

    def record_revision(self, record_id: str, revision: int) -> bytes:
        """A record at one revision."""
        return self._record_revision + _at(record_id, revision)

    def payloads(self, record_id: str) -> bytes:
        """Prefix of everything of a record that a deletion erases."""
        return self._payload + _id(record_id)

    def payload(self, record_id: str, revision: int) -> bytes:
        """The erasable row that a revision brought."""
        return self._payload + _at(record_id, revision)

    def relation(self, relation_id: str) -> bytes:
        """A relation at its current revision."""
        return self._relation + _id(relation_id)

    def relation_revision(self, relation_id: str, revision: int) -> bytes:
        """A relation at one revision."""
        return self._relation_revision + _at(relation_id, revision)

    def adjacency(self, direction: Table, record_id: str, revision: int) -> bytes:
        """Prefix of the entries of the content that a revision brought; `direction` is OUTGOING or INCOMING."""
        return self._tables[direction] + _at(record_id, revision)

    def adjacency_entry(self, direction: Table, record_id: str, revision: int, relation_id: str) -> bytes:
        """One entry: a relation, seen from one of its ends."""
        return self._tables[direction] + _at(record_id, revision) + _id(relation_id)

    def header(self, record_id: str, revision: int) -> bytes:
        """The completeness headers of the content that a revision brought: of both directions, and of its uses."""
        return self._header + _at(record_id, revision)

    def dependents(self, record_id: str, revision: int) -> bytes:
        """Prefix of everything that pins the content that a revision brought."""
        return self._dependent + _at(record_id, revision)

    def dependent(self, record_id: str, revision: int, use: Use, dependent_id: str) -> bytes:
        """One use of a content."""
        return self._dependent + _at(record_id, revision) + _USE_BYTE[use] + _id(dependent_id)

    def receipt(self, family: str, subject_id: str, idempotency_key: str) -> bytes:
        """Where a subject's key of a command family leads to the event."""
        return self._receipt + digests.receipt_key(family, subject_id, idempotency_key)

    def receipt_witness(self, family: str, subject_id: str, idempotency_key: str) -> bytes:
        """The second row of a key, without which nobody could tell a lost receipt from a key that is new."""
        return self._receipt_witness + digests.receipt_key(family, subject_id, idempotency_key)

    def journal(self, stream: Stream) -> bytes:
        """Prefix of a stream's entries."""
        return self._journals[stream]

    def journal_entry(self, stream: Stream, sequence: int) -> bytes:
        """One entry of a stream."""
        return self._journals[stream] + _u64(sequence)

    def topic(self, topic: str) -> bytes:
        """Who holds a topic slot."""
        return self._tables[Table.TOPIC] + digests.topic_key(topic)

    def checkpoints(self, stream: Stream) -> bytes:
        """Prefix of a stream's checkpoints."""
        return self._tables[Table.CHECKPOINT] + STREAM_BYTE[stream]

    def checkpoint(self, stream: Stream, subject_id: str, consumer_id: str) -> bytes:
        """What a consumer has saved of a stream."""
        return self.checkpoints(stream) + digests.consumer_key(subject_id, consumer_id)

    def checkpoint_revisions(self, stream: Stream) -> bytes:
        """Prefix of the revisions of a stream's checkpoints."""
        return self._tables[Table.CHECKPOINT_REVISION] + STREAM_BYTE[stream]

    def checkpoint_revision(self, stream: Stream, subject_id: str, consumer_id: str, revision: int) -> bytes:
        """What a consumer had saved at one revision."""
        return self.checkpoint_revisions(stream) + digests.consumer_key(subject_id, consumer_id) + _u64(revision)

    def credential(self, credential_id: str) -> bytes:
        """A credential of the company whose partition this is."""
        return self._tables[Table.CREDENTIAL] + _id(credential_id)

    # Judgments

    def standing(self, record_id: str) -> bytes:
        """A record's standing, where it was ever changed."""
        return self._tables[Table.STANDING] + _id(record_id)

    def pinned(self, record_id: str) -> bytes:
        """A record that is pinned."""
        return self._tables[Table.PINNED] + _id(record_id)

    def replaced(self, record_id: str) -> bytes:
        """Prefix of what a record has superseded."""
        return self._tables[Table.REPLACED] + _id(record_id)

    def replaced_entry(self, record_id: str, replaced_id: str) -> bytes:
        """One record that another has superseded."""
        return self.replaced(record_id) + _id(replaced_id)

    def candidate(self, candidate_id: str) -> bytes:
        """A candidate."""
        return self._tables[Table.CANDIDATE] + _id(candidate_id)

    def candidates_of_status(self, status: Status) -> bytes:
        """Prefix of the candidates of a status, in the order of the instant that their age counts from."""
        return self._tables[Table.CANDIDATE_STATUS] + STATUS_BYTE[status]

    def candidate_status(self, status: Status, since_millis: int, candidate_id: str) -> bytes:
        """One candidate of a status."""
        return self.candidates_of_status(status) + _u64(max(since_millis, 0)) + _id(candidate_id)

    def candidate_pair(self, one_id: str, other_id: str) -> bytes:
        """The pending candidate of an unordered pair."""
        low, high = sorted((_id(one_id), _id(other_id)))
        return self._tables[Table.CANDIDATE_PAIR] + low + high

    def candidate_ends(self, record_id: str) -> bytes:
        """Prefix of the candidates of which a record is an end."""
        return self._tables[Table.CANDIDATE_END] + _id(record_id)

    def candidate_end(self, record_id: str, candidate_id: str) -> bytes:
        """One candidate of which a record is an end."""
        return self.candidate_ends(record_id) + _id(candidate_id)

    def verdict(self, relation_id: str) -> bytes:
        """That a relation came from a verdict."""
        return self._tables[Table.VERDICT] + _id(relation_id)

    def verdict_pair(self, source_id: str, target_id: str) -> bytes:
        """The relation of the last verdict on an ordered pair."""
        return self._tables[Table.VERDICT_PAIR] + _id(source_id) + _id(target_id)

    def verdict_ends(self, record_id: str, direction: Table) -> bytes:
        """Prefix of the verdicts of which a record is the source (OUTGOING) or the target (INCOMING)."""
        return self._tables[Table.VERDICT_END] + _id(record_id) + bytes([direction])

    def verdict_end(self, record_id: str, direction: Table, relation_id: str) -> bytes:
        """One verdict of which a record is an end."""
        return self.verdict_ends(record_id, direction) + _id(relation_id)

    def words(self, sequence: int) -> bytes:
        """What a verdict said in words, by the place of its event."""
        return self._tables[Table.WORDS] + _u64(sequence)

    def links(self, record_id: str) -> bytes:
        """Prefix of a record's links."""
        return self._tables[Table.LINK] + _id(record_id)

    def link(self, record_id: str, other_id: str) -> bytes:
        """A link, under one of its ends."""
        return self.links(record_id) + _id(other_id)

    def suspicion(self, one_id: str, other_id: str) -> bytes:
        """On which days an unordered pair was found to contradict itself."""
        low, high = sorted((_id(one_id), _id(other_id)))
        return self._tables[Table.SUSPICION] + low + high

    def promoted(self, run_date: str) -> bytes:
        """How many edges were promoted for a day."""
        return self._tables[Table.PROMOTED] + run_date.encode()

    def facts(self, fact: str) -> bytes:
        """Prefix of the records that say something of one fact."""
        return self._tables[Table.FACT] + digests.fact_key(fact)

    def fact(self, fact: str, record_id: str) -> bytes:
        """That a record says something of a fact."""
        return self.facts(fact) + _id(record_id)

    def sources(self, source: str) -> bytes:
        """Prefix of the records that come from one source."""
        return self._tables[Table.SOURCE] + digests.source_key(source)

    def source(self, source: str, record_id: str) -> bytes:
        """That a record comes from a source."""
        return self.sources(source) + _id(record_id)

    def instant(self, at_millis: int, timed: Timed, object_id: str) -> bytes:
        """An instant at which a record or a relation may begin or cease to count, in the order of time."""
        return self._tables[Table.INSTANT] + _u64(at_millis + (1 << 63)) + bytes([timed]) + _id(object_id)

    def standing_revision(self, record_id: str, sequence: int) -> bytes:
        """A record's standing as an event left it."""
        return self._tables[Table.STANDING_REVISION] + _id(record_id) + _u64(sequence)

    def fact_revisions(self, fact: str, record_id: str) -> bytes:
        """Prefix of what a record said of a fact, event by event."""
        return self._tables[Table.FACT_REVISION] + digests.fact_key(fact) + _id(record_id)

    def fact_revision(self, fact: str, record_id: str, sequence: int) -> bytes:
        """What a record said of a fact from an event on."""
        return self.fact_revisions(fact, record_id) + _u64(sequence)

    def swept(self, target_id: str) -> bytes:
        """Which event a run of the sweep, or one operation of it, belongs to."""
        return self._tables[Table.SWEPT] + _id(target_id)
