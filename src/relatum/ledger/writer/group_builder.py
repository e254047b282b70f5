"""From tickets that wait to a group all of whose commands are decided."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from relatum.ledger.writer.group import Group
from relatum.ledger.writer.loop_executor import Steps
from relatum.ledger.writer.submission import Submission, Ticket, is_brief


class Deciding:
    """One group. `tickets` are its own from the moment in which they are taken, which is the group's instant too."""

    def __init__(self, take: Callable[[], list[Ticket]], begin: Callable[[], Group]) -> None:
        self.tickets: list[Ticket] = []
        self._take = take
        self._begin = begin
        self._group: Group | None = None
        self._left: deque[tuple[Ticket, Submission]] = deque()

    @property
    def group(self) -> Group:
        """What was decided. There is one once tickets were taken."""
        assert self._group is not None
        return self._group

    def all(self) -> None:
        """Takes the tickets, and decides all their commands."""
        for _ in self.taking():
            pass
        while self.other_one():
            pass

    def taking(self) -> Steps:
        """Takes the tickets, and decides the brief commands that come first."""
        self.tickets = self._take()
        self._left.extend((ticket, submission) for ticket in self.tickets for submission in ticket.submissions)
        self._group = self._begin()
        yield
        yield from self.brief_ones()

    def brief_ones(self) -> Steps:
        """Decides commands up to the first that is not brief, or whose partition nobody has counted yet."""
        while self._left and self._is_brief(self._left[0][1]):
            self._decide_next()
            yield

    def _is_brief(self, submission: Submission) -> bool:
        return is_brief(submission) and self.group.has_counted(submission.partition)

    def other_one(self) -> bool:
        """Decides the next command, whatever it takes; whether there was one."""
        if not self._left:
            return False
        partition = self._left[0][1].partition
        if not self.group.has_counted(partition):
            self.group.count(partition)  # from now on its commands can be brief
        self._decide_next()
        return True

    def _decide_next(self) -> None:
        ticket, submission = self._left.popleft()
        ticket.outcomes.append(self.group.decide(submission))
