"""Metrics and log lines: what is counted is shown, what is private is withheld, and neither stops the work."""

from __future__ import annotations

import io
import json
import logging
import threading
from typing import Any

import pytest

from relatum.telemetry import METRICS_CONTENT_TYPE, LibraryLog, Log, Metrics
from tests.support.polling import WAIT_SECONDS

SERIES = {
    'relatum_commands_total{action="asserted",family="relation"} 1.0',
    'relatum_refusals_total{code="revision_conflict"} 1.0',
    "relatum_replays_total 1.0",
    "relatum_syncs_total 1.0",
    "relatum_groups_total 1.0",
    "relatum_group_commands_sum 5.0",
    'relatum_group_commands_bucket{le="8.0"} 1.0',
    "relatum_sync_seconds_count 1.0",
    'relatum_requests_total{route="/health",status="200"} 1.0',
    'relatum_request_seconds_count{route="/health"} 1.0',
    "relatum_write_queue 3.0",
    "relatum_slots_in_use 2.0",
    "relatum_poisoned 0.0",
    "relatum_position 17.0",
}


def shown(metrics: Metrics) -> set[str]:
    return set(metrics.render().decode().splitlines())


def test_everything_counted_is_rendered_under_its_documented_name() -> None:
    metrics = Metrics()
    metrics.commands("relation", "asserted").inc()
    metrics.refusals("revision_conflict").inc()
    for counter in (metrics.replays, metrics.syncs, metrics.groups):
        counter.inc()
    metrics.group_commands.observe(5)
    metrics.sync_seconds.observe(0.0002)
    metrics.requests("/health", "200").inc()
    metrics.request_seconds("/health").observe(0.001)
    metrics.write_queue.set(3)
    metrics.slots_in_use.set_function(lambda: 2)
    metrics.position.set(17)
    assert set() == SERIES - shown(metrics)
    assert METRICS_CONTENT_TYPE.startswith("text/plain; version=")


def test_two_ledgers_of_one_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.replays.inc()
    assert "relatum_replays_total 1.0" in shown(first)
    assert "relatum_replays_total 0.0" in shown(second)


def test_the_child_of_a_labelled_metric_is_resolved_once() -> None:
    metrics = Metrics()
    assert metrics.commands("record", "created") is metrics.commands("record", "created")
    assert metrics.commands("record", "created") is not metrics.commands("record", "revised")


def test_counts_of_many_threads_add_up() -> None:
    metrics = Metrics()

    def count() -> None:
        for _ in range(2_000):
            metrics.commands("record", "created").inc()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    assert 'relatum_commands_total{action="created",family="record"} 8000.0' in shown(metrics)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_time_level_message_and_attributes() -> None:
    stream = io.StringIO()
    Log(stream, lambda: 1_234).info(
        "store opened", position=7, directory="/var/lib/relatum", took_seconds=0.5, cut=None
    )
    assert (
        '{"at_millis":1234,"level":"info","message":"store opened",'
        '"position":7,"directory":"/var/lib/relatum","took_seconds":0.5,"cut":null}\n'
    ) == stream.getvalue()


@pytest.mark.parametrize(
    ("level", "written"),
    [
        ("debug", ["debug", "info", "warning", "error", "error"]),
        ("info", ["info", "warning", "error", "error"]),
        ("warning", ["warning", "error", "error"]),
        ("error", ["error", "error"]),
    ],
)
def test_lines_below_the_level_are_not_written(level: Any, written: list[str]) -> None:
    stream = io.StringIO()
    log = Log(stream, lambda: 0, level)
    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")
    log.failure("f", KeyError())
    assert written == [line["level"] for line in lines(stream)]


def test_a_line_break_or_a_broken_character_in_a_value_stays_within_its_line() -> None:
    stream = io.StringIO()
    Log(stream, lambda: 0).info("opened", directory='a\n{"level":"error"}\r\udc80\u2028')
    (line,) = stream.getvalue().splitlines()
    assert 'a\n{"level":"error"}\r\udc80\u2028' == json.loads(line)["directory"]
    assert line.isascii()


def test_private_attributes_are_withheld_and_long_ones_cut() -> None:
    stream = io.StringIO()
    private = {"secret": "s3cr3t", "bearer_token": "s3cr3t", "Authorization": "s3cr3t", "record_content": "s3cr3t"}
    Log(stream, lambda: 0).info("x", **private, long="y" * 1025, fits="z" * 1024)
    (line,) = lines(stream)
    assert "s3cr3t" not in stream.getvalue()
    assert "[withheld]" == line["secret"]
    assert ("y" * 1024, "z" * 1024) == (line["long"], line["fits"])


def test_an_attribute_can_not_pass_itself_off_as_the_time_the_level_or_the_message() -> None:
    stream = io.StringIO()
    Log(stream, lambda: 5).info("true", message="false", level="error", at_millis=0)
    assert [{"at_millis": 5, "level": "info", "message": "true"}] == lines(stream)


def test_a_failure_is_told_by_type_and_place_never_by_its_own_text() -> None:
    stream = io.StringIO()
    try:
        json.loads("s3cr3t")
    except ValueError as error:
        Log(stream, lambda: 0).failure("could not read", error, attempt=1)
    (line,) = lines(stream)
    assert "s3cr3t" not in stream.getvalue()
    assert ("error", "JSONDecodeError", 1) == (line["level"], line["error_type"], line["attempt"])
    assert "/tests/test_telemetry.py:" in line["error_trace"]
    assert line["error_trace"].endswith(" raw_decode")


class BrokenStream(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_stream_that_can_not_be_written_stops_nobody() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (BrokenStream(), closed):
        Log(stream, lambda: 0).error("nobody hears this")


def test_a_value_of_an_unexpected_type_is_told_by_its_type() -> None:
    stream = io.StringIO()
    odd: Any = b"s3cr3t"
    Log(stream, lambda: 0).info("x", odd=odd, big=2**70)
    assert ("bytes", 2**70) == (lines(stream)[0]["odd"], lines(stream)[0]["big"])


def test_what_a_library_logs_becomes_a_line_without_its_arguments() -> None:
    stream = io.StringIO()
    library = logging.Logger("uvicorn.error")  # noqa: LOG001 (one of its own, so that no global logger is touched)
    library.addHandler(LibraryLog(Log(stream, lambda: 0, "debug")))
    library.info("Started server process [%d]", 4711)
    library.warning("Invalid HTTP request received.")
    try:
        json.loads("s3cr3t")
    except ValueError:
        library.exception("Exception in %s", "s3cr3t")
    started, warned, failed = lines(stream)
    assert "4711" not in stream.getvalue()
    assert "s3cr3t" not in stream.getvalue()
    assert ("debug", "Started server process [%d]", "uvicorn.error") == tuple(
        started[name] for name in ("level", "message", "logger")
    )
    assert ("warning", "Invalid HTTP request received.") == (warned["level"], warned["message"])
    assert ("error", "JSONDecodeError") == (failed["level"], failed["error_type"])
