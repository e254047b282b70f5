"""The maker of row bytes, but for those of `endpoint_rows.py` (docs/storage-format.md).

    row = format byte, CRC-32 of key and body (4 bytes big endian), body

The checksum covers the key, so that a row that was moved, swapped or altered is noticed wherever it is read. Bodies
are canonical MessagePack of storage structs, or packed fixed fields where rows are many and small.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Generic, Literal, NamedTuple, Self, TypeVar
from zlib import crc32

import msgspec
from msgspec import Struct

from relatum.core import digests
from relatum.core.access import StoredCredential
from relatum.core.candidates import Candidate, Words
from relatum.core.canonical import encode
from relatum.core.changes import RecordEntry, RelationEntry
from relatum.core.cursors import Checkpoint
from relatum.core.events import Event, Head, SealedEvent
from relatum.core.ids import Partition, Ref, uuid_bytes, uuid_text
from relatum.core.kinds import Kind
from relatum.core.links import StoredLink
from relatum.core.promotions import Suspicion
from relatum.core.records import PayloadRow, RecordMeta
from relatum.core.relations import StoredRelation
from relatum.core.standings import Standing
from relatum.core.verdicts import StoredVerdict
from relatum.core.wire import check_i64, check_u64
from relatum.errors import StorageInconsistency
from relatum.limits import U64_MAX
from relatum.store.overlay import Staged

FORMAT_BYTE = 1
STORE_KEY_BYTES = 32
_UUID_BYTES = 16
_BODY_DIGEST_BYTES = 16
_SEAL = struct.Struct(">BI")
_SEAL_BYTES = _SEAL.size
_sealing = _SEAL.pack
_VERSION = struct.Struct(">Q32s")
_HEADER = struct.Struct(">Q32sQ32sQ32s")
_U64 = struct.Struct(">Q")
_RECEIPT = struct.Struct(">Q32s")

T = TypeVar("T")


def seal(key: bytes, body: bytes) -> bytes:
    """The stored row of `body` under `key`."""
    return _sealing(FORMAT_BYTE, crc32(body, crc32(key))) + body


def unseal(key: bytes, row: bytes) -> bytes:
    """The body of a stored row. Raises StorageInconsistency where the row is not what was written under `key`."""
    body = row[_SEAL_BYTES:]
    if row[:_SEAL_BYTES] != _sealing(FORMAT_BYTE, crc32(body, crc32(key))):
        raise StorageInconsistency("a stored row does not match its checksum")
    return body


def sealed(bodies: Mapping[bytes, Staged]) -> dict[bytes, bytes | None]:
    """The stored rows of many bodies, in their order; a None, which deletes, stays one."""
    made: dict[bytes, bytes | None] = {}
    for key, staged in bodies.items():
        if staged is None:
            made[key] = None
        else:
            body = staged if isinstance(staged, bytes) else staged.pack()
            made[key] = _sealing(FORMAT_BYTE, crc32(body, crc32(key))) + body  # as `seal` does, with a call less
    return made


def body_of(row: bytes) -> bytes:
    """The body of a stored row whose checksum is of no interest."""
    return row[_SEAL_BYTES:]


class Codec(Generic[T]):
    """Struct to body and back."""

    def __init__(self, kind: type[T]) -> None:
        self._decode = msgspec.msgpack.Decoder(kind).decode

    def encode(self, value: T) -> bytes:
        """The body of `value`."""
        return encode(value)

    def decode(self, body: bytes) -> T:
        """The value of a body. Raises StorageInconsistency where it isn't one."""
        try:
            return self._decode(body)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise StorageInconsistency("a stored row can't be decoded") from error


class DigestedCodec(Codec[T]):
    """Of rows that have no revisions, with which they could be compared: a body begins with the digest of its rest."""

    def encode(self, value: T) -> bytes:
        """The body of `value`."""
        return vouched(super().encode(value))

    def decode(self, body: bytes) -> T:
        """The value of a body. Raises StorageInconsistency where it isn't one, or was altered."""
        return super().decode(rest_of(body))


def vouched(rest: bytes) -> bytes:
    """A body that begins with the digest of its rest."""
    return digests.body_digest(rest) + rest


def rest_of(body: bytes) -> bytes:
    """The rest of such a body."""
    rest = body[_BODY_DIGEST_BYTES:]
    if body[:_BODY_DIGEST_BYTES] != digests.body_digest(rest):
        raise StorageInconsistency("a stored row does not match its digest")
    return rest


