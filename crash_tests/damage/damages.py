"""What a damage is, and the list of all kinds of them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import NamedTuple

from crash_tests.damage.scene import Scene


class Case(NamedTuple):
    """One store to be damaged, and what there is to do it with."""

    place: Path
    """Where the undamaged store lies, see `scene.py`."""
    store: Path
    """Its copy."""
    scene: Scene
    random: Random


class Done(NamedTuple):
    """What was done to a store.

    `unreadable` are rows that nobody can read any more: missing, or not matching their checksums. Where the damage is
    one that a plain power cut leaves, `harmless` is set: the store must open and know everything.
    """

    what: str
    unreadable: frozenset[bytes] = frozenset()
    in_rows: bool = False
    harmless: bool = False
