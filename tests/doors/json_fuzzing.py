"""Bodies of any bytes, given to the scan of strict JSON and to the routes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

import msgspec

from relatum.http import strict_json
from relatum.limits import JSON_DEPTH_MAX
from tests.doors.bodies import bodies
from tests.doors.door import Door, door
from tests.doors.mutating import JSON_TOKENS, Mutator, as_json
from tests.fuzz.dice import Dice

LEFT: Final = 0
"""Stands for the status of an answer that a client did not wait for."""
ANSWERED: Final = {LEFT, 200, 201, 400, 403, 404, 409, 413}
SAMPLE: Final = {
    "a": [1, 2.5, "é", None, True, {"b": {}}],
    "c": {"d": -1, "e": 18446744073709551615},
    "f": "\\u00e9 \\n",
}


async def fuzz_route(path: str, cases: int, seed: int) -> Counter[int]:
    """How often each status was answered; every answer was held to the document, and nothing was logged."""
    async with door() as opened:
        samples = [as_json(sample) for sample in (await bodies(opened))[path]]
        mutator = Mutator(samples, JSON_TOKENS, "bodies", path, seed)
        dice = Dice("pieces", path, seed)
        statuses: Counter[int] = Counter()
        for body in mutator.cases(cases):
            statuses[await _answered(opened, path, body, dice)] += 1
        assert set(statuses) <= ANSWERED
        assert "" == opened.log.getvalue()
    return statuses


async def _answered(opened: Door, path: str, body: bytes, dice: Dice) -> int:
    """The status for a body that arrives in pieces, now and then from a client that leaves before its end."""
    cuts = sorted(dice.below(len(body) + 1) for _ in range(dice.below(4)))
    pieces = [body[start:stop] for start, stop in zip((0, *cuts), (*cuts, len(body)), strict=True)]
    whole = dice.often(95)
    response = await opened.post(path, *pieces, whole=whole)
    assert response is not None or not whole
    return LEFT if response is None else response.status_code


def fuzz_scan(cases: int, seed: int) -> int:
    """How many bodies passed the scan; each is read alike by the standard library and by the typed decoder."""
    samples = [as_json(SAMPLE), as_json([SAMPLE, SAMPLE]), as_json({"deep": _nested(JSON_DEPTH_MAX - 1)})]
    passed = 0
    for body in Mutator(samples, JSON_TOKENS, "scan", seed).cases(cases):
        if _passes(body):
            passed += 1
            assert _depth(json.loads(body)) <= JSON_DEPTH_MAX
            assert _same(body)
    return passed


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def _passes(body: bytes) -> bool:
    try:
        strict_json.check(body)
    except strict_json.StrictJsonError:
        return False
    return True


def _depth(value: object) -> int:
    match value:
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case list():
            return 1 + max(map(_depth, value), default=0)
        case _:
            return 0


def _same(body: bytes) -> bool:
    """Whether the typed decoder reads the same as the standard library, but for surrogates without a partner."""
    try:
        return bool(msgspec.json.decode(body) == json.loads(body))
    except msgspec.DecodeError:
        text: str = json.dumps(json.loads(body), ensure_ascii=False)
        return any("\ud800" <= character <= "\udfff" for character in text)
