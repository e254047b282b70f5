"""A checker of journals that knows nothing but docs/digests.md: its own encoding, its own labels, and BLAKE3.

It imports nothing of the ledger. What it checks came over the wire, but for the nonces, which only the store keeps.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from blake3 import blake3

Json = dict[str, Any]


class BrokenChain(Exception):
    """A delivery does not follow from the one before it."""


def workspace_id(company_id: str, scope: Json) -> str:
    """The name of a shared partition. Members that are null are left out."""
    members = {"company_id": company_id, **{name: value for name, value in scope.items() if value is not None}}
    return _digest("partition", members)


def check(workspace: str, baseline: Json, deliveries: Iterable[Json], nonces: Iterable[bytes]) -> int:
    """Raises BrokenChain unless the deliveries follow one another from the baseline on; how many there are."""
    stream, journal_id = baseline["stream"], baseline["journal_id"]
    bound = {"workspace_id": workspace, "stream": stream, "journal_id": journal_id}
    if (baseline["sequence"], baseline["prefix_digest"]) != (0, _digest("journal-baseline", bound)):
        raise BrokenChain("the baseline is of another journal")
    digest, checked = baseline["prefix_digest"], 0
    for sequence, delivery, nonce in zip(count(1), deliveries, nonces, strict=False):
        entry = {"sequence": sequence, "previous": digest, "nonce": nonce.hex(), "change": delivery["change"]}
        digest = _digest("journal-entry", bound | entry)
        cursor = {
            "version": 1,
            "stream": stream,
            "journal_id": journal_id,
            "sequence": sequence,
            "prefix_digest": digest,
        }
        if delivery["cursor"] != cursor:
            raise BrokenChain(f"delivery {sequence} does not follow from the one before it")
        checked = sequence
    return checked


def _digest(label: str, value: object) -> str:
    return blake3(b"relatum/1/" + label.encode() + b"\0" + encoded(value)).hexdigest()


def encoded(value: object) -> bytes:
    """Canonical bytes of what occurs in a journal: texts, non-negative integers, and objects of them."""
    match value:
        case str():
            text = value.encode()
            return _head(len(text), (0xA0, 32), (0xD9, 1), (0xDA, 2)) + text
        case int() if value >= 0:
            return _head(value, (0x00, 128), (0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8))
        case dict():
            names = sorted(value, key=str.encode)
            parts = (encoded(name) + encoded(value[name]) for name in names)
            return _head(len(value), (0x80, 16)) + b"".join(parts)
        case _:
            raise TypeError("nothing else occurs in a journal")


def _head(number: int, short: tuple[int, int], *wider: tuple[int, int]) -> bytes:
    """A number in its shortest form: within the tag's own byte, or in so many bytes behind it."""
    tag, below = short
    if number < below:
        return bytes([tag + number])
    tag, width = next((tag, width) for tag, width in wider if number < 1 << 8 * width)
    return bytes([tag]) + number.to_bytes(width, "big")
