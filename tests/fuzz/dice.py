"""Choices that a seed decides: the same in every run and on every machine, whoever else draws randomness."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

Option = TypeVar("Option")


class Dice:
    """The choices of one place in a campaign. Places of other names choose independently."""

    def __init__(self, *place: object) -> None:
        self._place = repr(place).encode()
        self._throws = 0

    def below(self, bound: int) -> int:
        """A number from 0 on."""
        self._throws += 1
        thrown = blake2b(self._throws.to_bytes(8), key=blake2b(self._place).digest()[:32], digest_size=8)
        return int.from_bytes(thrown.digest()) % bound

    def often(self, percent: int) -> bool:
        """Whether it is one of so many in a hundred."""
        return self.below(100) < percent

    def one_of(self, options: Sequence[Option]) -> Option:
        """One of them."""
        return options[self.below(len(options))]

    def shuffled(self, options: Sequence[Option]) -> list[Option]:
        """All of them in another order."""
        return [option for _, _, option in sorted((self.below(2**63), at, option) for at, option in enumerate(options))]
