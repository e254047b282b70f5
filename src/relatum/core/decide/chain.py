"""The members that link a new event to its partition: position, chain, stamp, and its place in a stream."""

from __future__ import annotations

from typing import TypedDict

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


def linked(head: Head, partition: Partition, stamp: Stamp) -> Link:
    """The event that follows `head`; the partition's first event names the partition."""
    return Link(
        sequence=head.sequence + 1,
        previous=head.event_digest,
        committed_at_millis=stamp.at_millis,
        author=stamp.author,
        partition=partition if head.sequence == 0 else None,
    )


def journaling(head: Head, stream: Stream, stamp: Stamp) -> Journaling:
    """One entry in `stream`, which is activated if it wasn't."""
    journal_ids: dict[Stream, str] = {}
    if stream not in head.streams:
        journal_ids[stream] = uuid7(stamp.at_millis, digests.draw(stamp.entropy, "journal", 10))
    return Journaling(journal_ids=journal_ids, nonces=(digests.draw(stamp.entropy, "nonce", 16),))
