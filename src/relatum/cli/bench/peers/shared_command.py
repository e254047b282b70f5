"""The part of the command that is the same for every peer: decode, check, digest, and say which rows follow.

A peer brings the facts and writes the rows. The values, their canonical bytes and their digests are those of the core,
so that no peer has less to compute than the product; the product's own look at the soundness of stored rows is left
out, since no other store does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct

from relatum.cli.bench.peers.seed import Seed, Tip
from relatum.clock import SystemClock
from relatum.core import digests, journal, transitions
from relatum.core.canonical import encode
from relatum.core.changes import JournalHead, RelationEntry
from relatum.core.commands import AssertRelation, RelationCommand
from relatum.core.decide.relation_rules import broken_rule
from relatum.core.events import RelationEvent
from relatum.core.ids import Author, Ref, Scope, memory_partition, uuid7, uuid_bytes
from relatum.core.kinds import REGISTRY
from relatum.core.receipts import RelationReceipt
from relatum.core.relations import RelationInput
from relatum.core.streams import RELATIONS
from relatum.entropy import SystemEntropy
from relatum.errors import Code, Refusal, invalid, refusal, stale
from relatum.limits import CONTRACT_VERSION
from relatum.store.keys import PartitionKeys, Table
from relatum.store.rows import EVENT, Completeness, pack_adjacency


class Answer(Struct, frozen=True):
    """An accepted command, as the product answers it."""

    contract_version: int
    receipt: RelationReceipt


class Told(Struct, frozen=True):
    """Why a command was refused."""

    code: Code
    message: str


class Refused(Struct, frozen=True):
    """A refused command."""

    error: Told


class End(NamedTuple):
    """What is asked of a record that a relation names. `sound`: neither deleted nor rejected."""

    revision: int
    type: str
    sound: bool
    event_time_millis: int | None
    valid_until_millis: int | None


class Known(NamedTuple):
    """What a key leads to: the digest of its command, and the event that the command brought."""

    command_digest: bytes
    event: bytes


HeaderKey = tuple[int, bytes, int]
"""Place, record id, revision."""


class Facts(Protocol):
    """What a peer has stored. Places are those of the seed, ids raw bytes."""

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        """What a key leads to."""
        ...

    def end(self, place: int, record_id: bytes) -> End | None:
        """A record."""
        ...

    def header(self, key: HeaderKey) -> Completeness:
        """The header of a record at its revision, which every record has."""
        ...

    def tip(self, place: int) -> Tip:
        """How far a partition has come."""
        ...


class Place(NamedTuple):
    """A partition as it is addressed."""

    number: int
    workspace_id: str
    keys: PartitionKeys


class Ground:
    """Who asks, and where the partitions are."""

    def __init__(self, seed: Seed) -> None:
        self.author = seed.author
        self._company_id = seed.company_id
        self._numbers = {partition: number for number, partition in enumerate(seed.partitions)}
        self._places: dict[Scope, Place] = {}

    def place(self, scope: Scope) -> Place | None:
        """The partition that a scope addresses, if it has any records."""
        known = self._places.get(scope)
        if known is not None:
            return known
        partition = memory_partition(self._company_id, self.author.subject_id, scope)
        number = self._numbers.get(partition)
        if number is None:
            return None
        workspace_id = digests.workspace_id(partition)
        found = self._places[scope] = Place(number, workspace_id, PartitionKeys(workspace_id))
        return found


class Asked(NamedTuple):
    """A command that was understood."""

    place: Place
    key: str
    receipt_key: bytes
    operation: AssertRelation
    command_digest: str

    @property
    def refs(self) -> tuple[Ref, ...]:
        """Every record it names: source, target, evidence."""
        given = self.operation.relation
        return (given.source, given.target, *given.evidence_sources)


class Accepted(NamedTuple):
    """The new rows of one accepted command; what it moved besides is in the working set."""

    place: int
    sequence: int
    relation_id: bytes
    relation_digest: bytes
    relation: bytes
    kind: str
    source: tuple[bytes, int]
    target: tuple[bytes, int]
    evidence: tuple[tuple[bytes, int], ...]
    event: bytes
    journal_sequence: int
    entry: bytes
    receipt_key: bytes
    command_digest: bytes


class Working:
    """The facts of one transaction, with what its earlier commands changed on top.

    `tips` and `headers` hold what is to be written over, `accepted` what is new.
    """

    def __init__(self, facts: Facts, now_millis: int) -> None:
        self.now_millis = now_millis
        self.facts = facts
        self.accepted: list[Accepted] = []
        self.tips: dict[int, Tip] = {}
        self.headers: dict[HeaderKey, Completeness] = {}
        self._known: dict[tuple[int, bytes], Known] = {}

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        """What a key leads to."""
        return self._known.get((place, receipt_key)) or self.facts.known(place, receipt_key)

    def tip(self, place: int) -> Tip:
        """How far a partition has come."""
        return self.tips.get(place) or self.facts.tip(place)

    def count_in(self, key: HeaderKey, entry: bytes, *, outgoing: bool) -> None:
        """Counts one more entry in a header."""
        header = self.headers.get(key) or self.facts.header(key)
        self.headers[key] = header.counting(entry, 1, outgoing=outgoing)

    def accept(self, accepted: Accepted, tip: Tip) -> None:
        """Takes over the rows of one more command."""
        self.accepted.append(accepted)
        self.tips[accepted.place] = tip
        self._known[accepted.place, accepted.receipt_key] = Known(accepted.command_digest, accepted.event)


_decode = msgspec.json.Decoder(RelationCommand).decode
_json = msgspec.json.Encoder().encode
_clock, _entropy = SystemClock(), SystemEntropy()


def understand(bodies: Sequence[bytes], ground: Ground) -> list[Asked | Refusal]:
    """Commands from their bodies."""
    return [_understood(body, ground) for body in bodies]


def _understood(body: bytes, ground: Ground) -> Asked | Refusal:
    try:
        given = _decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return invalid("the body is not a command")
    operation = given.operation
    if not isinstance(operation, AssertRelation):
        return invalid("only assertions are compared")
    place = ground.place(given.scope)
    if place is None:
        return stale("there are no records in this partition")
    key = given.idempotency_key
    receipt_key = digests.receipt_key("relation", ground.author.subject_id, key)
    return Asked(place, key, receipt_key, operation, digests.relation_command_digest(operation))


def decide_all(asked: Sequence[Asked | Refusal], facts: Facts, ground: Ground) -> tuple[list[bytes], Working]:
    """The answers of commands in order, each seeing those before it, and what is to be written for them."""
    working = Working(facts, _clock.millis())
    return [told(one if isinstance(one, Refusal) else _decided(one, working, ground)) for one in asked], working


def told(outcome: RelationReceipt | Refusal) -> bytes:
    """The body of an answer."""
    if isinstance(outcome, Refusal):
        return _json(Refused(Told(outcome.code, outcome.message)))
    return _json(Answer(CONTRACT_VERSION, outcome))


def _decided(asked: Asked, working: Working, ground: Ground) -> RelationReceipt | Refusal:
    known = working.known(asked.place.number, asked.receipt_key)
    if known is not None:
        if known.command_digest.hex() != asked.command_digest:
            return refusal("idempotency_conflict", "the key was used for another command")
        event = EVENT.decode(known.event)
        assert isinstance(event, RelationEvent)
        return event.receipt
    problem = broken_rule(asked.operation, asked.key)
    if problem is not None:
        return invalid(problem)
    return _problem(asked.operation.relation, asked.place.number, working) or _accept(asked, working, ground)


def _problem(given: RelationInput, place: int, working: Working) -> Refusal | None:
    """Why the input can't be asserted now: source, then target, their types, event times, the evidence."""
    source, target = _sound(given.source, place, working), _sound(given.target, place, working)
    if source is None or target is None:
        return stale("an endpoint is missing, has changed or is not eligible")
    row = REGISTRY[given.kind]
    if (source.type, target.type) != (row.source_type, row.target_type):
        return invalid("the kind does not go with the types of its endpoints")
    if given.kind == "temporal_before":
        earlier, later = source.event_time_millis, target.event_time_millis
        if earlier is None or later is None or earlier >= later:
            return invalid("temporal_before needs event times, the source's strictly earlier")
    if any(_sound(ref, place, working) is None for ref in given.evidence_sources):
        return stale("an evidence source is missing, has changed or is not eligible")
    return None


