"""Keeping the index in step with the record stream of each partition.

Always holds: only active, current records are in it; a partition is indexed as far as a position of its record stream;
one that was indexed along another history is made again. Records stand in the order of their last change, however
often, and in whatever steps, they were indexed: so an index that was made again gives the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final, NamedTuple

from relatum.core.changes import JournalHead
from relatum.core.context_records import OUTLINES_MAX, Outline, Surroundings
from relatum.core.ids import uuid_bytes
from relatum.core.records import Payload, RecordMeta
from relatum.core.streams import RECORDS
from relatum.ledger.search.tables import Mark, Tables
from relatum.ledger.search.tokenizer import signs_of, words_of
from relatum.store.partition import PartitionReader

CHUNK_ENTRIES: Final = 256
"""How many entries of a stream are indexed in one transaction."""


Gone = tuple[bytes, str]
"""A record that was deleted before its partition was indexed as far as that: its workspace, and its id."""


class Progress(NamedTuple):
    """The number of a partition in the index, and how far its record stream is indexed, of how many changes."""

    number: int | None
    indexed: int
    changes: int

    @property
    def is_behind(self) -> bool:
        """Whether something is not indexed yet."""
        return self.indexed < self.changes


class Keeper:
    """Keeps one index. Not thread-safe; whoever uses it holds a lock."""

    def __init__(self, tables: Tables, gone: set[Gone]) -> None:
        """Indexes none of the records that are `gone`, and takes from these what is indexed as far as its deletion."""
        self.tables = tables
        self._gone = gone
        self._followed: set[bytes] = set()
        """Partitions that were found to be indexed along their history: from then on a view can only be behind."""

    def knows(self, partition: PartitionReader) -> bool:
        """Whether anything of a partition was ever indexed."""
        return self.tables.partition(bytes.fromhex(partition.workspace_id)) is not None

    def forget(self, partition: PartitionReader) -> None:
        """Removes whatever is indexed of a partition; it is indexed anew when somebody asks."""
        workspace = bytes.fromhex(partition.workspace_id)
        known = self.tables.partition(workspace)
        if known is not None:
            self.tables.begin()
            try:
                self.tables.drop_partition(known[0])
                self.tables.commit()
            except BaseException:
                self.tables.rollback()
                raise
        self._followed.discard(workspace)

    def remove(self, partition: PartitionReader, record_ids: Iterable[str]) -> None:
        """Removes records that were deleted, however far the partition is indexed.

        IMPORTANT: they are among those that are gone already, or an older view would bring them back.
        """
        workspace = bytes.fromhex(partition.workspace_id)
        known = self.tables.partition(workspace)
        if known is None:
            return
        with self._together():
            for record_id in record_ids:
                self.tables.remove_record(known[0], uuid_bytes(record_id))

    def caught_up(self, partition: PartitionReader, entries_max: int | None = None) -> Progress:
        """Indexes a partition up to its tip, or by so many entries of its record stream; how far it has come.

        Its number is None where the record stream is not active yet.
        """
        tip = partition.head().streams.get(RECORDS)
        if tip is None:
            return Progress(None, 0, 0)
        workspace = bytes.fromhex(partition.workspace_id)
        known = self.tables.partition(workspace)
        if known is not None and self._is_in_step(partition, workspace, known[1], tip):
            return Progress(known[0], tip.sequence, tip.sequence)
        with self._together():
            number, mark = known or (self.tables.add_partition(workspace, _start(tip)), _start(tip))
            if workspace not in self._followed and not _lies_on(partition, mark, tip):
                self.tables.drop_partition(number)
                mark = _start(tip)
                number = self.tables.add_partition(workspace, mark)
            mark = self._index_from(number, partition, mark, entries_max)
        self._followed.add(workspace)
        return Progress(number, min(mark.sequence, tip.sequence), tip.sequence)

    @contextmanager
    def _together(self) -> Iterator[None]:
        """What is done in the block is kept as a whole, or not at all."""
        self.tables.begin()
        try:
            yield
            self.tables.commit()
        except BaseException:
            self.tables.rollback()
            raise

    def _is_in_step(self, partition: PartitionReader, workspace: bytes, mark: Mark, tip: JournalHead) -> bool:
        """Whether nothing is left to index, because the index is at the tip, or further on than an older view."""
        if workspace in self._followed:
            return mark.sequence >= tip.sequence
        return mark == Mark(tip.journal_id, tip.sequence, tip.prefix_digest)

    def _index_from(self, number: int, partition: PartitionReader, mark: Mark, entries_max: int | None) -> Mark:
        changed: dict[str, None] = {}
        entries = islice(partition.entries(RECORDS, mark.sequence), entries_max)
        for count, (sequence, entry) in enumerate(entries, 1):
            mark = Mark(mark.journal_id, sequence, entry.prefix_digest)
            record_id = entry.change.record_id  # type: ignore[union-attr]  # the record stream tells of records
            changed.pop(record_id, None)
            changed[record_id] = None
            if count % CHUNK_ENTRIES == 0:
                self._index(number, partition, changed, mark)
                self.tables.commit()
                self.tables.begin()
                changed.clear()
        self._index(number, partition, changed, mark)
        return mark

    def _index(self, number: int, partition: PartitionReader, record_ids: Iterable[str], mark: Mark) -> None:
        """Indexes records as they are now, and forgets those that are no longer active and current."""
        workspace = bytes.fromhex(partition.workspace_id)
        for record_id in record_ids:
            indexed = _indexed(partition, record_id)
            if indexed is None:
                self.tables.remove_record(number, uuid_bytes(record_id))
                self._gone.discard((workspace, record_id))
            elif (workspace, record_id) not in self._gone:
                self.tables.put_record(number, *indexed)
        self.tables.move_mark(number, mark)


def _start(tip: JournalHead) -> Mark:
    return Mark(tip.journal_id, 0, b"")


def _lies_on(partition: PartitionReader, mark: Mark, tip: JournalHead) -> bool:
    """Whether a partition was indexed along this very history, and not beyond its end."""
    if mark.journal_id != tip.journal_id or mark.sequence > tip.sequence:
        return False
    if mark.sequence == 0:
        return True
    entry = partition.entry(RECORDS, mark.sequence)
    return entry is not None and entry.prefix_digest == mark.digest


def outlined(partition: PartitionReader) -> Surroundings:
    """The newest records of a partition, read from the ledger: for when there is no index."""
    outlines: list[Outline] = []
    for looked_at, version in enumerate(partition.records(reverse=True)):
        if looked_at == OUTLINES_MAX:
            return Surroundings(outlines, {}, False)
        active = version.meta.state == "active"
        if active and partition.standing(version.meta.record_id).state == "current":
            outlines.append(_outline(version.meta, partition.payload(version.meta)))
    return Surroundings(outlines, {}, True)


def _outline(meta: RecordMeta, payload: Payload | None) -> Outline:
    return Outline(
        record_id=uuid_bytes(meta.record_id),
        created_at_millis=meta.created_at_millis,
        category=None if payload is None else payload.category,
        valid_until_millis=meta.facts.valid_until_millis,
        rejected=meta.disposition == "rejected",
    )


def _indexed(partition: PartitionReader, record_id: str) -> tuple[Outline, list[str]] | None:
    """What is kept of an active, current record: its outline, and the words and signs of its title and its content."""
    version = partition.record(record_id)
    if version is None or version.meta.state != "active" or partition.standing(record_id).state != "current":
        return None
    payload = partition.payload(version.meta)
    if payload is None:
        return None
    texts = (payload.title or "", payload.content)
    return _outline(version.meta, payload), [
        word for read in (words_of, signs_of) for text in texts for word in read(text)
    ]