class Format(Struct, frozen=True):
    """The store's own row: the version of the format and the key under which record commands are digested."""

    version: int
    store_key: bytes
    key_digest: bytes
    """Of the key, which nothing else in the store could tell from another."""

    def __post_init__(self) -> None:
        if len(self.store_key) != STORE_KEY_BYTES:
            raise ValueError("a key of another length")
        if self.key_digest != digests.store_key_digest(self.store_key):
            raise ValueError("a key that does not match its digest")

    @classmethod
    def of(cls, version: int, store_key: bytes) -> Self:
        """The row of a store with this key."""
        return cls(version, store_key, digests.store_key_digest(store_key))


class StoreVersion(Struct, frozen=True):
    """What the format row of every version begins with: the one member that tells whether the rest can be read."""

    version: int


class Position(Struct, frozen=True, omit_defaults=True):
    """How far the store has come.

    Accepted commands of all partitions, the greatest commit time, the digest of them all. `floor_millis` is an instant
    that no commit will come before, where somebody was told so: later than the greatest commit time.
    """

    position: int
    committed_at_millis: int
    digest: bytes
    floor_millis: int | None = None

    @property
    def floor(self) -> int:
        """What no commit time will be earlier than."""
        return self.committed_at_millis if self.floor_millis is None else self.floor_millis

    def __post_init__(self) -> None:
        check_u64(self.position)
        check_i64(self.committed_at_millis)
        check_i64(self.floor_millis)
        if self.floor_millis is not None and self.floor_millis <= self.committed_at_millis:
            raise ValueError("a floor that is none")
        if len(self.digest) != digests.DIGEST_BYTES:
            raise ValueError("a digest of another length")


class StoredCheckpoint(Struct, frozen=True):
    """A checkpoint as saved, current or by revision: with its event's sequence. Its subject is that of its author."""

    sequence: int
    checkpoint: Checkpoint


FORMAT: Codec[Format] = Codec(Format)
STORE_VERSION: Codec[StoreVersion] = Codec(StoreVersion)
POSITION: Codec[Position] = Codec(Position)
PARTITION: Codec[Partition] = Codec(Partition)
HEAD: Codec[Head] = Codec(Head)
EVENT: Codec[Event] = Codec(Event)  # type: ignore[arg-type]  # a closed union of event structs
SEALED_EVENT: Codec[Event] = Codec(SealedEvent)  # type: ignore[arg-type]  # likewise
RECORD: Codec[RecordMeta] = Codec(RecordMeta)
PAYLOAD: Codec[PayloadRow] = Codec(PayloadRow)
RELATION: Codec[StoredRelation] = Codec(StoredRelation)
RELATION_ENTRY: Codec[RelationEntry] = Codec(RelationEntry)
RECORD_ENTRY: Codec[RecordEntry] = Codec(RecordEntry)
CHECKPOINT: Codec[StoredCheckpoint] = Codec(StoredCheckpoint)
CREDENTIAL: Codec[StoredCredential] = Codec(StoredCredential)
STANDING: Codec[Standing] = DigestedCodec(Standing)
CANDIDATE: Codec[Candidate] = DigestedCodec(Candidate)
VERDICT: Codec[StoredVerdict] = DigestedCodec(StoredVerdict)
WORDS: Codec[Words] = DigestedCodec(Words)
LINK: Codec[StoredLink] = DigestedCodec(StoredLink)
SUSPICION: Codec[Suspicion] = DigestedCodec(Suspicion)
PROMOTED: Codec[int] = DigestedCodec(int)


class StagedHead(Struct, frozen=True, gc=False):
    """A head as it is staged: each command of a group has the next one, and only the last is encoded."""

    head: Head

    def pack(self) -> bytes:
        """The body."""
        return HEAD.encode(self.head)


class Version(NamedTuple):
    """Body of a record or relation row: its event's sequence, its digest, its canonical bytes."""

    sequence: int
    digest: bytes
    canonical: bytes


def pack_version(sequence: int, digest: bytes, canonical: bytes) -> bytes:
    """The body of a version."""
    return _VERSION.pack(sequence, digest) + canonical


def unpack_version(body: bytes) -> Version:
    """The version of a body."""
    if len(body) < _VERSION.size:
        raise StorageInconsistency("a stored version is too short")
    sequence, digest = _VERSION.unpack_from(body)
    return Version(sequence, digest, body[_VERSION.size :])


