"""Bodies of any bytes, on every route that takes one: the contract's answers, and no others."""

from __future__ import annotations

import asyncio

import pytest

from tests.doors.bodies import bodies, post_paths
from tests.doors.door import door
from tests.doors.json_fuzzing import fuzz_route, fuzz_scan
from tests.doors.mutating import as_json, bounded
from tests.support.matrix import every, first_of

SCANS = 10_000
CASES_A_ROUTE = [20, 80]


def test_every_route_that_takes_a_body_has_a_sound_one_that_is_answered() -> None:
    async def test() -> None:
        async with door() as opened:
            sound = await bodies(opened)
            assert post_paths() == set(sound)
            for path in sorted(sound, key=changes_something):
                for sample in sound[path]:
                    response = await opened.post(path, as_json(sample))
                    assert response is not None
                    assert response.status_code in (200, 201), (path, response.text)

    asyncio.run(test())


def changes_something(path: str) -> bool:
    return "/commands" in path or "/credentials" in path


@pytest.mark.parametrize("cases", first_of(CASES_A_ROUTE))
@pytest.mark.parametrize("path", every(2, sorted(post_paths())))
def test_a_route_answers_any_body_as_the_document_says(path: str, cases: int) -> None:
    with bounded():
        statuses = asyncio.run(fuzz_route(path, cases, seed=0))
    assert statuses[400] > cases / 2


def test_the_scan_refuses_or_passes_what_every_reader_of_json_reads_alike() -> None:
    with bounded():
        assert fuzz_scan(SCANS, seed=0) > SCANS / 100
