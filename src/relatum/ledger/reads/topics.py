"""A topic key for a record that has none yet: deterministic, of its own words (judgments.md, topic keys)."""

from __future__ import annotations

from collections.abc import Iterable

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.annotated import NearbyTopic, TopicOccupant
from relatum.core.eligibility import Evaluator
from relatum.core.state import RecordVersion
from relatum.core.text import is_blank, utf8_length
from relatum.core.topic_keys import topic_key
from relatum.core.wire import Closed
from relatum.errors import Refusal, invalid
from relatum.ledger.reads.records import payload_of
from relatum.store.partition import PartitionReader


class TopicSuggested(Closed, frozen=True, kw_only=True):
    """A key, or the reason why there is none; who holds its slot; topics nearby."""

    topic_key: str | None
    reason: str | None
    occupied: bool
    occupant: TopicOccupant | None
    nearby: tuple[NearbyTopic, ...]


def suggest(
    partition: PartitionReader,
    now_millis: int,
    title: str | None,
    content: str,
    resembling: Iterable[str],
) -> TopicSuggested | Refusal:
    """A key of the first telling words of the title, or of the content where the title has none.

    `resembling` are records that resemble the content, the most similar first.
    """
    if is_blank(content) or utf8_length(content) > limits.CONTENT_BYTES_MAX:
        return invalid("content must be 1 byte to 48 KiB and not blank")
    if title is not None and utf8_length(title) > limits.TITLE_BYTES_MAX:
        return invalid("title must be at most 200 bytes")
    key = topic_key(title or "", content)
    holder = partition.topic_holder(key) if key else None
    evaluator = Evaluator(partition, now_millis)
    return TopicSuggested(
        topic_key=key,
        reason=None if key else "neither title nor content has a telling word",
        occupied=holder is not None,
        occupant=None if holder is None else _occupant(partition, evaluator, holder),
        nearby=_nearby(partition, evaluator, key, resembling),
    )


def _occupant(partition: PartitionReader, evaluator: Evaluator, record_id: str) -> TopicOccupant | None:
    version = partition.record(record_id)
    if version is None:
        return None
    payload = payload_of(partition, version.meta) if _is_given(evaluator, version) else None
    return TopicOccupant(
        record_id=record_id, revision=version.meta.revision, title=None if payload is None else payload.title
    )


def _nearby(
    partition: PartitionReader, evaluator: Evaluator, key: str | None, resembling: Iterable[str]
) -> tuple[NearbyTopic, ...]:
    found: list[NearbyTopic] = []
    for record_id in resembling:
        topic, version = partition.topic_of_record(record_id), partition.record(record_id)
        if topic is not None and topic != key and version is not None and _is_given(evaluator, version):
            found.append(NearbyTopic(topic_key=topic, record_id=record_id))
        if len(found) == limits.NEARBY_TOPICS_MAX:
            break
    return tuple(found)


def _is_given(evaluator: Evaluator, version: RecordVersion) -> bool:
    """Whether a reader is given a record; not where the dependency budget of the request is used up."""
    try:
        return evaluator.is_eligible(version)
    except DependencyBudgetExhausted:
        return False
