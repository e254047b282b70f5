"""Who waits for whom in threads: what asks the search index or the mined edges keeps no other read waiting."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager

import pytest

from tests.http.client import RECORDS
from tests.http.test_failures import Desk, run

MEMORY = "/api/v1/memory"


def walk(record_id: str, *, mined: bool) -> dict[str, object]:
    return {"query": {"root_record_ids": [record_id], "max_depth": 1, "include_derived": mined}}


@pytest.mark.parametrize("busy", ["index", "mined"])
def test_reads_go_on_while_the_index_or_the_mined_edges_are_busy(busy: str) -> None:
    async def test(desk: Desk) -> None:
        record_id = (await desk.create("one")).json()["receipt"]["record_id"]
        ledger = desk.services.ledger
        if busy == "index":
            using: AbstractContextManager[object] = ledger._index._using
            asked: list[tuple[str, dict[str, object]]] = [
                (f"{RECORDS}/search", {"text": "c"}),
                (f"{MEMORY}/topic-keys/suggest", {"title": "c", "content": "c"}),
                (f"{MEMORY}/context", {"prompt": "c"}),
            ]
        else:
            using = ledger._derived._using
            asked = [
                (f"{MEMORY}/graph/typed", walk(record_id, mined=True)),
                (f"{MEMORY}/edges/dangling", {}),
            ]
        with using:
            waiting = [asyncio.create_task(desk.ask(path, **members)) for path, members in asked]
            for path, members in (
                (f"{RECORDS}/query", {"filter": {}}),
                (f"{MEMORY}/graph/typed", walk(record_id, mined=False)),
            ):
                assert 200 == (await desk.ask(path, **members)).status_code
            assert [] == [one.result().text for one in waiting if one.done()]
        assert [200] * len(asked) == [one.status_code for one in await asyncio.gather(*waiting)]

    run(test)
