"""An end from outside is taken as Ctrl-C is."""

from __future__ import annotations

import signal

import pytest

from relatum.cli.signals import stoppable
from tests.support.signals import heeded


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_program_interrupts_it_once(number: signal.Signals) -> None:
    done: list[str] = []

    def do() -> None:
        with stoppable():
            try:
                signal.raise_signal(number)
                done.append("more")
            finally:
                signal.raise_signal(number)
                done.append("tidied up")

    with heeded(number):
        before = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            do()
        assert ["tidied up"] == done
        assert before == signal.getsignal(number)


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGHUP)
        assert signal.SIG_IGN == signal.getsignal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
