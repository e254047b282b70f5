"""Pages that wait for a commit: without a slot, woken by the commit itself, and no longer than asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from relatum.limits import CHANGES_WAIT_MILLIS_MAX
from tests.feeds.asgi import Host, host, run
from tests.support.builders import PARTITION

PATIENCE = {"limit": 10, "wait_millis": CHANGES_WAIT_MILLIS_MAX}


async def waiting(at: Host) -> None:
    """Returns once a page waits and holds no slot."""
    while not at.watching() or at.services.slots.taken:  # noqa: ASYNC110 - nobody is told when a slot is given back
        await asyncio.sleep(0)


def test_a_page_waits_for_a_commit_without_a_slot() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query=PATIENCE) as connection:
            await waiting(at)
            first, second = at.desk.create(), at.desk.create()
            claim = at.desk.relate(first, second)
            assert 200 == await connection.status()
            [delivery] = (await connection.body())["page"]["changes"]
            assert claim.relation_id == delivery["change"]["relation_id"]

    run(test())


def test_a_commit_of_the_other_stream_is_not_what_is_waited_for() -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            await at.ledger.activate_async(PARTITION, at.desk.author, "typed_memory_relations")
            async with at.post("changes", query=PATIENCE) as connection:
                await waiting(at)
                at.desk.create()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(connection.status(), 0.05)
                at.desk.relate(first, second)
                assert 200 == await connection.status()

    run(test())


def test_a_commit_of_the_other_stream_asks_for_no_slot() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query=PATIENCE) as connection:
            await waiting(at)
            assert at.services.slots.take()
            first, second = at.desk.create(), at.desk.create()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.status(), 0.05)
            at.services.slots.give_back()
            at.desk.relate(first, second)
            assert 200 == await connection.status()

    run(test())


def test_a_wait_in_vain_ends_with_an_empty_page() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query={"limit": 1, "wait_millis": 1}) as connection:
            assert 200 == await connection.status()
            assert [] == (await connection.body())["page"]["changes"]

    run(test())


def test_nothing_is_waited_for_where_there_is_something_or_nothing_can_come() -> None:
    async def test() -> None:
        async with host() as at:
            at.desk.relate(at.desk.create(), at.desk.create())
            async with at.post("changes", query=PATIENCE) as connection:
                assert 200 == await connection.status()
                tip = (await connection.body())["page"]["high_watermark"]
            async with at.post("changes", query={**PATIENCE, "after": tip, "through": tip}) as connection:
                assert 200 == await connection.status()
                assert (await connection.body())["page"]["complete"]

    run(test())


def test_a_page_that_wakes_when_no_slot_is_free_is_refused() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query=PATIENCE) as connection:
            await waiting(at)
            assert at.services.slots.take()
            at.desk.relate(at.desk.create(), at.desk.create())
            assert 503 == await connection.status()
            assert "retrieval_busy" == (await connection.body())["error"]["code"]
            at.services.slots.give_back()

    run(test())


def test_what_was_revoked_meanwhile_is_not_answered() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query=PATIENCE) as connection:
            await waiting(at)
            await at.ledger.revoke_credential(at.admin, at.consumer.credential.id, 1)
            at.desk.relate(at.desk.create(), at.desk.create())
            assert 401 == await connection.status()

    run(test())


def test_a_stop_of_the_server_ends_the_wait() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query=PATIENCE) as connection:
            await waiting(at)
            at.services.stop()
            assert 200 == await connection.status()
            assert not (await connection.body())["page"]["changes"]

    run(test())


@pytest.mark.parametrize(
    ("query", "beside", "status"),
    [
        ({"wait_millis": 0}, {}, 200),
        ({"wait_millis": None}, {}, 200),
        ({}, {"wait_millis": 1}, 200),
        ({"wait_millis": CHANGES_WAIT_MILLIS_MAX + 1}, {}, 400),
        ({"wait_millis": -1}, {}, 400),
        ({}, {"wait_millis": CHANGES_WAIT_MILLIS_MAX + 1}, 400),
        ({"wait_millis": 1.5}, {}, 400),
    ],
)
def test_a_wait_is_0_to_30000_milliseconds_in_the_query_or_beside_it(
    query: dict[str, Any], beside: dict[str, Any], status: int
) -> None:
    async def test() -> None:
        async with host() as at, at.post("changes", query={"limit": 1, **query}, **beside) as connection:
            assert status == await connection.status()

    run(test())
