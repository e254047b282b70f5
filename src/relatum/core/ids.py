"""Identities: scopes, partitions, authors, references to records, and the UUIDs the ledger makes."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec.structs import force_setattr

from relatum.core.text import is_identifier
from relatum.core.wire import Closed, Revision, Sparse, Uuid, canonical_uuid, check_u64

Visibility = Literal["private", "shared"]


class Scope(Closed, frozen=True, kw_only=True):
    """The part of a partition's identity that a request names (access.md).

    An omitted mission is the missionless scope.
    """

    project_id: str
    mission_id: str | None = None
    agent_id: str
    visibility: Visibility

    def well_formed(self) -> bool:
        """All identifiers belong to their string class."""
        return (
            is_identifier(self.project_id)
            and is_identifier(self.agent_id)
            and (self.mission_id is None or is_identifier(self.mission_id))
        )


class Partition(Sparse, frozen=True, kw_only=True):
    """Where everything lives: (company, project, mission, agent, visibility, private subject).

    The company's own partition, home of its credentials, has a company and nothing else.
    """

    company_id: str
    project_id: str | None = None
    mission_id: str | None = None
    agent_id: str | None = None
    visibility: Visibility | None = None
    private_subject_id: str | None = None

    @property
    def scope(self) -> Scope:
        """The scope that addresses this partition; only a memory partition has one."""
        assert self.project_id is not None and self.agent_id is not None and self.visibility is not None
        return Scope(
            project_id=self.project_id, mission_id=self.mission_id, agent_id=self.agent_id, visibility=self.visibility
        )


def company_partition(company_id: str) -> Partition:
    """The partition that holds the company's credentials."""
    return Partition(company_id=company_id)


def memory_partition(company_id: str, subject_id: str, scope: Scope) -> Partition:
    """The partition that `scope` addresses for a subject of a company."""
    return Partition(
        company_id=company_id,
        project_id=scope.project_id,
        mission_id=scope.mission_id,
        agent_id=scope.agent_id,
        visibility=scope.visibility,
        private_subject_id=subject_id if scope.visibility == "private" else None,
    )


class Author(Closed, frozen=True, kw_only=True):
    """Who gave a command: always the caller's credential, never a member of the request."""

    credential_id: Uuid
    subject_id: str


class Ref(Closed, frozen=True, kw_only=True):
    """A record at a revision: a pin on what somebody has read there (records.md, pins)."""

    record_id: Uuid
    revision: Revision

    def __post_init__(self) -> None:
        check_u64(self.revision)
        canonical = canonical_uuid(self.record_id)
        if canonical is not self.record_id:  # mostly it is, and a command has many references
            force_setattr(self, "record_id", canonical)


@lru_cache(maxsize=65_536)
def uuid_bytes(uuid: str) -> bytes:
    """The 16 bytes of a canonical UUID; remembered, since a command asks for the same few many times."""
    return bytes.fromhex(uuid.replace("-", ""))


def uuid_text(raw: bytes) -> str:
    """The canonical text of 16 bytes."""
    return _spelled(raw.hex())


def _spelled(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_DRAWN_BITS = 0x0FFF << 64 | 2**62 - 1
_VERSION_AND_VARIANT = 0x7000 << 64 | 0b10 << 62


def uuid7(millis: int, entropy: bytes) -> str:
    """A version 7 UUID of a time and 10 random bytes.

    Its order is the order of creation to the millisecond, so that ids scan in time order.
    """
    time = min(max(millis, 0), 2**48 - 1)
    drawn = int.from_bytes(entropy[:10], "big") & _DRAWN_BITS
    return _spelled(f"{time << 80 | _VERSION_AND_VARIANT | drawn:032x}")


def uuid7_millis(value: str) -> int:
    """When a version 7 UUID was made."""
    return int.from_bytes(uuid_bytes(value)[:6], "big")
