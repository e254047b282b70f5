"""Where one request ends and the next begins: nothing that a client sends around its requests gets into them."""

from __future__ import annotations

import json

import pytest

from relatum.http.protocol import AHEAD_MAX, HEAD_BYTES_MAX
from tests.doors.hosting import LATER, hosted, run, until
from tests.http.wire import head

CHUNKED = "Transfer-Encoding: chunked"
READ_BYTES = 256 * 1024
"""The most that the loop reads from a socket at once."""
SOON = 0.5


def get(path: str) -> bytes:
    return head("GET", path)


def refused(answer: tuple[int, bytes]) -> tuple[int, str]:
    """Status and code of an answer in the envelope."""
    told = json.loads(answer[1])
    assert {"contract_version": 1, "error": {"code", "message"}} == {**told, "error": set(told["error"])}
    return answer[0], told["error"]["code"]


def test_what_is_no_request_is_refused_after_every_answer_before_it() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(get("/first") + get("/second") + b"\0garbage\r\n\r\n")
            await host.until_begun("/first")
            host.stage.let("/second")
            host.stage.let("/first")
            assert [(200, b"/first"), (200, b"/second")] == [await visitor.answer() for _ in range(2)]
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()

    run(test())


def test_a_body_that_breaks_off_behind_a_running_request_is_refused_after_its_answer_and_never_begun() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(get("/first") + head("POST", "/broken", CHUNKED) + b"3\r\nabc\r\nno number\r\n")
            await host.until_begun("/first")
            host.stage.let("/first")
            assert (200, b"/first") == await visitor.answer()
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()
            assert ["/first"] == host.stage.begun

    run(test())


def test_a_body_that_breaks_off_is_refused_and_its_request_never_carried_out() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(head("POST", "/broken", CHUNKED) + b"3\r\nabc\r\n")
            await host.until_begun("/broken")
            await visitor.send(b"no number\r\n")
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()
            assert ["/broken"] == host.stage.left

    run(test())


def test_a_body_that_breaks_off_after_its_answer_gets_no_second_one() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(head("POST", "/at-once", CHUNKED))
            assert (200, b"/at-once") == await visitor.answer()
            await visitor.send(b"no number\r\n")
            assert b"" == await visitor.rest()

    run(test())


def test_a_request_that_stays_incomplete_behind_a_running_one_does_not_cost_it_its_answer() -> None:
    async def test() -> None:
        async with hosted(request_seconds=SOON) as host:
            visitor = await host.visit(get("/first") + head("POST", "/late", "Content-Length: 5") + b"x")
            await host.until_begun("/first")
            idle = await host.visit()
            assert b"" == await idle.rest()  # so the time of a request has passed
            host.stage.let("/first")
            assert (200, b"/first") == await visitor.answer()
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()

    run(test())


def test_so_many_requests_may_wait_for_an_earlier_answer_and_not_one_more() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(get("/first") + get("/at-once") * (AHEAD_MAX + 1))
            await host.until_begun("/first")
            host.stage.let("/first")
            answers = [await visitor.answer() for _ in range(1 + AHEAD_MAX)]
            assert [(200, b"/first"), *[(200, b"/at-once")] * AHEAD_MAX] == answers
            assert (503, "retrieval_busy") == refused(await visitor.answer())
            assert b"" == await visitor.rest()
            assert 1 + AHEAD_MAX == len(host.stage.begun)

    run(test())


# What follows a body


def test_fields_behind_a_body_are_no_header_fields() -> None:
    async def test() -> None:
        async with hosted() as host:
            host.stage.let("/")
            fields = b"Authorization: Bearer x\r\nContent-Type: application/json\r\n"
            visitor = await host.visit(head("POST", "/", CHUNKED) + b"1\r\nx\r\n0\r\n" + fields + b"\r\n")
            assert (200, b"/") == await visitor.answer()
            assert [b"host", b"transfer-encoding"] == [name for name, _ in host.stage.headers]

    run(test())


