"""Rows that have to be counted are counted in a thread, and what was counted is read on the event loop."""

from __future__ import annotations

import asyncio
import io
from threading import get_ident

import httpx
import pytest

from relatum.clock import ManualClock
from relatum.core import digests
from relatum.core.row_counts import Tally
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.server_state import Pages, Services
from relatum.ledger import Ledger
from relatum.limits import DAY_MILLIS
from relatum.store.partition_rows import PartitionRows
from relatum.telemetry import Log
from tests.graphs.counted import Counted
from tests.integrity import judged_scene
from tests.integrity.scene import ledger_on
from tests.support.builders import PARTITION, START_MILLIS

INSPECT = "/api/v1/company/memory/records/inspect"


async def inspected_twice(ledger: Ledger, secret: str, record_id: str) -> list[httpx.Response]:
    services = Services(ledger, Log(io.StringIO(), lambda: 0), Pages(b"{}", b""), slots_max=8, read_threads=1)
    app = application((*ROUTES, METRICS_ROUTE), services)
    members = {"contract_version": 1, "workspace_id": digests.workspace_id(PARTITION), "record_id": record_id}
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://relatum") as client:
            headers = {"authorization": f"Bearer {secret}"}
            return [await client.post(INSPECT, json=members, headers=headers) for _ in range(2)]
    finally:
        services.close()


def test_a_read_of_the_event_loop_leaves_the_counting_to_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    counted_in: list[int] = []
    recounted = PartitionRows.recounted

    def noting(rows: PartitionRows) -> Tally:
        if rows.partition == PARTITION:
            counted_in.append(get_ident())
        return recounted(rows)

    monkeypatch.setattr(PartitionRows, "recounted", noting)
    scene = judged_scene.made()
    counted_in.clear()
    with ledger_on(scene.rows, ManualClock(START_MILLIS + 60 * DAY_MILLIS), Counted(start=1_000_000)) as ledger:
        admin = ledger.bootstrap(PARTITION.company_id, "root")
        assert not isinstance(admin, Refusal)
        first, second = asyncio.run(inspected_twice(ledger, admin.secret, scene.archived.record_id))
    assert (200, 200) == (first.status_code, second.status_code)
    assert first.content == second.content
    [thread] = counted_in
    assert thread != get_ident()
