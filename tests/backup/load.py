"""Clients that write as fast as they are answered, each in a partition of its own, and what they were told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple

import msgspec

from crash_tests.command_requests import CommandAnswer
from crash_tests.wire import Connection
from tests.http.client import RECEIPTS, RECORDS, RELATIONS, Caller, Json, provenance

SECONDS_MAX = 60.0


class Told(NamedTuple):
    """One acknowledged command: its key, its place in its partition, and its receipt as it came."""

    family: str
    key: str
    sequence: int
    receipt: bytes


class Writer:
    """One client. `told` grows while it works, in the order of the partition."""

    def __init__(self, port: int, caller: Caller, number: int) -> None:
        self.scope = {**caller.scope, "mission_id": f"mission-{number}"}
        self.secret = caller.secret
        self.told: list[Told] = []
        self._number = number
        self._connection = Connection(port, caller.secret)

    def work(self, stop: Event) -> None:
        """Records that are created, revised and deleted, and relations between them."""
        last = self._create()
        while not stop.is_set():
            new = self._create()
            given = {"source": new, "target": last, "kind": "supports", "provenance": provenance()}
            self._accept("relation", RELATIONS, {"type": "assert", "relation": given})
            if len(self.told) % 5 == 0:
                self._accept("record", RECORDS, {"type": "delete", **_at(last)})
            last = new
        self._connection.close()

    def _create(self) -> Json:
        record = {"content": f"writer {self._number}, record {len(self.told)}: " + "tide " * 40}
        receipt = self._accept("record", RECORDS, {"type": "create", "record": record})
        return {"record_id": receipt["record_id"], "revision": receipt["revision"]}

    def _accept(self, family: str, path: str, operation: Json) -> Json:
        key = f"{self._number}/{len(self.told)}"
        body = {"contract_version": 1, "scope": self.scope, "idempotency_key": key, "operation": operation}
        answer = self._connection.post(f"{path}/commands", msgspec.json.encode(body))
        assert 200 == answer.status, answer.body
        receipt = bytes(answer.decode(CommandAnswer).receipt)
        decoded: Json = msgspec.json.decode(receipt)
        self.told.append(Told(family, key, decoded["commit_sequence"], receipt))
        return decoded


def _at(record: Json) -> dict[str, Any]:
    return {"record_id": record["record_id"], "expected_revision": record["revision"]}


@contextmanager
def writing(port: int, caller: Caller, clients: int) -> Iterator[list[Writer]]:
    """So many writers at work while the block runs; one that was refused anything fails the block."""
    writers = [Writer(port, caller, number) for number in range(clients)]
    stop = Event()
    with ThreadPoolExecutor(clients) as pool:
        works: list[Future[None]] = [pool.submit(writer.work, stop) for writer in writers]
        try:
            yield writers
        finally:
            stop.set()
        for work in works:
            work.result(SECONDS_MAX)


def found_receipt(connection: Connection, writer: Writer, told: Told) -> bytes | None:
    """What a server says of a key."""
    body = {"contract_version": 1, "scope": writer.scope, "family": told.family, "idempotency_key": told.key}
    answer = connection.post(RECEIPTS, msgspec.json.encode(body))
    if answer.status == 404:
        return None
    assert 200 == answer.status, answer.body
    return bytes(answer.decode(CommandAnswer).receipt)
