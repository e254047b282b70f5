"""Bugs of the checks: what is stored is taken for sound without a look at what would prove it.

No crash on an honest disk shows them; damage at rest does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from crash_tests.bugs.bug import Bug, Patch
from relatum.core.access import StoredCredential
from relatum.core.changes import JournalHead
from relatum.core.events import Head
from relatum.core.ids import Ref, uuid_text
from relatum.core.row_counts import Tally
from relatum.core.state import RecordVersion, RelationVersion
from relatum.errors import Failure
from relatum.store import adjacency, database, integrity, latest, partition, preflight, read_only_open, rows
from relatum.store import snapshot as engine_cut
from relatum.store.catalog import Listing
from relatum.store.counts import Recounts
from relatum.store.journal import Entry, Journal
from relatum.store.keys import beyond
from relatum.store.kv import Reader
from relatum.store.manifest import Manifest
from relatum.store.partition import Direction, PartitionReader


def unseal_whatever(key: bytes, row: bytes) -> bytes:
    """The body of a row, whatever its checksum says."""
    return rows.body_of(row)


def find_nothing_torn(directory: Path) -> list[preflight.TornEnd]:
    """Logs and manifest are left to the engine to judge."""
    return []


def read_no_manifest(directory: Path) -> Manifest | None:
    """Logs are held against nothing."""
    return None


class _Deaf:
    """An iterator that is never asked why it came to an end."""

    def __init__(self, iterator: engine_cut.EngineIterator) -> None:
        self.seek, self.seek_for_prev = iterator.seek, iterator.seek_for_prev
        self.next, self.prev = iterator.next, iterator.prev
        self.valid, self.key, self.value = iterator.valid, iterator.key, iterator.value

    def status(self) -> None:
        """Whatever happened, nothing is said."""


_make_cut = engine_cut.EngineCut.__init__


def cut_without_status(
    cut: engine_cut.EngineCut,
    snapshot: engine_cut.Snapshot,
    iterator: engine_cut.EngineIterator,
    translated: Callable[[Exception], Failure],
) -> None:
    """A scan that meets damage ends as if there were no more rows."""
    _make_cut(cut, snapshot, _Deaf(iterator), translated)


def decode_record(body: bytes) -> RecordVersion:
    """A record, whatever its digest says."""
    sequence, digest, canonical = rows.unpack_version(body)
    return RecordVersion(rows.RECORD.decode(canonical), digest, sequence, len(canonical), body)


def decode_relation(body: bytes) -> RelationVersion:
    """A relation, whatever its digest says."""
    sequence, digest, canonical = rows.unpack_version(body)
    return RelationVersion(rows.RELATION.decode(canonical), digest, sequence, len(canonical), body)


def find_pointer_alone(
    reader: PartitionReader, family: str, subject_id: str, idempotency_key: str
) -> rows.ReceiptPointer | None:
    """A key without a pointer is a new key, whatever its witness says."""
    body = reader.body(reader.keys.receipt(family, subject_id, idempotency_key))
    return None if body is None else rows.unpack_receipt(body)


def believe_rows(
    recounts: Recounts, prefix: bytes, told: Callable[[], Tally], found: Callable[[], Tally]
) -> None:  # nothing is counted: that is the bug
    """What judgments have left is read as it is found."""


def entries_uncounted(
    reader: PartitionReader, direction: Direction, end: Ref, header: rows.Completeness | None = None
) -> Iterator[adjacency.IndexEntry]:  # the header is not looked at: that is the bug
    """An index is read as it is found."""
    del header
    prefix = reader.keys.adjacency(direction, end.record_id, end.revision)
    for key, row in reader.reader.scan(prefix, beyond(prefix)):
        yield adjacency.IndexEntry(uuid_text(key[-16:]), rows.unseal(key, row))


def walk_alone(
    reader: Reader, current: bytes, revisions: bytes, after: bytes | None, *, reverse: bool
) -> Iterator[latest.Row]:  # revisions are not looked at: that is the bug
    """A table of what is current is taken for complete."""
    del revisions
    start, stop = current, beyond(current)
    if after is not None:
        start, stop = (start, current + after) if reverse else (current + after + b"\0", stop)
    for key, row in reader.scan(start, stop, reverse=reverse):
        yield key[len(current) :], rows.unseal(key, row)


def compare_nothing(reader: PartitionReader, current: bytes, newest_revision: bytes) -> None:
    """A current row is believed without its newest revision."""


def allow_present(reader: PartitionReader, key: bytes, message: str) -> None:
    """What is not found is unknown, whatever traces there are."""


def believe_credential(
    reader: PartitionReader,
    credential_id: str,
    body: bytes,
    place: rows.CredentialPlace | None,
) -> StoredCredential:
    """A credential is believed as it is found, however old."""
    return rows.CREDENTIAL.decode(body)


def believe_link(journal: Journal, before: JournalHead, entry: Entry) -> None:
    """A journal entry is told without a look at the one before it."""


def believe_change(journal: Journal, entry: Entry) -> None:
    """A journal entry is told without a look at what it tells of."""


def believe_tips(reader: Reader, position: rows.Position, *, partitions_max: int = 0) -> bool:
    """The ends of partitions are not looked at before a store is opened."""
    return True


def believe_lists(listing: Listing, reader: PartitionReader, head: Head) -> None:
    """Whatever is not listed is not there."""


def believe_count(listing: Listing) -> bool:
    """Whatever is listed is there."""
    return True


BUGS = (
    Bug(
        name="checksum-not-checked",
        help="rows are taken as they are, whatever their checksums say",
        patches=(Patch(rows, "unseal", unseal_whatever),),
    ),
    Bug(
        name="preflight-skipped",
        help="the engine alone judges its logs and its manifest",
        patches=(
            Patch(preflight, "torn_ends", find_nothing_torn),
            Patch(read_only_open, "torn_ends", find_nothing_torn),
        ),
    ),
    Bug(
        name="manifest-not-checked",
        help="a manifest that lost its end is opened without the files it no longer names",
        patches=(Patch(preflight, "read_manifest", read_no_manifest),),
    ),
    Bug(
        name="scan-status-ignored",
        help="a scan that meets a damaged block ends without a word",
        patches=(Patch(engine_cut.EngineCut, "__init__", cut_without_status),),
    ),
    Bug(
        name="digest-not-checked",
        help="records and relations are taken as they are, whatever their digests say",
        patches=(
            Patch(partition, "_record", decode_record),
            Patch(partition, "_relation", decode_relation),
            Patch(partition, "_remembered_relation", decode_relation),
        ),
    ),
    Bug(
        name="witness-not-checked",
        help="a key whose pointer is lost is taken for a new one",
        patches=(Patch(PartitionReader, "receipt", find_pointer_alone),),
    ),
    Bug(
        name="rows-not-counted",
        help="what judgments have left is read as it is found, whatever the head counts",
        patches=(Patch(Recounts, "require", believe_rows),),
    ),
    Bug(
        name="index-not-counted",
        help="an index is read as it is found, whatever its header counts",
        patches=(Patch(adjacency, "entries", entries_uncounted),),
    ),
    Bug(
        name="missing-row-not-missed",
        help="queries show what current rows there are, and not that one is missing",
        patches=(Patch(latest, "walk", walk_alone),),
    ),
    Bug(
        name="newest-not-compared",
        help="a current row is believed without its newest revision",
        patches=(Patch(integrity, "_verify_newest", compare_nothing),),
    ),
    Bug(
        name="trace-overlooked",
        help="an object without a current row is unknown, whatever revisions it has",
        patches=(Patch(PartitionReader, "require_absent", allow_present),),
    ),
    Bug(
        name="old-credential-believed",
        help="a credential is believed as it is found, however old",
        patches=(Patch(PartitionReader, "_placed", believe_credential),),
    ),
    Bug(
        name="journal-link-not-checked",
        help="a change is told without a look at the one before it, and at what it tells of",
        patches=(Patch(Journal, "_check_link", believe_link), Patch(Journal, "_check_change", believe_change)),
    ),
    Bug(
        name="lists-not-checked",
        help="a store is opened whose lists lack something",
        patches=(Patch(Listing, "require", believe_lists), Patch(Listing, "require_nothing_else", believe_count)),
    ),
    Bug(
        name="tips-not-checked",
        help="the ends of partitions are not looked at before a store is opened",
        patches=(Patch(database, "verify_tips", believe_tips),),
    ),
)
