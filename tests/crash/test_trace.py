"""The proof of durability from a trace: what it accepts, and the traces that it must not."""

from __future__ import annotations

import pytest

from crash_tests.trace import Proof, calls_of, prove
from crash_tests.violation import Violation

SOCKET = "7<TCP:[127.0.0.1:80->127.0.0.1:81]>"
LOG = "9</store/engine/000012.log>"

ARRIVES = f'10 read({SOCKET}, "POST key 1 end", 262144) = 14'
IS_WRITTEN = f'11 write({LOG}, "\\1\\2 key 1 end", 14) = 14'
IS_SYNCED = f"11 fdatasync({LOG}) = 0"
LEAVES = f'10 write({SOCKET}, "200 key 1 end", 13) = 13'
SYNC_BEGINS = f"11 fdatasync({LOG} <unfinished ...>"
SYNC_ENDS = "11 <... fdatasync resumed>) = 0"


def test_a_sync_between_the_rows_and_the_acknowledgement_is_the_proof() -> None:
    assert Proof(1, 1, 1) == prove([ARRIVES, IS_WRITTEN, IS_SYNCED, LEAVES], ["key 1 end"])


def test_a_call_that_another_thread_interrupts_is_put_together() -> None:
    lines = [ARRIVES, IS_WRITTEN, SYNC_BEGINS, '12 write(1</out>, "x", 1) = 1', SYNC_ENDS, LEAVES]
    sync = next(call for call in calls_of(lines) if call.name == "fdatasync")
    assert (2, 4, "/store/engine/000012.log", 0) == (sync.began, sync.ended, sync.target, sync.result)
    assert Proof(1, 1, 1) == prove(lines, ["key 1 end"])


def test_a_key_that_the_log_has_cut_in_two_is_proved_by_a_sync_since_its_arrival() -> None:
    assert Proof(1, 1, 0) == prove([ARRIVES, IS_SYNCED, LEAVES], ["key 1 end"])


@pytest.mark.parametrize(
    "lines",
    [
        [ARRIVES, IS_WRITTEN, LEAVES],
        [ARRIVES, IS_WRITTEN, LEAVES, IS_SYNCED],
        [ARRIVES, IS_SYNCED, IS_WRITTEN, LEAVES],
        [IS_SYNCED, ARRIVES, IS_WRITTEN, LEAVES],
        [ARRIVES, IS_WRITTEN, SYNC_BEGINS, LEAVES, SYNC_ENDS],
        [ARRIVES, SYNC_BEGINS, IS_WRITTEN, SYNC_ENDS, LEAVES],
        [ARRIVES, IS_WRITTEN, SYNC_BEGINS, LEAVES],
        [ARRIVES, IS_WRITTEN, f"11 fdatasync({LOG}) = -1 EIO (Input/output error)", LEAVES],
        [ARRIVES, IS_WRITTEN, "11 fdatasync(8</store/watermark>) = 0", LEAVES],
    ],
    ids=[
        "no sync",
        "sync after the answer",
        "sync before the rows",
        "sync before the command",
        "sync not finished before the answer",
        "sync begun before the rows",
        "sync never finished",
        "sync failed",
        "another file synced",
    ],
)
def test_an_acknowledgement_without_a_sync_before_it_is_noticed(lines: list[str]) -> None:
    with pytest.raises(Violation, match="no completed sync"):
        prove(lines, ["key 1 end"])


def test_a_trace_that_lacks_a_command_proves_nothing() -> None:
    with pytest.raises(Violation, match="no arrival"):
        prove([ARRIVES, IS_WRITTEN, IS_SYNCED, LEAVES], ["key 2 end"])
