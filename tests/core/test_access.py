"""Who may: capabilities, grants, scope policies and expiry, and what a specification may not ask for (access.md)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from relatum.core.access import Authority, Credential, CredentialSpec, ScopePolicy, Selector
from relatum.core.ids import Scope
from tests.support.builders import START_MILLIS, unknown_id

ALL = Selector(mode="all")
GRANT = Scope(project_id="p", mission_id="m", agent_id="a", visibility="shared")


def only(*ids: str) -> Selector:
    return Selector(mode="only", ids=ids)


def policy(**members: Any) -> ScopePolicy:
    given: dict[str, Any] = {
        "version": "company_scopes_v1",
        "projects": ALL,
        "agents": ALL,
        "missions": ALL,
        "allow_unassigned_mission": False,
        "visibilities": ("private", "shared"),
    }
    return ScopePolicy(**given | members)


def spec(**members: Any) -> CredentialSpec:
    given: dict[str, Any] = {"subject_id": "ada", "capabilities": ("memory_read",), "grants": (GRANT,)}
    return CredentialSpec(**given | members)


def scope(**members: Any) -> Scope:
    given: dict[str, Any] = {"project_id": "p", "mission_id": "m", "agent_id": "a", "visibility": "shared"}
    return Scope(**given | members)


OTHER_SCOPES = [
    scope(project_id="P"),
    scope(mission_id="m "),
    scope(mission_id=None),
    scope(agent_id="b"),
    scope(visibility="private"),
]


def test_a_grant_matches_on_all_four_members() -> None:
    authority = Authority(grants=(GRANT,))
    assert authority.covers(scope())
    assert [] == [other for other in OTHER_SCOPES if authority.covers(other)]


def test_a_missionless_grant_is_no_wildcard() -> None:
    authority = Authority(grants=(scope(mission_id=None),))
    assert authority.covers(scope(mission_id=None))
    assert not authority.covers(scope())


POLICIES: list[tuple[ScopePolicy, Scope, bool]] = [
    (policy(), scope(), True),
    (policy(), scope(mission_id=None), False),
    (policy(allow_unassigned_mission=True), scope(mission_id=None), True),
    (policy(missions=only(), allow_unassigned_mission=True), scope(mission_id=None), True),
    (policy(missions=only()), scope(), False),
    (policy(missions=only("m")), scope(), True),
    (policy(projects=only("p", "q")), scope(), True),
    (policy(projects=only("q")), scope(), False),
    (policy(agents=only("a")), scope(), True),
    (policy(agents=only("A")), scope(), False),
    (policy(visibilities=("private",)), scope(), False),
    (policy(visibilities=("shared",)), scope(), True),
    (policy(visibilities=("private",)), scope(visibility="private"), True),
]


@pytest.mark.parametrize(("given", "wanted", "covered"), POLICIES)
def test_a_policy_covers_what_each_of_its_members_selects(given: ScopePolicy, wanted: Scope, covered: bool) -> None:
    assert covered == Authority(grants=(), scope_policy=given).covers(wanted)


def many_scopes(number: int) -> tuple[Scope, ...]:
    return tuple(scope(project_id=f"p{one}") for one in range(number))


def many_names(number: int) -> tuple[str, ...]:
    return tuple(f"n{one}" for one in range(number))


SPECS: list[tuple[CredentialSpec, CredentialSpec]] = [
    # sound, broken
    (spec(subject_id="s" * 256), spec(subject_id="s" * 257)),
    (spec(), spec(subject_id="\n")),
    (spec(), spec(capabilities=())),
    (spec(capabilities=("memory_read", "memory_write")), spec(capabilities=("memory_read", "memory_read"))),
    (spec(grants=()), spec(grants=(GRANT, GRANT))),
    (spec(grants=many_scopes(256)), spec(grants=many_scopes(257))),
    (spec(), spec(grants=(scope(project_id=""),))),
    (spec(grants=(), scope_policy=policy()), spec(grants=(GRANT,), scope_policy=policy())),
    (
        spec(grants=(), scope_policy=policy(), capabilities=("memory_read", "memory_review")),
        spec(grants=(), scope_policy=policy(), capabilities=("memory_read", "credential_admin")),
    ),
    (
        spec(grants=(), scope_policy=policy(projects=only(*many_names(256)))),
        spec(grants=(), scope_policy=policy(projects=only(*many_names(257)))),
    ),
    (
        spec(grants=(), scope_policy=policy(agents=only("a", "b"))),
        spec(grants=(), scope_policy=policy(agents=only("a", "a"))),
    ),
    (
        spec(grants=(), scope_policy=policy(missions=only("m" * 256))),
        spec(grants=(), scope_policy=policy(missions=only("m" * 257))),
    ),
    (
        spec(grants=(), scope_policy=policy(missions=only())),
        spec(grants=(), scope_policy=policy(missions=Selector(mode="only"))),
    ),
    (
        spec(grants=(), scope_policy=policy(missions=ALL)),
        spec(grants=(), scope_policy=policy(missions=Selector(mode="all", ids=()))),
    ),
    (
        spec(grants=(), scope_policy=policy(visibilities=("shared",))),
        spec(grants=(), scope_policy=policy(visibilities=())),
    ),
    (
        spec(grants=(), scope_policy=policy(visibilities=("shared", "private"))),
        spec(grants=(), scope_policy=policy(visibilities=("shared", "shared"))),
    ),
]


@pytest.mark.parametrize(("sound", "broken"), SPECS)
def test_a_specification_is_bounded(sound: CredentialSpec, broken: CredentialSpec) -> None:
    assert sound.problem() is None
    assert broken.problem() is not None


@pytest.mark.parametrize("ids", ["", ', "ids": null'])
def test_a_selector_without_ids_and_one_whose_ids_are_null_are_the_same(ids: str) -> None:
    selector = msgspec.json.decode(f'{{"mode": "all"{ids}}}'.encode(), type=Selector)
    assert selector == ALL
    assert msgspec.json.encode(selector) == b'{"mode":"all"}'
    assert spec(grants=(), scope_policy=policy(missions=selector)).problem() is None


def test_a_selector_of_listed_ids_needs_them_and_null_lists_none() -> None:
    selector = Selector(mode="only", ids=None)
    assert not selector.matches("m")
    assert selector.problem() is not None


def credential(given: CredentialSpec, revoked_at_millis: int | None = None) -> Credential:
    return Credential(
        id=unknown_id(),
        company_id="acme",
        spec=given,
        revision=1,
        revoked_at_millis=revoked_at_millis,
        history=(),
    )


def test_expiry_is_half_open() -> None:
    expiring = credential(spec(expires_at_millis=START_MILLIS))
    assert expiring.usable(START_MILLIS - 1)
    assert not expiring.usable(START_MILLIS)


def test_a_revoked_credential_is_never_usable_and_one_without_expiry_always() -> None:
    assert not credential(spec(), revoked_at_millis=START_MILLIS).usable(0)
    assert credential(spec()).usable(2**63 - 1)


def test_no_capability_implies_another() -> None:
    reviewer = credential(spec(capabilities=("memory_review",)))
    assert reviewer.holds("memory_review")
    assert not reviewer.holds("memory_review", "memory_read")
    assert not reviewer.holds("memory_write")
    assert not credential(spec(capabilities=("credential_admin",))).holds("memory_read")


def test_a_null_policy_and_an_omitted_one_are_the_same_and_answered_by_omission() -> None:
    bare = b'{"subject_id":"ada","capabilities":["memory_read"],"grants":[]'
    omitted = msgspec.json.decode(bare + b"}", type=CredentialSpec)
    null = msgspec.json.decode(bare + b',"scope_policy":null,"expires_at_millis":null}', type=CredentialSpec)
    assert omitted == null
    assert UNSET is null.scope_policy
    assert b"scope_policy" not in msgspec.json.encode(null)
