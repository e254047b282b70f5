"""What was asked for in the scope that is tended, and what came of it.

What always holds: a request is entered before it is sent, so that whatever may have reached the server is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

import msgspec

from crash_tests.curation_workload.requests import SCOPE, Known, Request, lasting
from crash_tests.history import Account, Desk, Json
from crash_tests.inspection.claims import NO_RECEIPT, Claim, items_of
from crash_tests.violation import require, require_same
from relatum.core.ids import Scope
from relatum.core.relation_events import judgment_family


class Tended:
    """One account's requests on one store. For any thread."""

    def __init__(self, account: Account) -> None:
        self.desk = Desk(account, msgspec.convert(SCOPE, Scope))
        self.known = Known()
        self._lock = Lock()
        self._asked: dict[str, Request] = {}
        self._answers: dict[str, Json] = {}
        self._refused: set[str] = set()

    def ask(self, request: Request) -> None:
        """A request is about to be sent."""
        with self._lock:
            self._asked[request.key] = request

    def answer(self, request: Request, answer: Json) -> None:
        """It was accepted, now or before. Raises `Violation` where what must last differs."""
        with self._lock:
            before = self._answers.setdefault(request.key, answer)
            require(request.key not in self._refused, f"the {request.kind} {request.key} was refused and then accepted")
        require_same(f"the answer to {request.key}", lasting(request, before), lasting(request, answer))
        if before is answer:
            self.known.learn(request, answer)

    def refuse(self, request: Request) -> None:
        """It was refused."""
        with self._lock:
            accepted = request.key in self._answers
            self._refused.add(request.key)
        require(not accepted, f"the {request.kind} {request.key} was accepted and then refused")

    def unknown(self) -> list[Request]:
        """Those whose outcome nobody knows."""
        with self._lock:
            settled = self._answers.keys() | self._refused
            return [request for key, request in self._asked.items() if key not in settled]

    def answered(self) -> list[Request]:
        """Those that were accepted."""
        with self._lock:
            return [self._asked[key] for key in self._answers]

    def claims(self) -> Iterator[Claim]:
        """What the stored rows must agree with."""
        for key, request in self._asked.items():
            if key in self._refused:
                continue
            for family, receipt, told in _told(request, self._answers.get(key)):
                yield Claim(
                    partition=self.desk.partition,
                    family=family,
                    subject_id=self.desk.account.subject_id,
                    idempotency_key=key,
                    receipt=receipt,
                    told=told,
                )


def _told(request: Request, answer: Json | None) -> Iterator[tuple[str, str | None, bool]]:
    """The families under which a request's key is looked up, with the receipt, and whether something was told."""
    if request.kind == "batch":
        results = answer["results"] if answer else []
        for item in items_of({"type": "batch", **request.body}):
            result = results[item] if answer and item is not None else {}
            yield judgment_family(item), _text(result.get("receipt")) if answer else None, answer is not None
    else:
        receipt: Any = (answer or {}).get("receipt")
        yield request.family, None if receipt is None else _text(receipt), answer is not None


def _text(receipt: Json | None) -> str:
    return NO_RECEIPT if receipt is None else msgspec.json.encode(receipt).decode()
