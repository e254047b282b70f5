"""Answers of the routes that need no credential (transport.md)."""

from __future__ import annotations

from typing import Any, Literal

from relatum.core.answers.base import Answer, Open


class Health(Answer, frozen=True, kw_only=True):
    """The process serves."""

    contract_version: Literal[1]
    status: Open[Literal["healthy"]]
    version: str


class Ready(Answer, frozen=True, kw_only=True):
    """Commands are accepted."""

    contract_version: Literal[1]
    status: Open[Literal["ready"]]


class NotReady(Answer, frozen=True, kw_only=True):
    """Commands are not accepted; `status` says why.

    `poisoned`: a storage failure has stopped all writes. `clock_ahead`: the clock is further ahead than can be right.
    """

    contract_version: Literal[1]
    status: Open[Literal["starting", "poisoned", "draining", "clock_ahead"]]


class Readiness(Answer, frozen=True, kw_only=True):
    """What both of these have in common: as a client decodes the one or the other."""

    contract_version: Literal[1]
    status: Any
