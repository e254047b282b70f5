"""Throw-away credentials: what became of each, as far as it was acknowledged, and whether a restarted server agrees.

Changes of credentials have no idempotency key. One that is in doubt is known to have happened by the revision that it
left; sent again, it is refused if it did and carried out if it did not. A secret whose answer was lost is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from crash_tests.history import Json
from crash_tests.registry import Change, Registry
from crash_tests.violation import require, require_same

SECRETS_TRIED_MAX = 12

Action = Literal["issued", "rotated", "revoked", "scope_authority_changed"]
_ACTIONS: dict[Change, Action] = {
    "rotate": "rotated",
    "revoke": "revoked",
    "scope-authority": "scope_authority_changed",
}


@dataclass(eq=False)
class Badge:
    """One credential."""

    credential_id: str
    secret: str | None = field(repr=False)
    """None where the answer that told it was lost."""
    actions: list[Action] = field(default_factory=lambda: ["issued"])
    old_secrets: list[str] = field(default_factory=list, repr=False)
    doubt: Change | None = None
    """What was asked for last, while nobody knows whether it happened."""

    @property
    def revoked(self) -> bool:
        """Whether it has come to its end."""
        return self.actions[-1] == "revoked"

    def changed(self, change: Change, secret: str | None) -> None:
        """What was asked for happened; `secret` is the new one, if it was told."""
        self.actions.append(_ACTIONS[change])
        self.doubt = None
        if change == "scope-authority":
            return  # it keeps its secret
        if self.secret is not None:
            self.old_secrets.append(self.secret)
        self.secret = secret


@dataclass
class Badges:
    """All badges of a store, for one thread at a time."""

    known: list[Badge] = field(default_factory=list)
    in_doubt: int = 0
    """How many were asked for without an answer."""

    def issued(self, answer: Json) -> Badge:
        """One that was asked for was made."""
        badge = Badge(answer["credential"]["id"], answer["secret"])
        self.known.append(badge)
        self.in_doubt -= 1
        return badge

    def check(self, registry: Registry, random: Random, others: set[str]) -> int:
        """Holds a restarted server against what was acknowledged; `others` are the ids that are no badges.

        Settles whatever was in doubt. How many badges there are.
        """
        listed = {one["id"]: one for one in registry.all() if one["history"][0]["action"] != "bootstrapped"}
        self._adopt(listed.keys() - others - {badge.credential_id for badge in self.known})
        for badge in self.known:
            require(badge.credential_id in listed, f"the credential {badge.credential_id} is lost")
            _compare(badge, listed[badge.credential_id])
            if badge.doubt is not None:
                _settle(badge, badge.doubt, registry, listed[badge.credential_id])
        for badge in random.sample(self.known, min(SECRETS_TRIED_MAX, len(self.known))):
            _try_secrets(badge, registry)
        return len(self.known)

    def _adopt(self, strangers: set[str]) -> None:
        require(
            len(strangers) <= self.in_doubt, f"{len(strangers)} credentials appeared and {self.in_doubt} are in doubt"
        )
        self.known += [Badge(credential_id, None) for credential_id in strangers]
        self.in_doubt = 0


def _compare(badge: Badge, credential: Json) -> None:
    """As acknowledged, or one step further if one is in doubt."""
    told: list[str] = [event["action"] for event in credential["history"]]
    known: list[str] = [*badge.actions]
    if badge.doubt is not None and len(told) > len(known):
        known.append(_ACTIONS[badge.doubt])
    require_same(f"the history of credential {badge.credential_id}", known, told)
    require_same(f"the revision of credential {badge.credential_id}", len(told), credential["revision"])
    revoked = credential["revoked_at_millis"] is not None
    require_same(f"whether credential {badge.credential_id} is revoked", known[-1] == "revoked", revoked)


def _settle(badge: Badge, doubt: Change, registry: Registry, credential: Json) -> None:
    happened = credential["revision"] > len(badge.actions)
    answer = registry.change(badge.credential_id, doubt, len(badge.actions))
    expected = 200 if not happened else 403 if doubt == "revoke" else 409
    name = f"the {doubt} of credential {badge.credential_id}, sent again"
    require_same(f"the status of {name}", expected, answer.status)
    badge.changed(doubt, None if happened else answer.json().get("secret"))


def _try_secrets(badge: Badge, registry: Registry) -> None:
    name = f"credential {badge.credential_id}"
    if badge.secret is not None:
        answer = registry.identity(badge.secret)
        require_same(f"the answer to the secret of {name}", 401 if badge.revoked else 200, answer.status)
        if answer.status == 200:
            require_same(f"the identity of {name}", badge.credential_id, answer.json()["credential"]["id"])
    for secret in badge.old_secrets[-1:]:
        require_same(f"the answer to an old secret of {name}", 401, registry.identity(secret).status)
