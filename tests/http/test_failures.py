"""What a client is told when something breaks: in one process, on a disk that can be made to fail or to wait."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from relatum.clock import ManualClock
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.openapi.document import document
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.server_state import Pages, Services
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from relatum.telemetry import Log
from tests.http.client import ABSENT, CREDENTIALS, IDENTITY, RECORDS, Json, refusal, scope
from tests.http.described import Described
from tests.support.builders import START_MILLIS
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import TrialStore, database_on

DOCUMENT = document((*ROUTES, METRICS_ROUTE))


@dataclass(frozen=True)
class Desk:
    """A served ledger on a trial disk, and somebody who may do everything at one scope."""

    store: TrialStore
    clock: ManualClock
    services: Services
    client: httpx.AsyncClient
    scope: Json
    secret: str
    admin_secret: str
    lines: io.StringIO

    async def send(self, method: str, path: str, secret: str | None = None, **arguments: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {secret or self.secret}"}
        async with asyncio.timeout(WAIT_SECONDS):
            response = await self.client.request(method, path, headers=headers, **arguments)
        Described(DOCUMENT).judge(response)
        return response

    async def ask(self, path: str, **members: Any) -> httpx.Response:
        return await self.send("POST", path, json={"contract_version": 1, "scope": self.scope, **members})

    async def create(self, key: str) -> httpx.Response:
        operation = {"type": "create", "record": {"content": "c"}}
        return await self.ask(f"{RECORDS}/commands", idempotency_key=key, operation=operation)


@asynccontextmanager
async def desk(queue_commands_max: int = 64) -> AsyncIterator[Desk]:
    store, clock, lines, at = TrialStore(), ManualClock(START_MILLIS), io.StringIO(), scope()
    log = Log(lines, clock.millis)
    ledger = Ledger(database_on(store), clock=clock, log=log, queue_commands_max=queue_commands_max)
    admin = ledger.bootstrap("acme", "root")
    assert not isinstance(admin, Refusal)
    services = Services(ledger, log, Pages(b"{}", b""), slots_max=8, read_threads=1)
    app = application((*ROUTES, METRICS_ROUTE), services)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://relatum") as client:
        made = Desk(store, clock, services, client, at, "", admin.secret, lines)
        spec = {
            "subject_id": "ada",
            "capabilities": ["memory_read", "memory_write", "memory_review"],
            "grants": [at],
            "expires_at_millis": START_MILLIS + 60_000,
        }
        body = {"contract_version": 1, "spec": spec}
        issued = await made.send("POST", CREDENTIALS, admin.secret, json=body)
        yield Desk(store, clock, services, client, at, issued.json()["secret"], admin.secret, lines)
    store.release()
    services.close()
    ledger.close(WAIT_SECONDS)


def run(test: Callable[[Desk], Awaitable[None]], queue_commands_max: int = 64) -> None:
    async def whole() -> None:
        async with desk(queue_commands_max) as made:
            await test(made)

    asyncio.run(whole())


def test_after_a_failed_sync_commands_are_503_reads_go_on_and_readiness_says_why() -> None:
    async def test(desk: Desk) -> None:
        kept = (await desk.create("kept")).json()["receipt"]
        desk.store.fail()
        for key in ("in doubt", "after"):
            assert (503, "storage_unavailable") == refusal(await desk.create(key))
        assert 200 == (await desk.ask(f"{RECORDS}/read", record_id=kept["record_id"])).status_code
        assert kept == (await desk.create("kept")).json()["receipt"]
        ready = await desk.send("GET", "/ready")
        assert (503, "poisoned") == (ready.status_code, ready.json()["status"])
        assert 200 == (await desk.send("GET", "/health")).status_code
        batch = await desk.ask(f"{RECORDS}/commands/batch", commands=[_item("a"), _item("b")])
        assert (503, "storage_unavailable") == refusal(batch)
        change = {"contract_version": 1, "spec": {"subject_id": "s", "capabilities": ["memory_read"], "grants": []}}
        issued = await desk.send("POST", CREDENTIALS, desk.admin_secret, json=change)
        assert (503, "storage_unavailable") == refusal(issued)
        assert 1 == len(desk.lines.getvalue().splitlines()), "the failed commit, not every refused request"

    run(test)


def _item(key: str) -> Json:
    return {"idempotency_key": key, "operation": {"type": "create", "record": {"content": "c"}}}


def test_a_full_queue_is_503_while_reads_and_replays_go_on() -> None:
    async def test(desk: Desk) -> None:
        kept = await desk.create("kept")
        desk.store.hold()
        at_the_disk = asyncio.create_task(desk.create("at the disk"))
        await asyncio.to_thread(desk.store.wait_for_sync)
        waiting = asyncio.create_task(desk.create("waiting"))
        await until_somebody_waits(desk)
        assert (503, "write_busy") == refusal(await desk.create("too many"))
        assert kept.content == (await desk.create("kept")).content
        record_id = kept.json()["receipt"]["record_id"]
        assert 200 == (await desk.ask(f"{RECORDS}/read", record_id=record_id)).status_code
        desk.store.release()
        assert [200, 200] == [one.status_code for one in await asyncio.gather(at_the_disk, waiting)]
        assert 200 == (await desk.create("too many")).status_code

    run(test, queue_commands_max=1)


async def until_somebody_waits(desk: Desk) -> None:
    """Returns once a command is in the queue."""
    for _ in range(10_000):
        if b"relatum_write_queue 0.0" not in desk.services.metrics.render():
            return
        await asyncio.sleep(0)
    raise AssertionError("no command is waiting")


def test_a_client_that_leaves_while_its_command_waits_costs_the_others_nothing() -> None:
    async def test(desk: Desk) -> None:
        desk.store.hold()
        leaving = asyncio.create_task(desk.create("leaving"))
        await asyncio.to_thread(desk.store.wait_for_sync)
        staying = [asyncio.create_task(desk.create(f"staying {number}")) for number in range(8)]
        leaving.cancel()
        desk.store.release()
        assert {200} == {one.status_code for one in await asyncio.gather(*staying)}
        await asyncio.gather(leaving, return_exceptions=True)
        again = await desk.create("leaving")
        assert 1 == again.json()["receipt"]["commit_sequence"]

    run(test)


def test_a_credential_fails_from_the_instant_of_its_expiry() -> None:
    async def test(desk: Desk) -> None:
        desk.clock.set(START_MILLIS + 59_999)
        assert 200 == (await desk.send("GET", IDENTITY)).status_code
        desk.clock.set(START_MILLIS + 60_000)
        assert (401, "unauthorized") == refusal(await desk.send("GET", IDENTITY))
        assert (401, "unauthorized") == refusal(await desk.create("late"))

    run(test)


def test_an_expiry_must_lie_in_the_future() -> None:
    async def test(desk: Desk) -> None:
        for offset, status in ((0, 400), (1, 201)):
            spec = {"subject_id": "s", "capabilities": ["memory_read"], "grants": [desk.scope]}
            body = {"contract_version": 1, "spec": {**spec, "expires_at_millis": START_MILLIS + offset}}
            found = await desk.send("POST", CREDENTIALS, desk.admin_secret, json=body)
            assert status == found.status_code

    run(test)


def test_readiness_says_that_the_server_is_stopping() -> None:
    async def test(desk: Desk) -> None:
        desk.services.stopping = True
        ready = await desk.send("GET", "/ready")
        assert (503, "draining", "1") == (ready.status_code, ready.json()["status"], ready.headers["retry-after"])

    run(test)


def test_a_fault_of_the_program_is_a_500_that_tells_nothing_and_a_log_line_that_tells_where(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(desk: Desk) -> None:
        def broken(view: object, secret: str) -> None:
            raise RuntimeError(f"at {secret}")

        monkeypatch.setattr(credentials, "authenticate", broken)  # a fault that nothing can provoke
        found = await desk.ask(f"{RECORDS}/read", record_id=ABSENT)
        assert (500, "internal_error") == refusal(found)
        assert "RuntimeError" not in found.text
        line = desk.lines.getvalue()
        assert "RuntimeError" in line
        assert desk.secret not in line

    run(test)
