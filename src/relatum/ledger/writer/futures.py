"""Waiting for the writer: from a thread or from an event loop, and what its outcomes are taken for."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final, TypeVar

from relatum.core.changes import JournalHead
from relatum.core.receipts import Receipt
from relatum.errors import Failure, Refusal, WritesRefused
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.submission import Outcome, Submission

T = TypeVar("T")


def decided(committer: Committer, submissions: Sequence[Submission]) -> list[Outcome]:
    """The outcomes of `submissions`, in order; blocks until they may be told.

    Raises WriteBusy or WritesRefused, which concern all of them; RuntimeError in the thread of a loop that the writer
    shares, which would wait for itself.
    """
    counted(committer, submissions)
    answered: Future[list[Outcome]] = Future()
    committer.submit(submissions, lambda ticket: answered.set_result(ticket.outcomes))
    return _certain(answered.result())


async def decided_async(committer: Committer, submissions: Sequence[Submission]) -> list[Outcome]:
    """`decided` for an event loop."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[list[Outcome]] = loop.create_future()
    mailbox = mailbox_of(loop)
    await counted_async(committer, submissions)
    committer.submit(submissions, lambda ticket: mailbox.put(answered, ticket.outcomes))
    return _certain(await answered)


def counted(committer: Committer, submissions: Sequence[Submission]) -> None:
    """Blocks until no command has to wait in the writer for the counting of its partition. Raises as `decided`."""
    committer.require_no_turns_here()
    for counting in committer.row_counter.uncounted(one.partition for one in submissions):
        counting.result()


async def counted_async(committer: Committer, submissions: Sequence[Submission]) -> None:
    """`counted` for an event loop."""
    for counting in committer.row_counter.uncounted(one.partition for one in submissions):
        await asyncio.shield(asyncio.wrap_future(counting))


class _Mailbox:
    """What waiters of one event loop are to be told. It wakes the loop once for all that has come by then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._letters: deque[tuple[asyncio.Future[list[Outcome]], list[Outcome]]] = deque()
        self._announced = False

    def put(self, waiter: asyncio.Future[list[Outcome]], outcomes: list[Outcome]) -> None:
        """From any thread."""
        self._letters.append((waiter, outcomes))
        if not self._announced:
            self._announced = True
            self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._announced = False  # IMPORTANT: first; whatever is put from now on announces itself again
        while self._letters:
            waiter, outcomes = self._letters.popleft()
            if not waiter.done():  # the client may have gone
                waiter.set_result(outcomes)


class _OfThread(threading.local):
    mailbox: _Mailbox | None = None


_HERE: Final = _OfThread()


def mailbox_of(loop: asyncio.AbstractEventLoop) -> _Mailbox:
    """The mailbox of the loop that runs in this thread."""
    mailbox = _HERE.mailbox
    if mailbox is None or mailbox.loop is not loop:
        mailbox = _HERE.mailbox = _Mailbox(loop)
    return mailbox


def merged(
    known: Sequence[Receipt | Refusal | Failure | None], fresh: Sequence[Outcome]
) -> list[Receipt | Refusal | Failure]:
    """What was known of some commands, with the outcomes of the others in the places between."""
    rest = iter(fresh)
    found: list[Receipt | Refusal | Failure] = []
    for outcome in known:
        one = next(rest) if outcome is None else outcome
        assert isinstance(one, Receipt | Refusal | Failure)
        found.append(one)
    return found


def filled(
    known: Sequence[Receipt | Refusal | Failure | None], failure: Failure | None
) -> list[Receipt | Refusal | Failure]:
    """What was known of some commands, with the failure of all others in their places, if there are others."""
    return merged(known, [] if failure is None else [failure] * len(known))


def only(outcomes: list[Outcome], kind: type[T]) -> T | Refusal:
    """The one outcome of one submission, which is of `kind` if the command was accepted. Raises its failure."""
    [outcome] = outcomes
    if isinstance(outcome, Failure):
        raise outcome
    assert isinstance(outcome, kind | Refusal)
    return outcome


def tip_of(outcomes: list[Outcome]) -> JournalHead:
    """The one outcome of an activation, which is never refused. Raises its failure."""
    tip = only(outcomes, JournalHead)
    assert isinstance(tip, JournalHead)
    return tip


def _certain(outcomes: list[Outcome]) -> list[Outcome]:
    """`outcomes`, unless the whole group is in doubt: then its failure is raised."""
    for outcome in outcomes:
        if isinstance(outcome, WritesRefused):
            raise outcome
    return outcomes
