"""Credentials that were read lately, so that a long history is decoded once and not with every request.

Always holds: nothing stale is ever believed. What is remembered is used in a view of the position that it was last
found at, whose rows are the same; or where the store still names the digest of the very row that it was read from. So
a change of a credential is seen with the next view. Any thread.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from relatum.core.access import StoredCredential
from relatum.limits import MIB
from relatum.store import rows

REMEMBERED_BYTES_MAX: Final = 16 * MIB
"""As stored; in memory they take some ten times as much."""


class _Remembered:
    __slots__ = ("length", "place", "position", "stored")

    def __init__(self, place: rows.CredentialPlace, stored: StoredCredential, length: int, position: object) -> None:
        self.place = place
        self.stored = stored
        self.length = length
        self.position = position


class CredentialMemory:
    """Credentials by id, the one that was read longest ago forgotten first."""

    def __init__(self, bytes_max: int = REMEMBERED_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._known: dict[str, _Remembered] = {}
        self._lock = Lock()

    def recall_at(self, position: object, credential_id: str) -> StoredCredential | None:
        """The credential as it was last found at this published position; None where it was not, or is forgotten.

        Before the first publication there is no position, and nothing to go by.
        """
        known = self._known.get(credential_id)
        return known.stored if known is not None and position is not None and known.position == position else None

    def recall(self, credential_id: str, place: rows.CredentialPlace, position: object) -> StoredCredential | None:
        """The credential as it was read from the row of this place, which it has at `position` too.

        None for one that was not read from there, or is forgotten.
        """
        known = self._known.get(credential_id)
        if known is None or known.place != place:
            return None
        known.position = position
        return known.stored

    def remember(self, place: rows.CredentialPlace, stored: StoredCredential, position: object) -> None:
        """Takes note of what was just read from the row of a place, as it is at `position`."""
        length = len(rows.CREDENTIAL.encode(stored))
        with self._lock:
            self._forget(stored.credential.id)
            while self._known and self._bytes + length > self._bytes_max:
                self._forget(next(iter(self._known)))
            if length <= self._bytes_max:
                self._known[stored.credential.id] = _Remembered(place, stored, length, position)
                self._bytes += length

    def _forget(self, credential_id: str) -> None:
        known = self._known.pop(credential_id, None)
        if known is not None:
            self._bytes -= known.length
