"""A planted bug is one of behaviour: what it puts in the product's place is called as what was there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from crash_tests.bugs import BUGS
from crash_tests.bugs.bug import Patch

PATCHES = [pytest.param(patch, id=f"{bug.name}: {patch.name}") for bug in BUGS.values() for patch in bug.patches]


def called(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """How a function is called, whatever the names of what it takes by its place; and whether it returns anything."""
    signature = inspect.signature(function)
    return [
        *(
            (one.kind, one.name if one.kind is one.KEYWORD_ONLY else "", one.default is one.empty)
            for one in signature.parameters.values()
        ),
        ("nothing" if signature.return_annotation in (None, "None") else "something",),
    ]


@pytest.mark.parametrize("patch", PATCHES)
def test_a_bug_is_called_as_what_it_replaces(patch: Patch) -> None:
    """Or else it is noticed because it breaks, and not for what it is."""
    assert called(getattr(patch.owner, patch.name)) == called(patch.replacement)
