"""Credentials as answered (access.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.ids import Scope, Visibility
from relatum.core.wire import Millis, Uuid

Capability = Literal[
    "memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine", "credential_admin"
]

CredentialAction = Literal["bootstrapped", "issued", "rotated", "revoked", "scope_authority_changed"]


class SelectorView(Answer, frozen=True, kw_only=True):
    """All identifiers, or only the listed ones. `ids` goes with `only`."""

    mode: Open[Literal["all", "only"]]
    ids: tuple[str, ...] | UnsetType | None = UNSET


class ScopePolicyView(Answer, frozen=True, kw_only=True):
    """Authority over many scopes of the company at once."""

    version: Open[Literal["company_scopes_v1"]]
    projects: SelectorView
    agents: SelectorView
    missions: SelectorView
    allow_unassigned_mission: bool
    visibilities: tuple[Open[Visibility], ...]


class AuthorityView(Answer, frozen=True, kw_only=True):
    """The scopes that a credential may address: explicit grants, or a policy and no grants."""

    grants: tuple[Scope, ...]
    scope_policy: ScopePolicyView | UnsetType | None = UNSET


class CredentialSpecView(Answer, frozen=True, kw_only=True):
    """What a credential may do, and until when."""

    subject_id: str
    capabilities: tuple[Open[Capability], ...]
    grants: tuple[Scope, ...]
    expires_at_millis: Millis | None = None
    scope_policy: ScopePolicyView | UnsetType | None = UNSET


class CredentialEvent(Answer, frozen=True, kw_only=True):
    """One entry of a credential's history. A change of authority carries both authorities."""

    revision: int
    action: Open[CredentialAction]
    actor_id: Uuid
    at_millis: Millis
    previous: AuthorityView | UnsetType = UNSET
    current: AuthorityView | UnsetType = UNSET


class Credential(Answer, frozen=True, kw_only=True):
    """A credential as answered; it never holds a secret or its verifier."""

    id: Uuid
    company_id: str
    spec: CredentialSpecView
    revision: int
    revoked_at_millis: Millis | None
    history: tuple[CredentialEvent, ...]


class CredentialAnswer(Answer, frozen=True, kw_only=True):
    """A credential, without its secret."""

    contract_version: Literal[1]
    credential: Credential


class IssuedAnswer(Answer, frozen=True, kw_only=True):
    """A credential and its new secret, which is shown this once."""

    contract_version: Literal[1]
    credential: Credential
    secret: str


class CredentialsAnswer(Answer, frozen=True, kw_only=True):
    """The company's credentials ascending by id; `next_after` where more follow."""

    contract_version: Literal[1]
    credentials: tuple[Credential, ...]
    next_after: Uuid | None
