"""What a verification found: counts, digests and findings."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

FINDINGS_MAX: Final = 100
"""Findings that a report names; beyond them they are counted."""


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that does not hold. The message names keys and digests, never what a client wrote."""

    family: str
    workspace_id: str | None = None
    message: str


class FamilyReport(Struct, frozen=True, kw_only=True):
    """The rows of one table, of all partitions together.

    `digest` is the sum of the digests of all rows, keys included: two stores with the same rows have the same.
    """

    rows: int
    digest: str
    findings: int


class Report(Struct, frozen=True, kw_only=True):
    """A whole store. `digest` is that of its history at `position`; `findings` holds the first `FINDINGS_MAX`."""

    position: int
    digest: str
    partitions: int
    rows: int
    families: dict[str, FamilyReport]
    findings: tuple[Finding, ...]
    findings_count: int

    @property
    def clean(self) -> bool:
        """Whether everything holds."""
        return self.findings_count == 0
