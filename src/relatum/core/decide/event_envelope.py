"""The members that link a new event to its partition: position, chain, stamp, and its place in a stream."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from relatum.core import digests
from relatum.core.events import Head, Stamp
from relatum.core.ids import Author, Partition, uuid7
from relatum.core.streams import Stream


class Link(TypedDict):
    """Members of every event."""

    sequence: int
    previous: bytes
    committed_at_millis: int
    author: Author
    partition: Partition | None


class Journaling(TypedDict):
    """Members of an event that enters streams."""

    journal_ids: dict[Stream, str]
    nonces: tuple[bytes, ...]


class Asked(NamedTuple):
    """A command on its way: the client's name for it, what identifies it under that name, and the outside world."""

    idempotency_key: str
    command_digest: str
    stamp: Stamp


def new_id(stamp: Stamp, label: str) -> str:
    """The id of something that comes to be: the one that was given, or else a new one."""
    given = stamp.given_ids.get(label)
    return uuid7(stamp.at_millis, digests.draw(stamp.entropy, label, 10)) if given is None else given


def linked(head: Head, partition: Partition, stamp: Stamp) -> Link:
    """The event that follows `head`; the partition's first event names the partition."""
    return {
        "sequence": head.sequence + 1,
        "previous": head.event_digest,
        "committed_at_millis": stamp.at_millis,
        "author": stamp.author,
        "partition": partition if head.sequence == 0 else None,
    }


def journaling(head: Head, stamp: Stamp, *streams: Stream) -> Journaling:
    """One entry for each of `streams`, in order; a stream that wasn't active is activated."""
    journal_ids: dict[Stream, str] = {}
    for stream in streams:
        if stream not in head.streams and stream not in journal_ids:
            entropy = digests.draw(stamp.entropy, _numbered("journal", len(journal_ids)), 10)
            journal_ids[stream] = uuid7(stamp.at_millis, entropy)
    nonces = [digests.draw(stamp.entropy, _numbered("nonce", place), 16) for place in range(len(streams))]
    return {"journal_ids": journal_ids, "nonces": tuple(nonces)}


def _numbered(label: str, place: int) -> str:
    return f"{label}/{place}" if place else label