FLOODS = {
    "many fields behind a body": (b"3\r\nabc\r\n0\r\n", b"name: value\r\n"),
    "one field behind a body": (b"3\r\nabc\r\n0\r\nname: ", b"x" * 1000),
    "one field's name behind a body": (b"3\r\nabc\r\n0\r\n", b"x" * 1000),
    "an extension of a chunk": (b"3;name=", b"x" * 1000),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_what_surrounds_a_body_is_bounded(flood: str) -> None:
    async def test() -> None:
        async with hosted() as host:
            beginning, piece = FLOODS[flood]
            visitor = await host.visit(head("POST", "/", CHUNKED) + beginning)
            pieces = (HEAD_BYTES_MAX + 2 * READ_BYTES) // len(piece)
            await visitor.send(piece * pieces)
            assert (431, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()

    run(test())


def test_a_body_may_come_in_as_many_chunks_as_it_has_bytes() -> None:
    async def test() -> None:
        async with hosted() as host:
            host.stage.let("/")
            visitor = await host.visit(head("POST", "/", CHUNKED) + b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n")
            assert (200, b"/") == await visitor.answer()

    run(test())


def test_a_client_that_sends_a_huge_head_before_it_reads_is_told_so_all_the_same() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(b"GET / HTTP/1.1\r\n" + b"name: value\r\n" * 400_000)
            assert (431, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()

    run(test())


@pytest.mark.parametrize("excess", [-200, 1])
def test_a_head_that_is_too_large_is_not_waited_for(excess: int) -> None:
    async def test() -> None:
        async with hosted(request_seconds=SOON if excess < 0 else LATER) as host:
            beginning = b"GET / HTTP/1.1\r\nname: "
            visitor = await host.visit(beginning + b"x" * (HEAD_BYTES_MAX + excess - len(beginning)))
            status, _ = await visitor.answer()
            assert (400 if excess < 0 else 431) == status  # the former came too late

    run(test())


def test_requests_that_arrive_together_may_take_more_than_one_head() -> None:
    async def test() -> None:
        async with hosted() as host:
            request = head("GET", "/at-once", "name: " + "x" * 10_000)
            visitor = await host.visit(request * 20 + request[:-10])
            assert [(200, b"/at-once")] * 20 == [await visitor.answer() for _ in range(20)]
            await visitor.send(request[-10:])
            assert (200, b"/at-once") == await visitor.answer()

    run(test())


def test_an_upgrade_is_passed_over() -> None:
    async def test() -> None:
        async with hosted() as host:
            host.stage.let("/")
            for protocol in ("websocket", "h2c"):
                visitor = await host.visit(head("GET", "/", "Connection: Upgrade", f"Upgrade: {protocol}"))
                assert (200, b"/") == await visitor.answer()

    run(test())


def test_a_client_that_closes_its_side_has_gone() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(get("/first"))
            await host.until_begun("/first")
            visitor.finish()
            assert b"" == await visitor.rest()

    run(test())


@pytest.mark.parametrize("behind", ["at once", "later"])
def test_a_client_that_goes_is_missed_by_the_request_that_runs_though_it_sent_another_one(behind: str) -> None:
    async def test() -> None:
        async with hosted() as host:
            more = get("/second")
            visitor = await host.visit(get("/watched") + (more if behind == "at once" else b""))
            await host.until_begun("/watched")
            if behind == "later":
                await visitor.send(more)
                await until(lambda: all(connection.pipeline for connection in host.connections))
            await visitor.leave()
            await until(lambda: host.stage.left == ["/watched"])
            assert ["/watched"] == host.stage.begun

    run(test())


def test_nothing_is_said_to_a_client_that_left_requests_behind(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(get("/first") + get("/second"))
            await host.until_begun("/first")
            await visitor.leave()
            await until(lambda: not host.connections)
            host.stage.let("/first")
            await until(lambda: host.at_rest)
            assert ["/first"] == host.stage.begun

    run(test())
    assert [] == caplog.records


@pytest.mark.parametrize("before", [b"", get("/at-once")], ids=["first", "behind another"])
def test_a_target_that_is_no_url_is_refused_like_all_that_is_no_request(before: bytes) -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(before + head("GET", "http:///x"))
            if before:
                assert (200, b"/at-once") == await visitor.answer()
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()

    run(test())
