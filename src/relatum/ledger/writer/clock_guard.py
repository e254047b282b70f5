"""Whether the clock can be right: nothing is committed years ahead because a clock was wrong for a moment.

Commit times never run backwards, so one commit by a clock that is far ahead would hold all later ones there. What bears
a commit time out is the last commit before it, and what the files of the host say; and from then on the time that this
process has counted by itself, which nobody can set.

Always holds: an instant that is refused becomes no commit time. Where the last commit itself lies ahead of the clock,
commits go on at its time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from relatum.clock import uptime_millis
from relatum.errors import ClockAhead
from relatum.store.host_time import confirmed_millis
from relatum.telemetry import Log

TOLD_MILLIS: Final = 60_000
"""By how much the last commit may lie ahead of the clock before an operator is told of it as a store is opened."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ClockGuard:
    """Of one ledger on a disk. Any thread may ask."""

    def __init__(
        self,
        directory: Path,
        ahead_max_millis: int,
        last_commit_millis: int,
        now_millis: int,
        host_millis: int,
        uptime: Callable[[], int] = uptime_millis,
    ) -> None:
        """`now_millis` is what the clock, and `host_millis` what the host's files said before the ledger was opened."""
        self._directory = directory
        self._ahead_max_millis = ahead_max_millis
        self._uptime = uptime
        known = last_commit_millis
        if now_millis > last_commit_millis + ahead_max_millis:
            known = max(last_commit_millis, host_millis)
        if now_millis <= known + ahead_max_millis:
            known = max(known, now_millis)
        self._known_at_uptime_zero = known - uptime()

    def require_plausible(self, at_millis: int, last_commit_millis: int) -> None:
        """Raises ClockAhead where `at_millis` is too far after all that is known of the time."""
        if at_millis <= last_commit_millis + self._ahead_max_millis:
            return
        known = self._known_at_uptime_zero + self._uptime()
        if at_millis <= known + self._ahead_max_millis:
            return
        confirmed = confirmed_millis(self._directory)
        if at_millis <= confirmed + self._ahead_max_millis:
            self._known_at_uptime_zero = confirmed - self._uptime()
            return
        raise ClockAhead(
            f"the clock says {instant(at_millis)}, too far after the last commit ({instant(last_commit_millis)}) and "
            f"after what this host's files tell ({instant(known)}). Nothing was written. If the clock is wrong, set it "
            f"right; if it is right, say so: relatum confirm-clock {self._directory}"
        )


def instant(millis: int) -> str:
    """An instant in words, in UTC."""
    try:
        return (_EPOCH + timedelta(milliseconds=millis)).isoformat(" ", "seconds")
    except OverflowError:
        return f"{millis} ms"


def tell_of_clock(last_commit_millis: int, now_millis: int, log: Log) -> None:
    """Says so where the store was last written by a clock that was ahead, or this one is behind."""
    if last_commit_millis > now_millis + TOLD_MILLIS:
        log.warning(
            "the last commit is of a time that has not come yet: the clock was ahead then, or is behind now. Commands "
            "are committed at that time until the clock has come to it; what holds now is judged by the clock",
            last_commit=instant(last_commit_millis),
            clock=instant(now_millis),
        )
