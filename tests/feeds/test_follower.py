"""One follower of a stream: what it is told, when it has to go, and what becomes of one that does not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from relatum.core.access import Authority
from relatum.core.streams import RELATIONS
from relatum.errors import Refusal
from relatum.http.follower import PAGE_DELIVERIES, Follower
from relatum.http.server_state import StreamBounds
from tests.feeds.asgi import NEVER_SECONDS, RESTLESS, Host, host, run
from tests.feeds.damage import Damage
from tests.support.builders import PARTITION, START_MILLIS, assertion
from tests.support.threads import at_once

HASTY = StreamBounds(write_seconds=0.01, idle_seconds=NEVER_SECONDS)
Loss = Coroutine[Any, Any, None]
HOUR_MILLIS = 3_600_000


def _after_the_first_look(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Lets something happen once a follower has read its first page, and before it watches."""
    look = Follower.look

    async def looking(follower: Follower) -> Refusal | None:
        refused = await look(follower)
        happens()
        return refused

    monkeypatch.setattr(Follower, "look", looking)


# What it is told


def test_a_backlog_comes_in_chunks_and_later_changes_as_they_are_committed() -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            claims = [at.desk.command(assertion(first, second)) for _ in range(PAGE_DELIVERIES + 1)]
            at.ledger.submit_all(claims)
            async with at.post("changes/stream") as connection:
                assert 200 == await connection.status()
                chunks = [await connection.events() for _ in range(2)]
                assert [PAGE_DELIVERIES, 1] == [len(chunk) for chunk in chunks]
                at.desk.relate(first, second)
                chunks.append([await connection.event()])
        told = [event.data["cursor"]["sequence"] for chunk in chunks for event in chunk]
        assert list(range(1, PAGE_DELIVERIES + 3)) == told

    run(test())


def test_a_change_is_told_at_once_that_was_committed_between_the_first_look_and_the_watch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            _after_the_first_look(monkeypatch, lambda: at.desk.relate(first, second))
            async with at.post("changes/stream") as connection:
                assert 200 == await connection.status()
                assert 1 == (await connection.event()).data["cursor"]["sequence"]

    run(test())


def test_an_idle_stream_tells_where_it_stands() -> None:
    async def test() -> None:
        async with host(RESTLESS) as at:
            at.desk.relate(at.desk.create(), at.desk.create())
            async with at.post("changes/stream") as connection:
                await connection.status()
                delivery = await connection.event()
                for _ in range(3):
                    assert ("checkpoint", delivery.id, {"cursor": delivery.data["cursor"]}) == await connection.event()

    run(test())


def test_a_stream_that_is_not_active_has_no_cursor_until_it_is() -> None:
    async def test() -> None:
        async with host(RESTLESS) as at, at.post("changes/stream") as connection:
            await connection.status()
            assert ("checkpoint", "", {"cursor": None}) == await connection.event()
            tip = await at.ledger.activate_async(PARTITION, at.desk.author, RELATIONS)
            while not (event := await connection.event()).id:
                pass
            cursor = event.data["cursor"]
            assert ("checkpoint", tip.journal_id, 0) == (event.name, cursor["journal_id"], cursor["sequence"])

    run(test())


def test_a_stream_with_a_fence_ends_there() -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            at.desk.relate(first, second)
            async with at.post("changes", query={"limit": 1}) as connection:
                assert 200 == await connection.status()
                fence = (await connection.body())["page"]["high_watermark"]
            at.desk.relate(first, second)
            async with at.post("changes/stream", query={"through": fence}) as connection:
                await connection.status()
                assert fence == (await connection.event()).data["cursor"]
                assert [] == await connection.events()

    run(test())


# When it has to go


async def _revoke(at: Host) -> None:
    await at.ledger.revoke_credential(at.admin, at.consumer.credential.id, 1)


async def _rotate(at: Host) -> None:
    await at.ledger.rotate_credential(at.admin, at.consumer.credential.id, 1)


async def _take_scope(at: Host) -> None:
    await at.ledger.change_scope_authority(at.admin, at.consumer.credential.id, 1, Authority(grants=()))


def before_anybody_looks(change: Coroutine[Any, Any, None]) -> None:
    """Carries out a change while the event loop of the test stands still."""
    at_once([lambda: asyncio.run(change)])


