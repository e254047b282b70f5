"""What reads about judgments take: the bodies of their routes (judgments.md)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.answers.judgments import Status
from relatum.core.ids import Scope
from relatum.core.kinds import RecordType
from relatum.core.text import is_blank, is_identifier
from relatum.core.wire import Closed, Uuid, canonical_uuid


def _bounded(least: int, greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": greatest, "default": default})


QueueLimit = Annotated[int, _bounded(0, limits.QUEUE_LIMIT_MAX, limits.QUEUE_LIMIT_DEFAULT)]
AnnotationsLimit = Annotated[int, _bounded(0, limits.ANNOTATIONS_MAX, limits.ANNOTATIONS_DEFAULT)]
SearchLimit = Annotated[int, _bounded(1, limits.SEARCH_LIMIT_MAX, limits.SEARCH_LIMIT_DEFAULT)]
NeedsReviewLimit = Annotated[int, _bounded(1, limits.NEEDS_REVIEW_LIMIT_MAX, limits.NEEDS_REVIEW_LIMIT_DEFAULT)]
AnnotatedIds = Annotated[tuple[Uuid, ...], Meta(extra_json_schema={"maxItems": limits.ANNOTATED_MAX})]


def _check(value: int | None, least: int, greatest: int) -> None:
    if value is not None and not least <= value <= greatest:
        raise ValueError(f"a limit lies between {least} and {greatest}")


class JudgmentsQuery(Closed, frozen=True, kw_only=True):
    """Body of `judgments/query`. Pending candidates of the age that the server resurfaces, unless told otherwise."""

    contract_version: int
    scope: Scope
    status: Status | None = None
    min_age_millis: Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": limits.I64_MAX})] | None = None
    limit: QueueLimit | None = None

    def __post_init__(self) -> None:
        _check(self.limit, 0, limits.QUEUE_LIMIT_MAX)
        _check(self.min_age_millis, 0, limits.I64_MAX)

    @property
    def candidates_max(self) -> int:
        """`limit`, or its default."""
        return limits.QUEUE_LIMIT_DEFAULT if self.limit is None else self.limit


class AnnotatedRead(Closed, frozen=True, kw_only=True):
    """Body of `records/annotated`: 1 to 20 distinct ids."""

    contract_version: int
    scope: Scope
    record_ids: AnnotatedIds
    relations_limit: AnnotationsLimit | None = None

    def __post_init__(self) -> None:
        _check(self.relations_limit, 0, limits.ANNOTATIONS_MAX)
        force_setattr(self, "record_ids", tuple(canonical_uuid(one) for one in self.record_ids))

    @property
    def relations_max(self) -> int:
        """`relations_limit`, or its default."""
        return limits.ANNOTATIONS_DEFAULT if self.relations_limit is None else self.relations_limit


class SearchQuery(Closed, frozen=True, kw_only=True):
    """Body of `records/search`."""

    contract_version: int
    scope: Scope
    text: str
    limit: SearchLimit | None = None
    relations_limit: AnnotationsLimit | None = None
    tag: str | None = None
    type: RecordType | None = None
    category: str | None = None
    fact_key: str | None = None
    topic_key: str | None = None
    source_id: str | None = None
    exclude_stale: bool | None = False

    def __post_init__(self) -> None:
        _check(self.limit, 1, limits.SEARCH_LIMIT_MAX)
        _check(self.relations_limit, 0, limits.ANNOTATIONS_MAX)

    @property
    def records_max(self) -> int:
        """`limit`, or its default."""
        return self.limit or limits.SEARCH_LIMIT_DEFAULT

    @property
    def relations_max(self) -> int:
        """`relations_limit`, or its default."""
        return limits.ANNOTATIONS_DEFAULT if self.relations_limit is None else self.relations_limit

    def problem(self) -> str | None:
        """The static rule that this query breaks, or None."""
        if is_blank(self.text):
            return "text must not be blank"
        names = (self.category, self.fact_key, self.topic_key, self.source_id)
        sound = all(name is None or is_identifier(name) for name in names)
        return None if sound else "category, fact_key, topic_key and source_id must be identifiers"


class NeedsReviewQuery(Closed, frozen=True, kw_only=True):
    """Body of `records/needs-review`."""

    contract_version: int
    scope: Scope
    limit: NeedsReviewLimit | None = None

    def __post_init__(self) -> None:
        _check(self.limit, 1, limits.NEEDS_REVIEW_LIMIT_MAX)

    @property
    def records_max(self) -> int:
        """`limit`, or its default."""
        return self.limit or limits.NEEDS_REVIEW_LIMIT_DEFAULT


class TopicSuggestion(Closed, frozen=True, kw_only=True):
    """Body of `topic-keys/suggest`."""

    contract_version: int
    scope: Scope
    title: str | None = None
    content: str
