"""The administrator: issues credentials, gives them other secrets and scopes, and revokes them.

What always holds: one thing is done at a time, and whoever is not answered looks what has become of it before going on.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Literal, NamedTuple

from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import Story
from crash_tests.simulation.requests import Unanswered
from crash_tests.violation import Violation, require, require_same
from relatum.core.access import Authority, Credential, CredentialSpec
from relatum.core.ids import Scope
from relatum.errors import Refusal, WriteBusy, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import credentials
from relatum.store.view import LedgerView

_PAUSE_SECONDS = 0.02
_LIFETIME_MILLIS = 10_000_000
_GRANT = Scope(project_id="atlas", agent_id="scout", visibility="shared")

Work = Callable[..., Coroutine[Any, Any, IssuedCredential | Credential | Refusal]]
"""What is asked of a ledger by an administrator."""
Expected = Literal["accepted", "refused", "either"]

_CHANGES: dict[str, Work] = {
    "CredentialRotated": Ledger.rotate_credential,
    "CredentialRevoked": Ledger.revoke_credential,
    "CredentialAuthorityChanged": Ledger.change_scope_authority,
}


class Asked(NamedTuple):
    """A change: by the name of its event, of whom, to which revision."""

    kind: str
    whose: str
    revision: int
    expected: Expected = "accepted"


class Badge:
    """One credential: as it was acknowledged or seen last, and its secret, as far as that was told."""

    def __init__(self, credential: Credential, secret: str | None) -> None:
        self.credential = credential
        self.secret = secret


class Clerk:
    """One clerk at work."""

    def __init__(self, machine: Machine, story: Story, random: Random) -> None:
        self._machine = machine
        self._story = story
        self._random = random
        self._badges: dict[str, Badge] = {}
        self._guests = 0

    async def work(self, turns: int) -> None:
        """So many turns."""
        for _ in range(turns):
            await self._machine.pause(_PAUSE_SECONDS)
            view = self._machine.view()
            if view is not None:
                with view:
                    self._story.look(view)
                    self.look(view)
                await self._turn()

    def look(self, view: LedgerView) -> None:
        """Every credential is where it was left, or one step further if its answer was lost; secrets work or don't."""
        for badge in self._badges.values():
            stored = view.credential(badge.credential.id)
            if stored is None:
                raise Violation(f"the credential {badge.credential.id} is gone")
            known, found = badge.credential, stored.credential
            if found.revision == known.revision:
                require_same("a credential", known, found)
            else:
                require_same("the history of a credential", known.history, found.history[: known.revision])
                rotated = found.history[-1].action == "rotated"
                badge.credential, badge.secret = found, None if rotated else badge.secret
            self._try_secret(view, badge)

    def _try_secret(self, view: LedgerView, badge: Badge) -> None:
        ledger = self._machine.ledger
        if badge.secret is not None and ledger is not None:
            found = credentials.authenticate(view, badge.secret)
            expected = badge.credential if badge.credential.usable(view.now_millis) else None
            require_same("whom a secret belongs to", expected, found)

    async def _turn(self) -> None:
        badges = [badge for badge in self._badges.values() if badge.credential.revoked_at_millis is None]
        if not badges or self._random.random() < 0.4:
            await self._issue()
        else:
            await self._change(self._random.choice(badges))

    async def _issue(self) -> None:
        self._guests += 1
        subject_id = f"guest {self._guests}"
        expiry = None if self._random.random() < 0.8 else self._machine.clock.millis() + _LIFETIME_MILLIS
        spec = CredentialSpec(
            subject_id=subject_id, capabilities=("memory_read",), grants=(_GRANT,), expires_at_millis=expiry
        )
        expected: Expected = "accepted" if expiry is None else "either"  # it may have expired when it is decided
        issue = partial(Ledger.issue_credential, spec=spec)
        await self._ask(Asked("CredentialIssued", subject_id, 1, expected), issue)

    async def _change(self, badge: Badge) -> None:
        credential_id, revision = badge.credential.id, badge.credential.revision
        asked = partial(Asked, whose=credential_id, revision=revision + 1)
        kind = self._random.choice(list(_CHANGES))
        change = partial(_CHANGES[kind], credential_id=credential_id)
        if kind == "CredentialAuthorityChanged":
            change = partial(change, authority=Authority(grants=self._random.choice(((_GRANT,), ()))))
        if self._random.random() < 0.9:
            await self._ask(asked(kind), partial(change, expected_revision=revision))
        else:
            await self._ask(asked(kind, expected="refused"), partial(change, expected_revision=revision + 1))

    async def _ask(self, asked: Asked, work: Work) -> None:
        admin = self._machine.admin
        assert admin is not None

        async def ask(ledger: Ledger) -> None:
            if asked.expected != "refused":
                self._story.badges.asked.add((asked.kind, asked.whose, asked.revision))
            with suppress(WriteBusy, WritesRefused):
                self._told(asked, await work(ledger, admin))

        with suppress(Unanswered):
            await self._machine.ask(ask)

    def _told(self, asked: Asked, outcome: IssuedCredential | Credential | Refusal) -> None:
        found = "refused" if isinstance(outcome, Refusal) else "accepted"
        require(asked.expected in (found, "either"), f"{asked} was answered: {outcome}")
        if isinstance(outcome, IssuedCredential):
            self._badges[outcome.credential.id] = Badge(outcome.credential, outcome.secret)
            self._story.badges.accept(outcome.credential)
        elif isinstance(outcome, Credential):
            self._badges[outcome.id].credential = outcome
            self._story.badges.accept(outcome)
