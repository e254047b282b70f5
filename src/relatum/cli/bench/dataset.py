"""What is written: records of real proposals, and relations between them that are made up.

Records are the Python PEPs that are shipped with the package, taken again from the first where more are asked for.
Relations are synthetic, since the real ones are 113: the ends follow one another in an order that looks random and is
the same on every run, with the provenance that an extraction worker would give.

Always holds: no two commands of one `Assertions` have the same key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Final

import msgspec

from relatum.core.commands import CreateRecord
from relatum.core.ids import Ref
from relatum.core.records import RecordInput

_LINES: Final = msgspec.json.Decoder(dict[str, str | None])
_STRIDE: Final = 7_919
"""A prime: the ends come by in an order in which neighbours seldom meet."""


def records(count: int) -> list[CreateRecord]:
    """Commands that create `count` records."""
    peps = list(_peps())
    return [CreateRecord(record=peps[number % len(peps)]) for number in range(count)]


def _peps() -> Iterator[RecordInput]:
    text = (resources.files("relatum") / "data" / "peps" / "records.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        pep = _LINES.decode(line)
        facts = "\n".join(f"{name}: {value}" for name, value in pep.items() if value is not None)
        yield RecordInput(title=pep["title"], content=facts, tags=(str(pep["id"]).lower(),))


class Assertions:
    """Commands that relate records, one after another, each as JSON: an item of `relations/commands/batch`."""

    def __init__(self, ends: Sequence[Ref], keys: str = "bench") -> None:
        self._ends = [msgspec.json.encode(end) for end in ends]
        self._keys = keys.encode()
        self._given = 0

    def take(self, count: int) -> list[bytes]:
        """The next `count` commands."""
        return [self._next() for _ in range(count)]

    def _next(self) -> bytes:
        number = self._given
        self._given += 1
        return assertion(b"%s-%d" % (self._keys, number), *self._pair(number))

    def _pair(self, number: int) -> tuple[bytes, bytes]:
        count = len(self._ends)
        source = number * _STRIDE % count
        distance = 1 + number // count % (count - 1)
        return self._ends[source], self._ends[(source + distance) % count]


def assertion(key: bytes, source: bytes, target: bytes) -> bytes:
    """One command that relates two records, given as JSON."""
    return (
        b'{"idempotency_key":"%s","operation":{"type":"assert","relation":{"source":%s,"target":%s,"kind":"supports",'
        b'"provenance":{"origin":"model_inference","method":"header-reader","method_revision":"3",'
        b'"evidence_ref":"https://peps.python.org/pep-0001/#%s",'
        b'"model":{"provider":"maker","model":"reader-2","revision":"2026-05-01"}}}}}' % (key, source, target, key)
    )
