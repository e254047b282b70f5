"""A restarted server, held against what was told in the scope that is tended.

    resolve    what is in doubt is there with its receipt, or not at all; sending it again settles it
    replay     what was acknowledged is answered with the same again, as far as it must last

What always holds: nothing here looks at anything but answers; the rows are for the inspection to judge.
"""

from __future__ import annotations

from contextlib import closing
from random import Random

import msgspec
from msgspec import Struct

from crash_tests.curation_workload.outcomes import Tended
from crash_tests.curation_workload.requests import Request
from crash_tests.curation_workload.worker import post, settle
from crash_tests.history import Json
from crash_tests.violation import require, require_same
from crash_tests.wire import Connection

RECEIPTS = "/api/v1/memory/receipts/read"
RECENT = 40
REPLAYED_MAX = 20
"""So many are sent again: the last ones, and some of all others."""


class Looked(Struct, frozen=True, kw_only=True):
    """How much was compared."""

    present: int
    absent: int
    replayed: int


def look(tended: Tended, port: int, random: Random) -> Looked:
    """Settles what is in doubt and asks again for what is not. Raises `Violation`."""
    unknown = tended.unknown()
    answered = tended.answered()
    older = answered[:-RECENT]
    with closing(Connection(port, tended.desk.account.secret)) as connection:
        present = sum(_resolve(connection, tended, request) for request in unknown)
        again = [*answered[-RECENT:], *random.sample(older, min(REPLAYED_MAX, len(older)))]
        for request in again:
            _send(connection, tended, request)
    return Looked(present=present, absent=len(unknown) - present, replayed=len(again))


def _resolve(connection: Connection, tended: Tended, request: Request) -> bool:
    """Whether it was there. Of a batch, the first receipt is looked at; items that are refused have none."""
    before = _receipt(connection, tended, request)
    _send(connection, tended, request)
    if before is None:
        return False
    require(request in tended.answered(), f"{request.key} is there with a receipt and is refused")
    require_same(f"the receipt of {request.key}", before, _receipt(connection, tended, request))
    return True


def _send(connection: Connection, tended: Tended, request: Request) -> None:
    response = post(connection, request)
    settled = settle(tended, request, response)
    require(settled, f"{request.key}, sent again, is answered with {response.status} {response.body[:600]!r}")


def _receipt(connection: Connection, tended: Tended, request: Request) -> Json | None:
    asked = tended.desk.body(family=request.family, idempotency_key=request.key)
    response = connection.post(RECEIPTS, asked)
    if response.status == 404:
        return None
    require(response.status == 200, f"a receipt was answered with {response.status} {response.body[:600]!r}")
    receipt: Json = msgspec.json.decode(response.body)["receipt"]
    return receipt
