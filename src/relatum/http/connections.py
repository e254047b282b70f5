"""How many connections a server holds, and whose turn it is to go when it holds as many as it may (docs/security.md).

A connection either *waits for its client*, to send a request or to take an answer, or is *at work* on one.

Always holds: at most `connections_max` are held. The one that has waited longest gives way to a new one, so whoever
opens connections and does nothing with them keeps nobody out. The last `SPARE` places are never taken by work: what a
client asks there is checked and refused; what is public is answered, and the operator. Event loop only.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol

from relatum.telemetry import Metrics

SPARE: Final = 32
"""Places for those who are told that the server is busy, and for who asks whether it is healthy."""

Cause = Literal["gave_way", "no_room", "unread"]
"""Why a connection was dropped: for a newer one, because no other could be, or because it took too long to read."""


class Connection(Protocol):
    """What can be held."""

    def drop(self, cause: Cause) -> None:
        """End at once."""
        ...


class Connections:
    """The connections of one server."""

    def __init__(self, connections_max: int, metrics: Metrics) -> None:
        assert connections_max > SPARE, "there is room for work"
        self._connections_max = connections_max
        self._held: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}
        """In the order in which they began to wait."""
        metrics.connections.set_function(lambda: len(self._held))

    @property
    def busy(self) -> bool:
        """Whether as many are at work as may be."""
        return len(self._held) - len(self._waiting) >= self._connections_max - SPARE

    def take(self, connection: Connection) -> None:
        """A new one, which waits for its client. It or another is dropped where there are too many."""
        if len(self._held) >= self._connections_max:
            longest = next(iter(self._waiting), None)
            if longest is None:
                connection.drop("no_room")
                return
            self.let_go(longest)
            longest.drop("gave_way")
        self._held.add(connection)
        self._waiting[connection] = None

    def let_go(self, connection: Connection) -> None:
        """One that has ended; it may have been let go of before."""
        self._held.discard(connection)
        self._waiting.pop(connection, None)

    def works(self, connection: Connection) -> None:
        """The client has done its part."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """It is the client's turn."""
        if connection in self._held and connection not in self._waiting:
            self._waiting[connection] = None