class Completeness(Struct, frozen=True, gc=False):
    """Completeness headers of a content: number and sum of its uses, and of its entries, outgoing and incoming.

    The uses are what depends on it, retired relations and derived records too, so they only grow.
    """

    uses_count: int = 0
    uses_sum: int = 0
    outgoing_count: int = 0
    outgoing_sum: int = 0
    incoming_count: int = 0
    incoming_sum: int = 0

    def of(self, *, outgoing: bool) -> tuple[int, int]:
        """Number and sum of the outgoing entries, or of the incoming ones."""
        if outgoing:
            return self.outgoing_count, self.outgoing_sum
        return self.incoming_count, self.incoming_sum

    def counting(self, entry: bytes, step: Literal[1, -1], *, outgoing: bool) -> Completeness:
        """The headers after an entry (its key and body) has come, or gone.

        Raises StorageInconsistency where they can't have counted what is there.
        """
        count, total = self.of(outgoing=outgoing)
        count += step
        if not 0 <= count <= U64_MAX:
            raise StorageInconsistency("a completeness header counts what can't be")
        total = (total + step * digests.adjacency_digest(entry)) % digests.ACCUMULATOR_MODULUS
        uses = self.uses_count, self.uses_sum
        if outgoing:
            return Completeness(*uses, count, total, self.incoming_count, self.incoming_sum)
        return Completeness(*uses, self.outgoing_count, self.outgoing_sum, count, total)

    def using(self, key: bytes) -> Completeness:
        """The headers after a dependent has come, given by its key."""
        return Completeness(
            self.uses_count + 1,
            (self.uses_sum + digests.dependent_digest(key)) % digests.ACCUMULATOR_MODULUS,
            self.outgoing_count,
            self.outgoing_sum,
            self.incoming_count,
            self.incoming_sum,
        )

    def pack(self) -> bytes:
        """The body."""
        return _HEADER.pack(
            self.uses_count,
            self.uses_sum.to_bytes(32, "big"),
            self.outgoing_count,
            self.outgoing_sum.to_bytes(32, "big"),
            self.incoming_count,
            self.incoming_sum.to_bytes(32, "big"),
        )


def unpack_completeness(body: bytes) -> Completeness:
    """The headers of a body."""
    if len(body) != _HEADER.size:
        raise StorageInconsistency("a completeness header has a wrong length")
    uses, sum_uses, count_out, sum_out, count_in, sum_in = _HEADER.unpack(body)
    number = int.from_bytes
    return Completeness(
        uses, number(sum_uses, "big"), count_out, number(sum_out, "big"), count_in, number(sum_in, "big")
    )


def pack_adjacency(kind: Kind, other: Ref) -> bytes:
    """The body of an entry; its relation id is the end of its key."""
    return uuid_bytes(other.record_id) + _U64.pack(other.revision) + kind.encode()


def unpack_adjacency(body: bytes) -> tuple[str, Ref]:
    """The kind and the other end of an entry's body."""
    at = _UUID_BYTES + _U64.size
    if len(body) <= at:
        raise StorageInconsistency("an index entry is too short")
    [revision] = _U64.unpack_from(body, _UUID_BYTES)
    return unpack_text(body[at:]), Ref(record_id=uuid_text(body[:_UUID_BYTES]), revision=revision)


class ReceiptPointer(NamedTuple):
    """Where a key leads: the event, and the digest of the command that was accepted under it."""

    sequence: int
    command_digest: str


def pack_receipt(sequence: int, command_digest: str) -> bytes:
    """The body of a pointer."""
    return _RECEIPT.pack(sequence, bytes.fromhex(command_digest))


def unpack_receipt(body: bytes) -> ReceiptPointer:
    """The pointer of a body."""
    if len(body) != _RECEIPT.size:
        raise StorageInconsistency("a receipt pointer has a wrong length")
    sequence, digest = _RECEIPT.unpack(body)
    return ReceiptPointer(sequence, digest.hex())


class CredentialPlace(NamedTuple):
    """Where a credential is found: its company, and the digest of its row there, which may be no older one."""

    digest: bytes
    company_id: str

    def pack(self) -> bytes:
        """The body."""
        return self.digest + self.company_id.encode()


def unpack_credential_place(body: bytes) -> CredentialPlace:
    """The place of a body."""
    if len(body) <= digests.DIGEST_BYTES:
        raise StorageInconsistency("a place of a credential is too short")
    return CredentialPlace(body[: digests.DIGEST_BYTES], unpack_text(body[digests.DIGEST_BYTES :]))


def pack_u64(value: int) -> bytes:
    """An integer as a body."""
    return _U64.pack(value)


def unpack_u64(body: bytes) -> int:
    """The integer of a body."""
    if len(body) != _U64.size:
        raise StorageInconsistency("a stored integer has a wrong length")
    return int(_U64.unpack(body)[0])


def pack_uuid(value: str) -> bytes:
    """An id as a body."""
    return uuid_bytes(value)


def unpack_uuid(body: bytes) -> str:
    """The UUID of a body."""
    if len(body) != _UUID_BYTES:
        raise StorageInconsistency("a stored id has a wrong length")
    return uuid_text(body)


def unpack_text(body: bytes) -> str:
    """The text of a body."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise StorageInconsistency("a stored text is not UTF-8") from error
