"""Progress bars: on standard error, and only where somebody looks at them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

_STEPS: Final = 1_000


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None]]:
    """A bar while the block runs, on a terminal; what is yielded is told which part of the work is done, 0 to 1."""
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        shown = 0

        def told(part: float) -> None:
            nonlocal shown
            steps = int(_STEPS * part)
            if steps > shown:
                bar.update(steps - shown)
                shown = steps

        yield told
