"""How waiters of an event loop are told: each its own outcomes, none of them lost, whoever of them has gone."""

from __future__ import annotations

import asyncio
from threading import Thread
from unittest.mock import patch

from relatum.errors import Refusal, missing
from relatum.ledger.writer.futures import mailbox_of
from relatum.ledger.writer.submission import Outcome

WAITERS = 2000
SOON = 60.0


def test_every_waiter_gets_its_own_outcomes_from_several_threads_at_once() -> None:
    async def main() -> list[list[Outcome]]:
        loop = asyncio.get_running_loop()
        mailbox = mailbox_of(loop)
        waiters: list[asyncio.Future[list[Outcome]]] = [loop.create_future() for _ in range(WAITERS)]
        outcomes: list[list[Outcome]] = [[Refusal("not_found", str(number), 404)] for number in range(WAITERS)]

        def tell(part: int) -> None:
            for number in range(part, WAITERS, 4):
                mailbox.put(waiters[number], outcomes[number])

        threads = [Thread(target=tell, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        async with asyncio.timeout(SOON):
            told = await asyncio.gather(*waiters)
        for thread in threads:
            thread.join(SOON)
        assert told == outcomes
        return told

    assert WAITERS == len(asyncio.run(main()))


def test_a_waiter_that_has_gone_costs_the_others_nothing() -> None:
    async def main() -> list[Outcome]:
        loop = asyncio.get_running_loop()
        gone: asyncio.Future[list[Outcome]] = loop.create_future()
        there: asyncio.Future[list[Outcome]] = loop.create_future()
        gone.cancel()
        mailbox = mailbox_of(loop)
        mailbox.put(gone, [missing()])
        mailbox.put(there, [missing()])
        async with asyncio.timeout(SOON):
            return await there

    assert [missing()] == asyncio.run(main())


def test_the_loop_is_woken_once_for_what_has_come_by_then() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        waiters: list[asyncio.Future[list[Outcome]]] = [loop.create_future() for _ in range(10)]
        mailbox = mailbox_of(loop)
        with patch.object(mailbox, "loop", wraps=loop) as watched:
            for waiter in waiters:
                mailbox.put(waiter, [])
        async with asyncio.timeout(SOON):
            await asyncio.gather(*waiters)
        return watched.call_soon_threadsafe.call_count

    assert 1 == asyncio.run(main())
