"""The product's writer without its thread: it takes a group when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crash_tests.simulation.environment import JudgedInstants
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.group_builder import Deciding
from relatum.ledger.writer.submission import Submission, Ticket
from relatum.store.overlay import NOT_STAGED


class SteppedCommitter(Committer):
    """Calls `on_arrival` when something waits for it; whoever made it then calls `run_once`."""

    def __init__(self, on_arrival: Callable[[], None], judged: JudgedInstants, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._on_arrival = on_arrival
        self._judged = judged

    @property
    def waiting(self) -> int:
        """How many commands wait."""
        return len(self._intake)

    def start(self) -> None:
        """There is no thread."""

    def submit(self, submissions: Sequence[Submission], on_done: Callable[[Ticket], None]) -> None:
        """See `Committer.submit`."""
        super().submit(submissions, on_done)
        self._on_arrival()

    def drain(self, timeout_seconds: float) -> bool:
        """Takes no more commands and answers those taken."""
        self._intake.close()
        while self.run_once():
            pass
        return True

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside the block a command is decided as it arrives, for callers that wait for it without a loop."""
        on_arrival, self._on_arrival = self._on_arrival, self._run_one
        try:
            yield
        finally:
            self._on_arrival = on_arrival

    def _commit(self, decided: Deciding) -> None:
        group = decided.group
        for staging in group._partitions.values():  # noqa: SLF001 - nobody else has to know
            if staging.workspace_id in group.moved:
                first = last = staging.head().sequence
                while group.staged.staged(staging.keys.event(first - 1)) is not NOT_STAGED:
                    first -= 1
                self._judged.note(staging.workspace_id, first, last, group._now_millis)  # noqa: SLF001
        super()._commit(decided)

    def _run_one(self) -> None:
        self.run_once()
