"""Signals as a program meets them that nobody has prepared."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heeded(number: signal.Signals) -> Iterator[None]:
    """Within it a signal has its effect, though whoever started the tests may have let them ignore it (nohup does)."""
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)
