"""Reads of records besides themselves: queries, search, status, what needs review, topics (judgments.md, views.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Unpack

from relatum.client.asynchronous.pages import AsyncPages, next_cursor
from relatum.client.asynchronous.stream import AsyncStream
from relatum.client.requests import MEMORY, VERSION, CallOptions, CommandOptions
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.annotated import (
    AnnotatedAnswer,
    AnnotatedRecord,
    ConfirmAnswer,
    ConfirmedRecord,
    FoundRecord,
    NeedsReviewAnswer,
    SearchAnswer,
    TopicSuggestionAnswer,
)
from relatum.core.answers.feeds import RecordChange
from relatum.core.answers.records import Record, RecordPage, RecordQueryAnswer
from relatum.core.answers.views import StatusAnswer, ValidateAnswer
from relatum.core.ids import Scope
from relatum.core.judgment_queries import AnnotatedRead, NeedsReviewQuery, SearchQuery, TopicSuggestion
from relatum.core.judgments import ConfirmationInput, ConfirmCommand
from relatum.core.kinds import RecordType
from relatum.core.queries import Order, RecordFilter, RecordQuery
from relatum.core.view_queries import CurrentSource, StatusQuery, ValidateQuery

_PATH: Final = f"{MEMORY}/records"


class AsyncRecordViews(AsyncStream[RecordChange]):
    """What can be asked about many records, and said about their truth."""

    def list(
        self,
        *,
        text: str | None = None,
        tag: str | None = None,
        type: RecordType | None = None,  # noqa: A002 - the name on the wire
        category: str | None = None,
        fact_key: str | None = None,
        topic_key: str | None = None,
        source_id: str | None = None,
        limit: int | None = None,
        scan_limit: int | None = None,
        order: Order = "created_desc",
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[Record]:
        """Eligible records that agree with every member given, over all pages; `cursor` begins at a later one."""

        async def fetch(after: str | None) -> RecordPage:
            query = RecordFilter(
                limit=limit,
                scan_limit=scan_limit,
                order=order,
                cursor=after,
                text=text,
                tag=tag,
                type=type,
                category=category,
                fact_key=fact_key,
                topic_key=topic_key,
                source_id=source_id,
            )
            found = await self._read(
                f"{_PATH}/query",
                lambda scope: RecordQuery(contract_version=VERSION, scope=scope, filter=query),
                RecordQueryAnswer,
                options,
            )
            return found.page

        return AsyncPages(fetch, lambda page: page.records, next_cursor, cursor)

    async def annotated(
        self,
        record_ids: Iterable[RecordAt | str],
        *,
        relations_limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> tuple[AnnotatedRecord | None, ...]:
        """1 to 20 records with what judgments say of them, in order; None for what is not served."""
        ids = tuple(map(id_of, record_ids))
        found = await self._read(
            f"{_PATH}/annotated",
            lambda scope: AnnotatedRead(
                contract_version=VERSION, scope=scope, record_ids=ids, relations_limit=relations_limit
            ),
            AnnotatedAnswer,
            options,
        )
        return found.records

    async def search(
        self,
        text: str,
        *,
        limit: int | None = None,
        relations_limit: int | None = None,
        tag: str | None = None,
        type: RecordType | None = None,  # noqa: A002 - the name on the wire
        category: str | None = None,
        fact_key: str | None = None,
        topic_key: str | None = None,
        exclude_stale: bool = False,
        **options: Unpack[CallOptions],
    ) -> tuple[FoundRecord, ...]:
        """Eligible, current records by their words, best first, with what judgments say of them."""

        def body(scope: Scope) -> SearchQuery:
            return SearchQuery(
                contract_version=VERSION,
                scope=scope,
                text=text,
                limit=limit,
                relations_limit=relations_limit,
                tag=tag,
                type=type,
                category=category,
                fact_key=fact_key,
                topic_key=topic_key,
                exclude_stale=exclude_stale,
            )

        return (await self._read(f"{_PATH}/search", body, SearchAnswer, options)).records

    async def status(
        self,
        record_ids: Iterable[RecordAt | str] | None = None,
        *,
        filter: RecordFilter | None = None,  # noqa: A002 - the name on the wire
        current_sources: Iterable[CurrentSource] | None = None,
        **options: Unpack[CallOptions],
    ) -> StatusAnswer:
        """Whether records are unverified, stale or in conflict: 1 to 100 of them, or a page of a filter."""
        ids = None if record_ids is None else tuple(map(id_of, record_ids))
        sources = None if current_sources is None else tuple(current_sources)
        return await self._read(
            f"{_PATH}/status",
            lambda scope: StatusQuery(
                contract_version=VERSION, scope=scope, record_ids=ids, filter=filter, current_sources=sources
            ),
            StatusAnswer,
            options,
        )

    async def validate(
        self, *, source_id: str | None = None, current_source_hash: str | None = None, **options: Unpack[CallOptions]
    ) -> ValidateAnswer:
        """Which records are stale or in conflict: those of one source, or all. Changes nothing."""
        return await self._read(
            f"{_PATH}/validate",
            lambda scope: ValidateQuery(
                contract_version=VERSION, scope=scope, source_id=source_id, current_source_hash=current_source_hash
            ),
            ValidateAnswer,
            options,
        )

    async def needs_review(self, limit: int | None = None, **options: Unpack[CallOptions]) -> NeedsReviewAnswer:
        """Records that should be looked at again, the most urgent first, and how many there are."""
        return await self._read(
            f"{_PATH}/needs-review",
            lambda scope: NeedsReviewQuery(contract_version=VERSION, scope=scope, limit=limit),
            NeedsReviewAnswer,
            options,
        )

    async def suggest_topic_key(
        self, content: str, *, title: str | None = None, **options: Unpack[CallOptions]
    ) -> TopicSuggestionAnswer:
        """A topic key for a record that has none, who holds it, and topics nearby."""
        return await self._read(
            f"{MEMORY}/topic-keys/suggest",
            lambda scope: TopicSuggestion(contract_version=VERSION, scope=scope, title=title, content=content),
            TopicSuggestionAnswer,
            options,
        )

    async def confirm(
        self, confirmations: Iterable[ConfirmationInput], **options: Unpack[CommandOptions]
    ) -> tuple[ConfirmedRecord, ...]:
        """Say of 1 to 20 records that they are true or false, all or nothing. Raises RecordNotFound."""
        given = tuple(confirmations)

        def body(scope: Scope, key: str) -> ConfirmCommand:
            return ConfirmCommand(contract_version=VERSION, scope=scope, idempotency_key=key, confirmations=given)

        found = await self._command(f"{_PATH}/confirm", "judgment", body, ConfirmAnswer, options)
        return found.confirmations
