"""Throw-away credentials: what a restarted server says of them is held against what was acknowledged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest

from crash_tests.history import Json
from crash_tests.random_draws import seeded
from crash_tests.registry import Change
from crash_tests.throwaway_credentials import Badge, Badges
from crash_tests.violation import Violation
from crash_tests.wire import Response


@dataclass
class Office:
    """Stands where a registry of a restarted server would: credentials by id, and who each secret belongs to."""

    actions: dict[str, list[str]]
    secrets: dict[str, str] = field(default_factory=dict)
    sent: list[tuple[str, Change, int]] = field(default_factory=list)

    def all(self) -> list[Json]:
        return [
            {
                "id": credential_id,
                "revision": len(actions),
                "revoked_at_millis": 7 if "revoked" in actions else None,
                "history": [{"action": action} for action in actions],
            }
            for credential_id, actions in self.actions.items()
        ]

    def change(self, credential_id: str, change: Change, expected_revision: int) -> Response:
        self.sent.append((credential_id, change, expected_revision))
        actions = self.actions[credential_id]
        if actions[-1] == "revoked":
            return Response(403, b"{}")
        if len(actions) != expected_revision:
            return Response(409, b"{}")
        actions.append({"rotate": "rotated", "revoke": "revoked"}.get(change, "scope_authority_changed"))
        if change == "scope-authority":
            return Response(200, b"{}")
        self.secrets = {secret: owner for secret, owner in self.secrets.items() if owner != credential_id}
        self.secrets["new"] = credential_id
        return Response(200, msgspec.json.encode({"secret": "new"} if change == "rotate" else {}))

    def identity(self, secret: str) -> Response:
        owner = self.secrets.get(secret)
        if owner is None or self.actions[owner][-1] == "revoked":
            return Response(401, b"{}")
        return Response(200, msgspec.json.encode({"credential": {"id": owner}}))


def check(badges: Badges, office: Office) -> int:
    return badges.check(office, seeded(1), {"account"})  # type: ignore[arg-type]  # a stand-in


def rotated_once() -> Badge:
    badge = Badge("one", "first")
    badge.changed("rotate", "second")
    return badge


def sound() -> Office:
    """A server that agrees with `rotated_once`."""
    actions = {"account": ["issued"], "root": ["bootstrapped"], "one": ["issued", "rotated"]}
    return Office(actions, {"second": "one"})


def test_what_was_acknowledged_is_there() -> None:
    assert 1 == check(Badges([rotated_once()]), sound())


UNSOUND: dict[str, tuple[Callable[[Office], object], str]] = {
    "a credential is lost": (lambda office: office.actions.pop("one"), "the credential one is lost"),
    "a rotation is lost": (lambda office: office.actions["one"].pop(), "the history of credential one"),
    "a change that nobody asked for": (
        lambda office: office.actions["one"].append("revoked"),
        "the history of credential one",
    ),
    "a credential that nobody asked for": (
        lambda office: office.actions.update(two=["issued"]),
        "1 credentials appeared and 0 are in doubt",
    ),
    "a secret that is refused": (lambda office: office.secrets.clear(), "the answer to the secret of credential one"),
    "an old secret that works": (
        lambda office: office.secrets.update(first="one"),
        "the answer to an old secret of credential one",
    ),
    "a secret of somebody else": (lambda office: office.secrets.update(second="account"), "the identity of"),
}


@pytest.mark.parametrize(("damage", "noticed"), UNSOUND.values(), ids=UNSOUND)
def test_what_differs_from_what_was_acknowledged_is_noticed(damage: Callable[[Office], object], noticed: str) -> None:
    office = sound()
    damage(office)
    with pytest.raises(Violation, match=noticed):
        check(Badges([rotated_once()]), office)


def test_a_revocation_that_was_acknowledged_must_hold() -> None:
    badge, office = rotated_once(), sound()
    badge.changed("revoke", None)
    with pytest.raises(Violation, match="the history of credential one"):
        check(Badges([badge]), office)
    office.actions["one"].append("revoked")
    check(Badges([badge]), office)


@pytest.mark.parametrize("change", ["rotate", "revoke", "scope-authority"])
def test_a_change_in_doubt_is_settled_by_sending_it_again(change: Change) -> None:
    for happened in (False, True):
        badge, office = rotated_once(), sound()
        badge.doubt = change
        if happened:
            office.change("one", change, 2)
        check(Badges([badge]), office)
        assert ("one", change, 2) == office.sent[-1]
        assert office.actions["one"] == badge.actions
        assert (badge.secret == "new") == (change == "rotate" and not happened)
        check(Badges([badge]), office)
        assert 1 == len(office.sent) - happened, "and stays so"


def test_an_issue_in_doubt_may_have_happened() -> None:
    badges, office = Badges([rotated_once()], in_doubt=1), sound()
    office.actions["two"] = ["issued"]
    assert 2 == check(badges, office)
    assert ("two", None) == (badges.known[-1].credential_id, badges.known[-1].secret)
    assert 2 == check(badges, office)
