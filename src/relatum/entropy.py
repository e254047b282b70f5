"""Randomness: the only module that draws it from the operating system.

A command's ids, nonces and salts all come from the bytes it was stamped with, and secrets from bytes drawn here, so
that a simulation that hands in its own `Entropy` makes the same store twice.
"""

from __future__ import annotations

import os
from typing import Protocol


class Entropy(Protocol):
    """Answers bytes that nobody can guess. Any thread may ask."""

    def draw(self, size: int) -> bytes:
        """`size` fresh random bytes."""
        ...


class SystemEntropy:
    """The operating system's generator, fit for secrets."""

    def draw(self, size: int) -> bytes:
        """`size` fresh random bytes."""
        return os.urandom(size)
