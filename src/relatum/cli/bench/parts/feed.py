"""The change feed of relations: pages one after another, and how soon a follower sees what was acknowledged.

The floor of paging, in the same rounds: the web stack that decodes the same request and answers a page of 256 entries.
A latency is counted from the moment the client had read its receipt to the moment the follower had read the event, both
in one process; the event may come first, and the latency is below zero then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from statistics import median, quantiles
from time import perf_counter
from typing import Any, Final

from relatum.cli.bench.load.generator import MeasurementFailed
from relatum.cli.bench.load.job import MILLIS
from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import Desk, decoded, desk
from relatum.limits import CHANGES_PAGE_MAX

PAGE: Final = "relations/changes"
SECONDS_MAX: Final = 60.0

_HEAD_END: Final = b"\r\n\r\n"
_EVENT_END: Final = b"\n\n"
_CHANGE: Final = b'"change":{'


def measure(setting: Setting) -> Iterator[Series]:
    """Entries a second, latencies."""
    samples = Samples()
    setting.progress("feed: entries to page through")
    with desk(setting.directory("feed")) as made:
        made.answers([made.stage.ask("relations/changes/activate")])
        made.relate(setting.sized(4, 40) * CHANGES_PAGE_MAX)
        pages = list(_pages(made))
        count = len(pages) * setting.sized(5, 4)
        with made.echo(setting.scratch, ("changes", PAGE, pages[0])) as echo:
            for _ in setting.each_round("feed"):
                outcome = made.load_elsewhere(echo, pages, 1, count)
                rate = CHANGES_PAGE_MAX * outcome.rate
                samples.add("feed/floor/echo/rate", "entries/s", rate)
                samples.add("feed/floor/echo/load", "processors", outcome.processor_share)
                outcome = made.load(pages, 1, count=count)
                rate = CHANGES_PAGE_MAX * outcome.rate
                samples.add("feed/paging/rate", "entries/s", rate, floor="feed/floor/echo/rate")
                samples.add("feed/paging/load", "processors", outcome.processor_share)
                latencies = asyncio.run(_latencies(made, setting.sized(50, 300)))
                samples.add("feed/stream/p50", "ms", MILLIS * median(latencies))
                samples.add("feed/stream/p99", "ms", MILLIS * quantiles(latencies, n=100, method="inclusive")[98])
    yield from samples.series()


def _pages(made: Desk) -> Iterator[bytes]:
    """Requests for all full pages, from the first to the last."""
    after: Any = None
    while True:
        request = made.stage.ask(PAGE, query={"limit": CHANGES_PAGE_MAX, "after": after})
        page = decoded(made.answers([request])[0])["page"]
        if len(page["changes"]) < CHANGES_PAGE_MAX:
            return
        yield request
        after = page["next_cursor"]


async def _latencies(made: Desk, count: int) -> list[float]:
    """Seconds from each receipt to its event."""
    tip = decoded(made.answers([made.stage.ask(PAGE, query={"limit": 1})])[0])["page"]["high_watermark"]
    events, follower = await asyncio.open_connection(*made.served.address)
    receipts, client = await asyncio.open_connection(*made.served.address)
    try:
        async with asyncio.timeout(SECONDS_MAX):
            follower.write(made.stage.ask("relations/changes/stream", query={"after": tip}))
            await _head(events)
            return [await _latency(request, client, receipts, events) for request in made.singles(count)]
    finally:
        for one in (follower, client):
            one.close()
            await one.wait_closed()


async def _latency(
    request: bytes, client: asyncio.StreamWriter, receipts: asyncio.StreamReader, events: asyncio.StreamReader
) -> float:
    seen = asyncio.create_task(_next_event(events))
    client.write(request)
    await receipts.readexactly(await _head(receipts))
    acknowledged = perf_counter()
    return await seen - acknowledged


async def _next_event(events: asyncio.StreamReader) -> float:
    """When the next change had been read; what else a stream says is passed over."""
    while not (await events.readuntil(_EVENT_END)).count(_CHANGE):
        pass
    return perf_counter()


async def _head(answers: asyncio.StreamReader) -> int:
    """Reads the head of an answer of status 200; how many bytes follow, 0 where it does not say."""
    head = await answers.readuntil(_HEAD_END)
    if not head.startswith(b"HTTP/1.1 200"):
        raise MeasurementFailed("a request was not answered with 200")
    _, told, rest = head.partition(b"content-length: ")
    return int(rest.partition(b"\r")[0]) if told else 0
