"""What suites share: the profiles of Hypothesis, and a ledger in memory with a clock that a test moves by hand.

A suite with needs of its own has fixtures of the same names; all others lie in the suite that uses them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

# `quick` explores a little every time; `ci` finds the same examples on every run, so that a red run is red again at
# home; `long` is `ci` with more of them, for the long form; `deep` is for a night. Choose with HYPOTHESIS_PROFILE;
# without it CI takes `ci` and people take `quick`.
_EVERY = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _EVERY, max_examples=20)
settings.register_profile("ci", _EVERY, max_examples=20, derandomize=True)
settings.register_profile("long", _EVERY, max_examples=100, derandomize=True)
settings.register_profile("deep", _EVERY, max_examples=5_000)

# Of tests that a shell started in its background, every program that they start would ignore an interrupt as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where Python keeps no bytecode, each program that a test starts would compile the package anew, which takes as long as
# the rest of its start. Those programs keep it, and in a folder that goes with the run; the tree stays as it is.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and "PYTHONPYCACHEPREFIX" not in os.environ:
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="relatum-bytecode-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MILLIS)


@pytest.fixture
def ledger(clock: ManualClock) -> Iterator[Ledger]:
    with Ledger.in_memory(clock=clock) as opened:
        yield opened


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    return Desk(ledger)


@pytest.fixture
def judging(ledger: Ledger) -> JudgingDesk:
    return JudgingDesk(ledger)
