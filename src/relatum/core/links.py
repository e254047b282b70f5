"""Curated links: that two records belong together, said by somebody who tends them (views.md, curated links).

A link pins no revision, has no history of its own beyond its events, and is no relation: neither the typed graph nor
the relation stream knows it. A pair has at most one, in either direction.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import force_setattr

from relatum.core.answers import receipts as answered
from relatum.core.answers.receipts import LinkAction, LinkKind
from relatum.core.ids import Author, Scope
from relatum.core.wire import Closed, DigestHex, Millis, Sparse, Uuid, canonical_uuid


class _Ends(Sparse, frozen=True, kw_only=True):
    """Both ends of a link."""

    source_id: Uuid
    target_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "source_id", canonical_uuid(self.source_id))
        force_setattr(self, "target_id", canonical_uuid(self.target_id))


class Link(_Ends, tag="link", frozen=True, kw_only=True):
    """Link two records, or give the pair's link another kind and direction."""

    kind: LinkKind


class Unlink(_Ends, tag="unlink", frozen=True, kw_only=True):
    """Take away the link of a pair."""


LinkOperation = Link | Unlink


class LinkCommand(Closed, frozen=True, kw_only=True):
    """Body of `links/commands`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    operation: LinkOperation


class LinkReceipt(answered.LinkReceipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of a link command. `kind` is that of the link that was made or taken away."""

    contract_version: Literal[1]
    idempotency_key: str
    source_id: Uuid
    target_id: Uuid
    kind: LinkKind
    action: LinkAction
    author: Author
    committed_at_millis: Millis
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class StoredLink(Sparse, frozen=True, kw_only=True):
    """A link as it is now."""

    source_id: Uuid
    target_id: Uuid
    kind: LinkKind
    linked_at_millis: int
    author: Author
