"""Credentials, capabilities, grants and scope policies (access.md). Whether a caller may is decided here, purely."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.answers import access as answered
from relatum.core.answers.access import Capability, CredentialAction
from relatum.core.ids import Author, Scope, Visibility
from relatum.core.text import is_identifier
from relatum.core.wire import Closed, Millis, Revision, Sparse, Uuid, check_i64, check_u64


class Selector(answered.SelectorView, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All identifiers, or only the listed ones. `ids` goes with `only`."""

    mode: Literal["all", "only"]
    ids: tuple[str, ...] | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if self.ids is None:
            force_setattr(self, "ids", UNSET)

    def matches(self, identifier: str) -> bool:
        """Whether `identifier` is selected."""
        return self.mode == "all" or (isinstance(self.ids, tuple) and identifier in self.ids)

    def problem(self) -> str | None:
        """What is wrong with this selector, or None."""
        if self.mode == "all":
            return None if self.ids is UNSET else "a selector of mode all carries no ids"
        if not isinstance(self.ids, tuple):
            return "a selector of mode only needs ids"
        if len(self.ids) > limits.POLICY_IDS_MAX or len(set(self.ids)) != len(self.ids):
            return "selector ids must be distinct and at most 256"
        return None if all(is_identifier(one) for one in self.ids) else "a selector id is not an identifier"


class ScopePolicy(answered.ScopePolicyView, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Authority over many scopes of the company at once."""

    version: Literal["company_scopes_v1"]
    projects: Selector
    agents: Selector
    missions: Selector
    allow_unassigned_mission: bool
    visibilities: tuple[Visibility, ...]

    def matches(self, scope: Scope) -> bool:
        """Whether the policy covers `scope`."""
        mission_id = scope.mission_id
        return (
            (self.allow_unassigned_mission if mission_id is None else self.missions.matches(mission_id))
            and scope.visibility in self.visibilities
            and self.projects.matches(scope.project_id)
            and self.agents.matches(scope.agent_id)
        )

    def problem(self) -> str | None:
        """What is wrong with this policy, or None."""
        if not 1 <= len(self.visibilities) <= 2 or len(set(self.visibilities)) != len(self.visibilities):
            return "visibilities must be one or two, distinct"
        return self.projects.problem() or self.agents.problem() or self.missions.problem()


class Authority(answered.AuthorityView, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scopes that a credential may address: explicit grants, or a policy and no grants."""

    grants: tuple[Scope, ...]
    scope_policy: ScopePolicy | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if self.scope_policy is None:
            force_setattr(self, "scope_policy", UNSET)

    def covers(self, scope: Scope) -> bool:
        """Whether `scope` is granted."""
        return scope in self.grants or (isinstance(self.scope_policy, ScopePolicy) and self.scope_policy.matches(scope))

    def problem(self) -> str | None:
        """What is wrong with this authority, or None."""
        if len(self.grants) > limits.GRANTS_MAX or len(set(self.grants)) != len(self.grants):
            return "grants must be distinct and at most 256"
        if not all(grant.well_formed() for grant in self.grants):
            return "a grant is not well formed"
        if isinstance(self.scope_policy, ScopePolicy):
            return "a scope policy needs empty grants" if self.grants else self.scope_policy.problem()
        return None


class CredentialSpec(answered.CredentialSpecView, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a credential may do, and until when."""

    subject_id: str
    capabilities: tuple[Capability, ...]
    grants: tuple[Scope, ...]
    expires_at_millis: Millis | None = None
    scope_policy: ScopePolicy | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        check_i64(self.expires_at_millis)
        if self.scope_policy is None:
            force_setattr(self, "scope_policy", UNSET)

    @property
    def authority(self) -> Authority:
        """The scopes of this spec."""
        policy = self.scope_policy
        return Authority(grants=self.grants, scope_policy=policy if isinstance(policy, ScopePolicy) else UNSET)

    def problem(self) -> str | None:
        """The first static rule that this spec breaks, or None."""
        if not is_identifier(self.subject_id):
            return "the subject is not an identifier"
        if not self.capabilities or len(set(self.capabilities)) != len(self.capabilities):
            return "capabilities must be distinct and at least one"
        if isinstance(self.scope_policy, ScopePolicy) and "credential_admin" in self.capabilities:
            return "a scope policy excludes credential_admin"
        return self.authority.problem()


class CredentialEvent(answered.CredentialEvent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of a credential's history. A change of authority carries both authorities."""

    revision: int
    action: CredentialAction
    actor_id: Uuid
    at_millis: Millis
    previous: Authority | UnsetType = UNSET
    current: Authority | UnsetType = UNSET


class Credential(answered.Credential, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A credential as answered; it never holds a secret or its verifier."""

    id: Uuid
    company_id: str
    spec: CredentialSpec
    revision: int
    revoked_at_millis: Millis | None
    history: tuple[CredentialEvent, ...]

    def usable(self, now_millis: int) -> bool:
        """Neither revoked nor expired at `now_millis`."""
        expiry = self.spec.expires_at_millis
        return self.revoked_at_millis is None and (expiry is None or now_millis < expiry)

    def holds(self, *capabilities: Capability) -> bool:
        """All of `capabilities`; none implies another."""
        return set(capabilities).issubset(self.spec.capabilities)

    @property
    def author(self) -> Author:
        """The author that commands under this credential are recorded with."""
        return Author(credential_id=self.id, subject_id=self.spec.subject_id)


class StoredCredential(Sparse, frozen=True, kw_only=True):
    """A credential with the verifier of its present secret."""

    credential: Credential
    verifier: bytes


class CredentialIssue(Closed, frozen=True, kw_only=True):
    """Body of `POST credentials`."""

    contract_version: int
    spec: CredentialSpec


class CredentialChange(Closed, frozen=True, kw_only=True):
    """Body of `rotate` and `revoke`."""

    contract_version: int
    expected_revision: Revision

    def __post_init__(self) -> None:
        check_u64(self.expected_revision)


class AuthorityChange(CredentialChange, frozen=True, kw_only=True):
    """Body of `scope-authority`."""

    authority: Authority