def _sound(ref: Ref, place: int, working: Working) -> End | None:
    end = working.facts.end(place, uuid_bytes(ref.record_id))
    if end is None or not end.sound or end.revision != ref.revision:
        return None
    expires = end.valid_until_millis
    return end if expires is None or working.now_millis < expires else None


def _accept(asked: Asked, working: Working, ground: Ground) -> RelationReceipt:
    place, given = asked.place, asked.operation.relation
    tip, author, entropy = working.tip(place.number), ground.author, _entropy.draw(32)
    at_millis = max(working.now_millis, tip.committed_at_millis)
    relation_id = uuid7(at_millis, digests.draw(entropy, "relation", 10))
    canonical = encode(transitions.relation_after(None, asked.operation, relation_id, at_millis, author))
    digest = digests.relation_digest(canonical)
    receipt = _receipt(asked, relation_id, digest, at_millis, author, tip.sequence + 1)
    nonce = digests.draw(entropy, "nonce", 16)
    event = encode(
        RelationEvent(
            sequence=tip.sequence + 1,
            previous=tip.event_digest,
            committed_at_millis=at_millis,
            author=author,
            nonces=(nonce,),
            relation_id=relation_id,
            operation=asked.operation,
            receipt=receipt,
        )
    )
    journaled, entry = _journaled(place.workspace_id, tip, nonce, receipt, given)
    _count(asked, relation_id, working)
    working.accept(
        Accepted(
            place=place.number,
            sequence=tip.sequence + 1,
            relation_id=uuid_bytes(relation_id),
            relation_digest=digest,
            relation=canonical,
            kind=given.kind,
            source=_pair(given.source),
            target=_pair(given.target),
            evidence=tuple(map(_pair, given.evidence_sources)),
            event=event,
            journal_sequence=journaled.sequence,
            entry=entry,
            receipt_key=asked.receipt_key,
            command_digest=bytes.fromhex(asked.command_digest),
        ),
        Tip(tip.sequence + 1, digests.event_digest(event), at_millis, *_members(journaled)),
    )
    return receipt


