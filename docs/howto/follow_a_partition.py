#!/usr/bin/env python3
"""Keeps an exact copy of the eligible relations of a partition in a SQLite file.

    RELATUM_CLIENT_SECRET=... python follow_a_partition.py URL SCOPE FILE [--once]

SCOPE is the JSON of a scope. With --once it stops as soon as it has caught up. It may be killed at any moment: started
again with the same file it goes on, and misses nothing. docs/howto/follow-a-partition.md tells why.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import httpx

Json = dict[str, Any]

STREAMS = ("relations", "records")
PATIENCE_MILLIS = 20_000
RETRY_SECONDS = 1.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS cursor (stream TEXT PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS relation (relation_id TEXT PRIMARY KEY, relation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS depends (record_id TEXT, relation_id TEXT, PRIMARY KEY (record_id, relation_id));
CREATE TABLE IF NOT EXISTS due (relation_id TEXT PRIMARY KEY, at_millis INTEGER NOT NULL);
"""


class HistoryLost(Exception):
    """The server does not know our cursor: it was restored from a backup. What we know may never have been."""


class Look(NamedTuple):
    """What the server says of a relation: itself if it is eligible, the records this hangs on, how long it lasts."""

    relation: Json | None
    record_ids: Iterable[str]
    until_millis: int | None


class Copy:
    """The copy. Each method that writes is one transaction, so a kill leaves the file as it was before or after it.

    `cursor`: how far each stream was applied. `due`: relations to look at again, and when. `depends`: which relations
    to look at when a record changes. Cursor and `due` move together: that is the whole secret.
    """

    def __init__(self, path: str) -> None:
        self._file = sqlite3.connect(path)
        self._file.executescript(SCHEMA)

    def cursor(self, stream: str) -> Json | None:
        """Where the next page of a stream begins."""
        row = self._file.execute("SELECT cursor FROM cursor WHERE stream = ?", (stream,)).fetchone()
        return None if row is None else json.loads(row[0])

    def apply(self, stream: str, page: Json) -> None:
        """Takes over a page: whatever it touches is due now."""
        if page["next_cursor"] is None:
            return
        with self._file:
            for delivery in page["changes"]:
                change = delivery["change"]
                if stream == "records":
                    hanging = "INSERT OR REPLACE INTO due SELECT relation_id, 0 FROM depends WHERE record_id = ?"
                    self._file.execute(hanging, (change["record_id"],))
                else:
                    self._file.execute("INSERT OR REPLACE INTO due VALUES (?, 0)", (change["relation_id"],))
            row = (stream, json.dumps(page["next_cursor"]))
            self._file.execute("INSERT OR REPLACE INTO cursor VALUES (?, ?)", row)

    def due(self, now_millis: int) -> list[str]:
        """The relations that have to be looked at again."""
        rows = self._file.execute("SELECT relation_id FROM due WHERE at_millis <= ?", (now_millis,))
        return [relation_id for (relation_id,) in rows]

    def next_due_millis(self) -> int | None:
        """When the next relation has to be looked at."""
        (at_millis,) = self._file.execute("SELECT min(at_millis) FROM due").fetchone()
        return None if at_millis is None else int(at_millis)

    def settle(self, relation_id: str, look: Look) -> None:
        """Takes over what the server says of a relation."""
        with self._file:
            self._file.execute("DELETE FROM due WHERE relation_id = ?", (relation_id,))
            self._file.execute("DELETE FROM relation WHERE relation_id = ?", (relation_id,))
            if look.relation is not None:
                self._file.execute("INSERT INTO relation VALUES (?, ?)", (relation_id, json.dumps(look.relation)))
            if look.until_millis is not None:
                self._file.execute("INSERT INTO due VALUES (?, ?)", (relation_id, look.until_millis))
            rows = [(record_id, relation_id) for record_id in look.record_ids]
            self._file.executemany("INSERT OR IGNORE INTO depends VALUES (?, ?)", rows)

    def forget(self) -> None:
        """Starts anew: the first page of a stream begins at its baseline and leads to every relation there is."""
        with self._file:
            for table in ("cursor", "relation", "depends", "due"):
                self._file.execute(f"DELETE FROM {table}")  # noqa: S608 - the names stand in the line above

    def __len__(self) -> int:
        (number,) = self._file.execute("SELECT count(*) FROM relation").fetchone()
        return int(number)


