"""Who a token belongs to, on the credentials as they are published now (transport.md, order of checks, 1 and 2).

Always holds: nothing stale is ever believed. A credential is remembered for one published position alone, whose rows do
not change, and is read again as soon as anything else is published; whether it has expired is asked each time.
"""

from __future__ import annotations

from typing import Final

from relatum.core.access import Credential, StoredCredential
from relatum.ledger import Ledger
from relatum.store.view import LedgerView

REMEMBERED_MAX: Final = 1024


class Authentication:
    """Lets callers in. Event loop only."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._position: object = None
        self._known: dict[str, StoredCredential] = {}

    def credential_of(self, token: str) -> Credential | None:
        """The credential, if there is one and it is neither revoked nor expired at this instant."""
        with self._ledger.view() as view:
            if view.position is not self._position or len(self._known) >= REMEMBERED_MAX:
                self._position = view.position
                self._known = {}
            return self._ledger.authenticate(_Remembering(view, self._known), token)


class _Remembering:
    """A view whose credentials are read once."""

    __slots__ = ("_known", "_view", "now_millis")

    def __init__(self, view: LedgerView, known: dict[str, StoredCredential]) -> None:
        self._view = view
        self._known = known
        self.now_millis = view.now_millis

    def credential(self, credential_id: str) -> StoredCredential | None:
        known = self._known.get(credential_id)
        if known is None:
            known = self._view.credential(credential_id)
            if known is not None:
                self._known[credential_id] = known
        return known
