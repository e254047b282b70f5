"""Tables of cases of which every run tries some, and the long form all.

Where each case costs what a real run costs, and a few of them say as much as all while nothing else has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def matrix(lines: Collection[Any], columns: Collection[Any]) -> list[Any]:
    """Every pair of a line and a column, for `parametrize`; those that lie off the diagonals are `slow`."""
    lots = min(len(lines), len(columns))
    return [
        _param(line, column, slow=row % lots != place % lots)
        for row, line in enumerate(lines)
        for place, column in enumerate(columns)
    ]


def first_of(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """The values, for `parametrize`; all but the first few are `slow`."""
    return [_param(value, slow=place >= quick) for place, value in enumerate(values)]


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """The values, for `parametrize`; all but the first of each so many are `slow`."""
    return [_param(value, slow=place % step > 0) for place, value in enumerate(values)]


def _param(*values: Any, slow: bool) -> Any:
    return pytest.param(*values, marks=[pytest.mark.slow] if slow else [])