class Partition:
    """One partition of a server."""

    def __init__(self, client: httpx.AsyncClient, scope: Json) -> None:
        self._client = client
        self._scope = scope
        self._ahead_millis = 0

    def now_millis(self) -> int:
        """The server's time of day, as far as we know."""
        return time.time_ns() // 1_000_000 + self._ahead_millis

    async def page(self, stream: str, after: Json | None, wait_millis: int) -> Json:
        """What a stream tells after a cursor; waits for it if there is nothing yet."""
        query = {"after": after, "limit": 256, "wait_millis": wait_millis}
        page: Json = (await self._ask(f"{stream}/changes", query=query))["page"]
        return page

    async def look(self, relation_id: str) -> Look | None:
        """A relation and what its eligibility hangs on; None if that has changed while we looked."""
        inspection = (await self._ask("relations/inspect", relation_id=relation_id))["inspection"]
        given, verdict = inspection["relation"]["input"], inspection["eligibility"]
        self._ahead_millis += verdict["evaluated_at_millis"] - self.now_millis()
        if not verdict["eligible"]:
            # It changes back by a command on the relation, which the stream tells, or by the time of day.
            return Look(None, (), given["valid_from_millis"] if verdict["reason"] == "not_yet_valid" else None)
        ends = [given["valid_until_millis"]]
        found: set[str] = set()
        wanted = {ref["record_id"] for ref in (given["source"], given["target"], *given.get("evidence_sources", ()))}
        while wanted:
            entries = await self._records(sorted(wanted)[:100])
            if any(record is None for record in entries):
                return None
            found |= {record["record_id"] for record in entries}
            ends += [record["input"]["valid_until_millis"] for record in entries]
            sources = [ref for record in entries if record["derivation"] for ref in record["derivation"]["sources"]]
            wanted = (wanted | {ref["record_id"] for ref in sources}) - found
        return Look(inspection["relation"], found, min((end for end in ends if end is not None), default=None))

    async def _records(self, record_ids: list[str]) -> list[Any]:
        batch = (await self._ask("records/batch", record_ids=record_ids))["batch"]
        return [entry["record"] for entry in batch["entries"]]

    async def _ask(self, route: str, **members: Any) -> Json:
        """An answer, however long the server is away or busy. Reads may be repeated as often as one likes."""
        body = {"contract_version": 1, "scope": self._scope, **members}
        while True:
            try:
                response = await self._client.post(f"/api/v1/memory/{route}", json=body)
            except httpx.TransportError:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if response.status_code == 503:
                await asyncio.sleep(float(response.headers["retry-after"]))
                continue
            if response.status_code == 409:
                raise HistoryLost
            response.raise_for_status()
            answer: Json = response.json()
            return answer


async def follow(copy: Copy, partition: Partition, *, once: bool) -> None:
    """Applies both streams and looks again at whatever they touch; with `once` until there is nothing left to do."""
    polls: dict[str, asyncio.Task[Json]] = {}
    try:
        await _follow(copy, partition, polls, once=once)
    finally:
        for poll in polls.values():
            poll.cancel()
        await asyncio.gather(*polls.values(), return_exceptions=True)


async def _follow(copy: Copy, partition: Partition, polls: dict[str, asyncio.Task[Json]], *, once: bool) -> None:
    quiet: set[str] = set()
    while not (once and quiet == set(STREAMS) and not copy.due(partition.now_millis())):
        for stream in set(STREAMS) - set(polls):
            asked = partition.page(stream, copy.cursor(stream), 0 if once else PATIENCE_MILLIS)
            polls[stream] = asyncio.create_task(asked)
        await asyncio.wait(polls.values(), timeout=_pause(copy, partition), return_when=asyncio.FIRST_COMPLETED)
        for stream in [stream for stream, poll in polls.items() if poll.done()]:
            page = polls.pop(stream).result()
            copy.apply(stream, page)
            quiet = quiet - {stream} if page["changes"] else quiet | {stream}
        for relation_id in copy.due(partition.now_millis()):
            look = await partition.look(relation_id)
            if look is not None:  # else it stays due
                copy.settle(relation_id, look)


def _pause(copy: Copy, partition: Partition) -> float | None:
    due_millis = copy.next_due_millis()
    return None if due_millis is None else max(0.0, (due_millis - partition.now_millis()) / 1000)


async def main(url: str, scope: str, path: str, *, once: bool) -> None:
    """Follows for ever, or once."""
    copy = Copy(path)
    headers = {"Authorization": f"Bearer {os.environ['RELATUM_CLIENT_SECRET']}"}
    timeout = PATIENCE_MILLIS / 1000 + 10
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, trust_env=False) as client:
        while True:
            try:
                await follow(copy, Partition(client, json.loads(scope)), once=once)
            except HistoryLost:
                copy.forget()
            else:
                sys.stdout.write(f"{len(copy)} eligible relations\n")
                return


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], once="--once" in sys.argv[4:]))
