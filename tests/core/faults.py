"""What can be wrong with one command, in the order in which the contract wants it noticed.

A command is drafted as a dictionary of choices; a fault changes some of them. Two faults that change different choices
can be made at once, and then the earlier one must be the one that is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import pytest

Draft = dict[str, Any]


class Fault(NamedTuple):
    """`changes` spoil a sound draft; the rest is the refusal that this must meet."""

    name: str
    changes: Draft
    status: int
    code: str
    message: str


def static(name: str, changes: Draft, message: str) -> Fault:
    return Fault(name, changes, 400, "invalid_request", message)


def unknown(name: str, changes: Draft, message: str) -> Fault:
    return Fault(name, changes, 404, "record_not_found", message)


def conflict(name: str, changes: Draft, message: str) -> Fault:
    return Fault(name, changes, 409, "revision_conflict", message)


def alone_and_in_pairs(faults: Sequence[Fault]) -> list[Any]:
    """Parameters (changes, the fault that must be told): every fault alone, and every two that can be made at once."""
    alone = [pytest.param(fault.changes, fault, id=fault.name) for fault in faults]
    pairs = [
        pytest.param(later.changes | earlier.changes, earlier, id=f"{earlier.name} before {later.name}")
        for earlier, later in combinations(faults, 2)
        if earlier.changes.keys().isdisjoint(later.changes)
    ]
    assert pairs
    return alone + pairs
