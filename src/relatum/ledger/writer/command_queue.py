"""The bounded queue before the writer."""

from __future__ import annotations

from collections import deque
from threading import Condition

from relatum.errors import WriteBusy, WritesRefused
from relatum.ledger.writer.submission import Ticket


class Intake:
    """Tickets in the order of arrival, bounded in commands. No timer: a taker gets whatever has arrived."""

    def __init__(self, commands_max: int) -> None:
        self._commands_max = commands_max
        self._tickets: deque[Ticket] = deque()
        self._waiting = 0
        self._closed = False
        self._changed = Condition()

    def __len__(self) -> int:
        """Commands waiting."""
        return self._waiting

    def put(self, ticket: Ticket) -> None:
        """Adds a ticket, or none of it. Raises WriteBusy when full, WritesRefused once closed.

        A ticket larger than the whole queue is taken when the queue is empty, so that no batch is refused for ever.
        """
        size = len(ticket.submissions)
        with self._changed:
            if self._closed:
                raise WritesRefused("the ledger takes no more commands")
            if self._waiting and self._waiting + size > self._commands_max:
                raise WriteBusy("the command queue is full")
            self._tickets.append(ticket)
            self._waiting += size
            self._changed.notify()

    def ready(self) -> bool:
        """Whether there is something to take, or never will be."""
        return bool(self._tickets) or self._closed

    def drained(self) -> bool:
        """Whether there is nothing to take and never will be."""
        return self._closed and not self._tickets

    def wait(self) -> None:
        """Waits until it is ready."""
        with self._changed:
            self._changed.wait_for(self.ready)

    def take(self, commands_max: int) -> list[Ticket]:
        """Takes the tickets that wait, until `commands_max` is reached."""
        with self._changed:
            taken: list[Ticket] = []
            commands = 0
            while self._tickets and commands < commands_max:
                ticket = self._tickets.popleft()
                commands += len(ticket.submissions)
                taken.append(ticket)
            self._waiting -= commands
            return taken

    def close(self) -> None:
        """Refuses new tickets; those that wait are still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
