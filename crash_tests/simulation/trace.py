"""What happened in a case, in order: a digest to compare two runs by, and lines for whoever looks for a fault."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from hashlib import blake2b

_LINES_KEPT = 12


class Trace:
    """Everything that was told, digested. `last` has the end of it in words."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.last: deque[str] = deque(maxlen=_LINES_KEPT)
        self._digest = blake2b(digest_size=16)
        self._tell = tell

    def note(self, line: str) -> None:
        """One thing that happened."""
        self._digest.update(line.encode())
        self.last.append(line)
        if self._tell is not None:
            self._tell(line)

    def mix(self, told: bytes) -> None:
        """Bytes that somebody was answered."""
        self._digest.update(told)

    @property
    def digest(self) -> str:
        """Of everything so far, in hex."""
        return self._digest.hexdigest()
