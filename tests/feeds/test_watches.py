"""Watches: woken by their own workspaces alone, never too late, and not at all once the server ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from relatum.core import digests
from relatum.http.subscriptions import Watches
from relatum.ledger import Ledger
from tests.feeds.asgi import NEVER_SECONDS, run
from tests.support.builders import PARTITION, PRIVATE
from tests.support.desk import Desk

OWN = digests.workspace_id(PARTITION)
OTHER = digests.workspace_id(PRIVATE)
AT_ONCE = 0.0


@contextmanager
def watched() -> Iterator[tuple[Ledger, Watches]]:
    with Ledger.in_memory() as ledger:
        watches = Watches(ledger)
        yield ledger, watches
        watches.end()
        assert not watches._watching


def test_a_commit_wakes_those_who_watch_its_workspace() -> None:
    async def test() -> None:
        with watched() as (ledger, watches), watches.watch(OWN) as own, watches.watch(OTHER) as other:
            Desk(ledger).create()
            assert await own.moved(NEVER_SECONDS)
            assert not await other.moved(AT_ONCE)
            assert not await own.moved(AT_ONCE), "one commit is told once"

    run(test())


def test_one_watch_covers_several_workspaces() -> None:
    async def test() -> None:
        with watched() as (ledger, watches), watches.watch(OWN, OTHER) as both:
            Desk(ledger, PRIVATE).create()
            assert await both.moved(NEVER_SECONDS)
            Desk(ledger).create()
            assert await both.moved(NEVER_SECONDS)

    run(test())


def test_commits_nobody_has_waited_for_yet_are_told_together() -> None:
    async def test() -> None:
        with watched() as (ledger, watches), watches.watch(OWN) as own:
            for _ in range(3):
                Desk(ledger).create()
            with watches.watch(OTHER) as other:
                Desk(ledger, PRIVATE).create()
                assert await other.moved(NEVER_SECONDS), "which is rung after the three"
            assert await own.moved(AT_ONCE)
            assert not await own.moved(AT_ONCE)

    run(test())


def test_nobody_waits_once_the_server_ends() -> None:
    async def test() -> None:
        with watched() as (_, watches), watches.watch(OWN) as before:
            watches.end()
            with watches.watch(OWN) as after:
                for watch in (before, after):
                    assert watch.ended
                    assert await watch.moved(NEVER_SECONDS)

    run(test())


def test_a_commit_after_the_end_of_the_loop_disturbs_nobody() -> None:
    with Ledger.in_memory() as ledger:
        watches = Watches(ledger)

        async def leave_open() -> None:
            watches.watch(OWN).__enter__()

        run(leave_open())
        Desk(ledger).create()
        Desk(ledger).create()
