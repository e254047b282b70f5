"""Pages of the change streams, and their activation (feeds.md, pages and journals).

A page with nothing to deliver may wait for a commit: without a slot, and woken by the writer alone. Whatever it answers
then, the caller is let in for once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Final, NamedTuple

from msgspec import Struct

from relatum.core import digests, journal
from relatum.core.answers.feeds import ActivationAnswer, Change, Page, RecordChangesAnswer, RelationChangesAnswer
from relatum.core.feeds import ActivationBody, ChangesBody
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import Refusal
from relatum.http import errors
from relatum.http.authority import refusal_now
from relatum.http.responses import encoded
from relatum.http.routes import Handler, Route, needing
from relatum.http.server_state import Call, partition_of, reader_of
from relatum.http.subscriptions import Watch
from relatum.ledger.reads import changes
from relatum.limits import CONTRACT_VERSION

PATHS: Final[dict[Stream, str]] = {RELATIONS: "/api/v1/memory/relations", RECORDS: "/api/v1/memory/records"}
"""What the routes of a stream begin with."""


class _Read(NamedTuple):
    """A page, and the answer as JSON."""

    page: Page[Change]
    answer: bytes


def paging(stream: Stream, answer: Callable[..., Struct]) -> Handler[ChangesBody]:
    """The handler of `changes`; `answer` makes its answers."""

    def read(call: Call[ChangesBody]) -> _Read | Refusal:
        query, scope = call.body.query, call.body.scope
        with call.ledger.view() as view:
            refused = refusal_now(view, call.credential, scope, "memory_read")
            found = refused or changes.page(reader_of(call, view), stream, query, query.limit)
        if isinstance(found, Refusal):
            return found
        return _Read(found, encoded(answer(contract_version=CONTRACT_VERSION, scope=scope, page=found)))

    async def handle(call: Call[ChangesBody]) -> bytes | Refusal:
        deadline = monotonic() + call.body.patience_millis / 1000
        with call.services.watches.watch(digests.workspace_id(partition_of(call))) as watch:
            while True:
                found = await call.services.in_thread(lambda: read(call))
                if isinstance(found, Refusal):
                    return found
                late = monotonic() >= deadline
                if found.page.changes or call.body.query.through is not None or late or watch.ended:
                    return found.answer
                call.lease.give_back()
                await _moved_on(call, stream, found.page, watch, deadline)
                if not call.lease.take():
                    return errors.BUSY

    return handle


async def _moved_on(call: Call[ChangesBody], stream: Stream, seen: Page[Change], watch: Watch, deadline: float) -> None:
    """Returns once the stream has moved beyond the page, or there is no point in waiting any longer.

    What else the partition commits is passed over here, on the event loop: it is worth no slot, and none may be free.
    """
    sequence = None if seen.high_watermark is None else seen.high_watermark.sequence
    while await watch.moved(deadline - monotonic()) and not watch.ended:
        with call.ledger.view() as view:
            tip = reader_of(call, view).head().streams.get(stream)
        if tip is not None and tip.sequence != sequence:
            return


def activating(stream: Stream) -> Handler[ActivationBody]:
    """The handler of `changes/activate`."""

    async def handle(call: Call[ActivationBody]) -> ActivationAnswer:
        partition = partition_of(call)
        tip = await call.ledger.activate_async(partition, call.credential.author, stream)
        opened = journal.opened(digests.workspace_id(partition), stream, tip.journal_id)
        return ActivationAnswer(
            contract_version=CONTRACT_VERSION, scope=call.body.scope, baseline=journal.cursor(stream, opened)
        )

    return handle


def _routes(stream: Stream, answer: type[Struct], noun: str) -> Iterator[Route[Any]]:
    yield Route(
        path=f"{PATHS[stream]}/changes",
        tag="feeds",
        summary=f"Read changes of {noun} in the order of their commits, page by page",
        access=needing("memory_read"),
        takes=ChangesBody,
        answers=answer,
        handle=paging(stream, answer),
        slot=True,
        refuses=("invalid_request", "journal_history_conflict"),
    )
    yield Route(
        path=f"{PATHS[stream]}/changes/activate",
        tag="feeds",
        summary=f"Make the stream of {noun} active before its first change",
        access=needing("memory_read", "memory_write"),
        takes=ActivationBody,
        answers=ActivationAnswer,
        handle=activating(stream),
        slot=True,
        writes=True,
    )


ROUTES: Final = (
    *_routes(RELATIONS, RelationChangesAnswer, "relations"),
    *_routes(RECORDS, RecordChangesAnswer, "records"),
)
