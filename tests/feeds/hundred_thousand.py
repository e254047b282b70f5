"""Many commands in one partition, over the wire: the pages tell each of them once, in order, and the chain holds.

    python -m tests.feeds.hundred_thousand [COMMANDS]

100,000 commands unless told otherwise, half of them on records and half on relations.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from relatum.core.ids import Scope, memory_partition
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.ledger import Ledger
from relatum.limits import CHANGES_PAGE_MAX, COMMAND_BATCH_MAX
from tests.feeds import chain
from tests.feeds.wire import Feed, follower_of
from tests.http import client
from tests.http.client import Api, Caller, Json, relation
from tests.http.serving import Server, initialise

COMMANDS = 100_000
COMPANY = "acme"
PATHS: dict[Stream, str] = {RECORDS: client.RECORDS, RELATIONS: client.RELATIONS}


class Told(NamedTuple):
    """What one stream told, and the receipts of what was to be told."""

    receipts: list[Json]
    baseline: Json
    deliveries: list[Json]
    pages: int


def main(directory: Path, commands: int) -> None:
    """Raises unless everything is as it has to be."""
    started = perf_counter()
    secret = initialise(directory, COMPANY)
    with Server(directory) as server, Api(server.url) as api:
        caller = follower_of(Caller(api, secret))
        receipts = load(caller, commands)
        _say(f"{commands} commands accepted", started)
        told = {stream: page_through(Feed(caller, path), receipts[stream]) for stream, path in PATHS.items()}
        server.stop()
    _say(f"{sum(one.pages for one in told.values())} pages of at most {CHANGES_PAGE_MAX} read", started)
    for stream, one in told.items():
        require_each_once(one)
        workspace = chain.workspace_id(COMPANY, caller.scope)
        checked = chain.check(workspace, one.baseline, one.deliveries, nonces(directory, caller.scope, stream))
        assert checked == len(one.receipts) > 0
        _say(f"{checked} links of {stream} checked", started)


def load(caller: Caller, commands: int) -> dict[Stream, list[Json]]:
    """Commands in batches, half of them on each stream; their receipts in the order of their commits."""
    created = {"type": "create", "record": {"content": "one of many"}}
    first = _submit(caller, RECORDS, created, 2)
    asserted = {"type": "assert", "relation": relation(*(client.ref(receipt) for receipt in first))}
    rest = commands - commands // 2
    return {
        RECORDS: first + _submit(caller, RECORDS, created, commands // 2 - len(first)),
        RELATIONS: _submit(caller, RELATIONS, asserted, rest),
    }


def _submit(caller: Caller, stream: Stream, operation: Json, number: int) -> list[Json]:
    receipts: list[Json] = []
    while len(receipts) < number:
        size = min(COMMAND_BATCH_MAX, number - len(receipts))
        batch = [{"idempotency_key": client.fresh("key"), "operation": operation} for _ in range(size)]
        answer = caller.ask(f"{PATHS[stream]}/commands/batch", commands=batch)
        receipts += [result["receipt"] for result in answer.json()["results"]]
    return receipts


def page_through(feed: Feed, receipts: list[Json]) -> Told:
    """A whole stream, page by page."""
    page = feed.page(limit=CHANGES_PAGE_MAX)
    told = Told(receipts, page["baseline"], page["changes"], 1)
    while not page["complete"]:
        page = feed.page(limit=CHANGES_PAGE_MAX, after=page["next_cursor"])
        told = told._replace(pages=told.pages + 1)
        told.deliveries.extend(page["changes"])
    return told


def require_each_once(told: Told) -> None:
    """Every receipt is told by one delivery, in the order of the commits."""
    assert all(one["commit_sequence"] < next_["commit_sequence"] for one, next_ in pairwise(told.receipts))
    assert [receipt["receipt_digest"] for receipt in told.receipts] == [
        delivery["change"]["receipt_digest"] for delivery in told.deliveries
    ]


def nonces(directory: Path, scope: Json, stream: Stream) -> Iterator[bytes]:
    """The nonces of a stream's entries, which only the store knows. The server has stopped."""
    partition = memory_partition(COMPANY, "", Scope(**scope))
    with Ledger.open(directory) as ledger, ledger.view() as view:
        for _, entry in view.partition(partition).entries(stream, 0):
            yield entry.nonce


def _say(what: str, started: float) -> None:
    sys.stdout.write(f"{perf_counter() - started:7.1f} s  {what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "store", int(sys.argv[1]) if len(sys.argv) > 1 else COMMANDS)
