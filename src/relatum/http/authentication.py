"""Who a token belongs to, on the credentials as they are published now (transport.md, order of checks, 1 and 2).

Always holds: nothing stale is ever believed. A credential is remembered for one published position alone, whose rows do
not change, and is read again as soon as anything else is published; whether it has expired is asked each time.
"""

from __future__ import annotations

from typing import Final

from relatum.core.access import Credential, StoredCredential
from relatum.ledger import Ledger

REMEMBERED_MAX: Final = 1024


class Authentication:
    """Lets callers in. Event loop only."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._position: object = None
        self._known: dict[str, StoredCredential] = {}

    def credential_of(self, token: str) -> Credential | None:
        """The credential, if there is one and it is neither revoked nor expired at this instant."""
        return self._ledger.authenticate(self, token)

    @property
    def now_millis(self) -> int:
        """This instant."""
        return self._ledger.clock.millis()

    def credential(self, credential_id: str) -> StoredCredential | None:
        """A credential of any company, as it is published. A view is taken only where there is something to read."""
        if self._ledger.position == self._position:
            known = self._known.get(credential_id)
            if known is not None:
                return known
        return self._read(credential_id)

    def _read(self, credential_id: str) -> StoredCredential | None:
        with self._ledger.view() as view:
            if view.position != self._position or len(self._known) >= REMEMBERED_MAX:
                self._position = view.position
                self._known = {}
            found = view.credential(credential_id)
        if found is not None:
            self._known[credential_id] = found
        return found