def _receipt(
    asked: Asked, relation_id: str, digest: bytes, at_millis: int, author: Author, sequence: int
) -> RelationReceipt:
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=asked.key,
        relation_id=relation_id,
        revision=1,
        action="asserted",
        author=author,
        committed_at_millis=at_millis,
        evidence_ref=asked.operation.relation.provenance.evidence_ref,
        relation_digest=digest.hex(),
        command_digest=asked.command_digest,
        receipt_digest="",
        commit_sequence=sequence,
    )
    return digests.sealed_receipt(asked.place.workspace_id, receipt)


def _journaled(
    workspace_id: str, tip: Tip, nonce: bytes, receipt: RelationReceipt, given: RelationInput
) -> tuple[JournalHead, bytes]:
    """The journal's tip after one more entry, and the entry."""
    before = JournalHead(journal_id=tip.journal_id, sequence=tip.journal_sequence, prefix_digest=tip.prefix_digest)
    change = journal.relation_change(receipt, given)
    after = journal.extended(workspace_id, RELATIONS, before, nonce, change)
    entry = RelationEntry(
        commit_sequence=receipt.commit_sequence, nonce=nonce, prefix_digest=after.prefix_digest, change=change
    )
    return after, encode(entry)


def _members(tip: JournalHead) -> tuple[str, int, bytes]:
    return tip.journal_id, tip.sequence, tip.prefix_digest


def _pair(ref: Ref) -> tuple[bytes, int]:
    return uuid_bytes(ref.record_id), ref.revision


def _count(asked: Asked, relation_id: str, working: Working) -> None:
    """Counts both adjacency entries in the headers of their ends."""
    (number, _, keys), given = asked.place, asked.operation.relation
    for near, far, direction in (
        (given.source, given.target, Table.OUTGOING),
        (given.target, given.source, Table.INCOMING),
    ):
        key = keys.adjacency_entry(direction, near.record_id, near.revision, relation_id)
        working.count_in(
            (number, *_pair(near)), key + pack_adjacency(given.kind, far), outgoing=direction is Table.OUTGOING
        )
