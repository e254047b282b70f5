"""Credentials that were read lately, so that a long history is decoded once and not with every request.

Always holds: what is remembered is used only while the store names the digest of the very row that it was read from,
so a change of a credential is seen with the next view. Any thread.
"""

from __future__ import annotations

from threading import Lock
from typing import Final, NamedTuple

from relatum.core.access import StoredCredential
from relatum.limits import MIB
from relatum.store import rows

REMEMBERED_BYTES_MAX: Final = 16 * MIB
"""As stored; in memory they take some ten times as much."""


class _Remembered(NamedTuple):
    place: rows.CredentialPlace
    stored: StoredCredential
    length: int


class CredentialMemory:
    """Credentials by id, the one that was read longest ago forgotten first."""

    def __init__(self, bytes_max: int = REMEMBERED_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._known: dict[str, _Remembered] = {}
        self._lock = Lock()

    def recall(self, credential_id: str, place: rows.CredentialPlace) -> StoredCredential | None:
        """The credential as it was read from the row of this place; None for one that was not, or is forgotten."""
        known = self._known.get(credential_id)
        return known.stored if known is not None and known.place == place else None

    def remember(self, place: rows.CredentialPlace, stored: StoredCredential) -> None:
        """Takes note of what was just read from the row of a place."""
        length = len(rows.CREDENTIAL.encode(stored))
        with self._lock:
            self._forget(stored.credential.id)
            while self._known and self._bytes + length > self._bytes_max:
                self._forget(next(iter(self._known)))
            if length <= self._bytes_max:
                self._known[stored.credential.id] = _Remembered(place, stored, length)
                self._bytes += length

    def _forget(self, credential_id: str) -> None:
        known = self._known.pop(credential_id, None)
        if known is not None:
            self._bytes -= known.length
