"""What counts as noticed: a fault in whichever words, and no wait that a slow machine would not have met."""

from __future__ import annotations

import pytest

from crash_tests.violation import Violation
from tests.crash.noticing import noticed

TOO_SLOW = [
    "no answer from /path within 60 s",
    "/stream was silent for 60 s",
    "/stream did not end within 60 s",
    "case 3: nothing came for 60 s: it hangs\nand these were its last words",
    "'accepted' happened only 3 of 9 times within 60 s",
    "the server went on for 60 s after it was to die",
    "the server was not ready within 60 s; its log ends:\nnothing",
    "a client got no end to its request",
    "case 7: a store that is young, cut: the process hangs; its log ends:\nnothing",
]
FAULTS = [
    "the consumer 'pager' of records is told of 1 changes after 2 acknowledgements",
    "a read of a record that was acknowledged was answered with 404 record_not_found",
    "case 1: a store that is grown on ext4, cut: 17 acknowledged commands are not stored",
    "the server did not start and ended with 1; its log ends:\nit hangs, say the lines that came before",
]


def meet(told: str) -> None:
    with noticed():
        raise Violation(told)


@pytest.mark.parametrize("told", FAULTS)
def test_a_fault_is_noticed_in_whichever_words(told: str) -> None:
    meet(told)


@pytest.mark.parametrize("told", TOO_SLOW)
def test_a_wait_that_came_to_its_bound_is_none(told: str) -> None:
    with pytest.raises(AssertionError):
        meet(told)


def test_nothing_is_noticed_where_nothing_is_met() -> None:
    with pytest.raises(pytest.fail.Exception), noticed():
        pass
