"""Waiting for the writer: from a thread or from an event loop, and what its outcomes are taken for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TypeVar

from relatum.errors import Failure, Refusal, WritesRefused
from relatum.writer.committer import Committer
from relatum.writer.submission import Outcome, Submission, Ticket

T = TypeVar("T")


def decided(committer: Committer, submissions: Sequence[Submission]) -> list[Outcome]:
    """The outcomes of `submissions`, in order; blocks until they may be told.

    Raises WriteBusy or WritesRefused, which concern all of them.
    """
    answered: Future[list[Outcome]] = Future()
    committer.submit(submissions, lambda ticket: answered.set_result(ticket.outcomes))
    return _certain(answered.result())


async def decided_async(committer: Committer, submissions: Sequence[Submission]) -> list[Outcome]:
    """`decided` for an event loop."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[list[Outcome]] = loop.create_future()

    def resolve(outcomes: list[Outcome]) -> None:
        if not answered.done():  # the client may have gone
            answered.set_result(outcomes)

    def tell(ticket: Ticket) -> None:
        loop.call_soon_threadsafe(resolve, ticket.outcomes)

    committer.submit(submissions, tell)
    return _certain(await answered)


def only(outcomes: list[Outcome], kind: type[T]) -> T | Refusal:
    """The one outcome of one submission, which is of `kind` if the command was accepted. Raises its failure."""
    [outcome] = outcomes
    if isinstance(outcome, Failure):
        raise outcome
    assert isinstance(outcome, kind | Refusal)
    return outcome


def _certain(outcomes: list[Outcome]) -> list[Outcome]:
    """`outcomes`, unless the whole group is in doubt: then its failure is raised."""
    for outcome in outcomes:
        if isinstance(outcome, WritesRefused):
            raise outcome
    return outcomes
