"""Random numbers of a place: of a seed, a case, a round, a client, so that none of them shifts another's."""

from __future__ import annotations

from random import Random

Place = tuple[object, ...]
"""Where dice are thrown: a seed, then numbers or names from the large to the small."""


def seeded(*place: object) -> Random:
    """The random numbers of a place."""
    return Random("/".join(map(str, place)))
