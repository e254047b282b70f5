"""What a planted bug is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from msgspec import Struct


class Patch(Struct, frozen=True):
    """One function of the product put into another's place: `owner` is a module or class, `name` a member of it."""

    owner: Any
    name: str
    replacement: Callable[..., Any]


class Bug(Struct, frozen=True, kw_only=True):
    """A bug: what it is called, what it does, and the patches that plant it."""

    name: str
    help: str
    patches: tuple[Patch, ...]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The product has the bug inside the block."""
        with ExitStack() as undo:
            for patch in self.patches:
                undo.enter_context(mock.patch.object(patch.owner, patch.name, patch.replacement))
            yield

    def plant(self) -> None:
        """The product has the bug from now on: for a process that does nothing else."""
        for patch in self.patches:
            setattr(patch.owner, patch.name, patch.replacement)