LOSSES = [
    pytest.param(_revoke, "unauthorized", id="revoked"),
    pytest.param(_rotate, "unauthorized", id="with a new secret"),
    pytest.param(_take_scope, "forbidden", id="without the scope"),
]


@pytest.mark.parametrize(("lose", "code"), LOSSES)
def test_lost_authority_ends_an_idle_stream(lose: Callable[[Host], Loss], code: str) -> None:
    async def test() -> None:
        async with host() as at, at.post("changes/stream") as connection:
            await connection.status()
            await lose(at)
            assert ("resync", "", {"code": code}) == await connection.event()
            assert [] == await connection.events()
            await connection.ended()

    run(test())


@pytest.mark.parametrize(("lose", "code"), LOSSES)
def test_a_loss_is_effective_on_the_very_next_event_whenever_that_was_committed(
    lose: Callable[[Host], Loss], code: str
) -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            at.desk.relate(first, second)
            async with at.post("changes/stream") as connection:
                await connection.status()
                await connection.event()
                at.desk.relate(first, second)
                before_anybody_looks(lose(at))
                at.desk.relate(first, second)
                assert ("resync", "", {"code": code}) == await connection.event()

    run(test())


@pytest.mark.parametrize(("lose", "code"), LOSSES)
def test_a_loss_is_noticed_at_once_that_was_committed_between_the_first_look_and_the_watch(
    lose: Callable[[Host], Loss], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with host() as at:
            _after_the_first_look(monkeypatch, lambda: before_anybody_looks(lose(at)))
            async with at.post("changes/stream") as connection:
                assert 200 == await connection.status()
                assert ("resync", "", {"code": code}) == await connection.event()

    run(test())


def test_an_expiry_ends_an_idle_stream() -> None:
    async def test() -> None:
        async with host(RESTLESS, START_MILLIS + HOUR_MILLIS) as at, at.post("changes/stream") as connection:
            await connection.status()
            assert "checkpoint" == (await connection.event()).name
            at.clock.advance(HOUR_MILLIS)
            while (event := await connection.event()).name == "checkpoint":
                pass
            assert ("resync", "", {"code": "unauthorized"}) == event

    run(test())


def test_an_expiry_is_not_waited_for_longer_than_it_takes() -> None:
    async def test() -> None:
        async with host(expires_at_millis=START_MILLIS + 50) as at, at.post("changes/stream") as connection:
            await connection.status()
            at.clock.advance(50)
            assert "resync" == (await connection.event()).name

    run(test())


def test_a_stop_of_the_server_ends_every_stream_in_order() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes/stream") as connection:
            await connection.status()
            at.services.stop()
            assert [] == await connection.events()
            await connection.ended()
            assert not connection.aborted

    run(test())


def test_a_client_that_goes_leaves_nothing_behind() -> None:
    async def test() -> None:
        async with host() as at, at.post("changes/stream") as connection:
            await connection.status()
            assert (1, True) == (at.streams_open(), at.watching())
            connection.depart()
            await connection.ended()
            assert (0, False) == (at.streams_open(), at.watching())

    run(test())


# What becomes of it otherwise


def test_a_reader_that_does_not_read_is_cut() -> None:
    async def test() -> None:
        async with host(HASTY) as at, at.post("changes/stream") as connection:
            await connection.status()
            connection.reading.clear()
            at.desk.relate(at.desk.create(), at.desk.create())
            await connection.ended()
            assert (True, 0) == (connection.aborted, at.streams_open())

    run(test())


def test_a_journal_that_breaks_cuts_its_followers_and_tells_them_nothing() -> None:
    async def test() -> None:
        async with host() as at:
            first, second = at.desk.create(), at.desk.create()
            at.desk.relate(first, second)
            async with at.post("changes/stream") as connection:
                await connection.status()
                await connection.event()
                connection.reading.clear()
                at.desk.relate(first, second)
                Damage(at.desk, RELATIONS).alter(2, nonce=bytes(16))
                connection.reading.set()
                await connection.ended()
                assert connection.aborted
            async with at.post("changes/stream") as connection:
                assert 500 == await connection.status()

    run(test())
