"""A client that does one thing after another in a scope, drawn from a seed: what a consumer has to keep up with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import httpx
from blake3 import blake3

from tests.http.client import RECORDS, RELATIONS, Caller, Json, ref, relation

Item = TypeVar("Item")
SOON_MILLIS = 300


class Dice:
    """The same throws for the same seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._thrown = 0

    def below(self, number: int) -> int:
        self._thrown += 1
        return int.from_bytes(blake3(f"{self._seed}/{self._thrown}".encode()).digest()[:8], "big") % number

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


class Restless:
    """Gives sound and unsound commands alike; what is refused changes nothing."""

    def __init__(self, caller: Caller, seed: str) -> None:
        self.last_boundary_millis = 0
        self._caller = caller
        self._dice = Dice(seed)
        self._now_millis = 0
        self._records = [caller.create(f"note {number}") for number in range(6)]
        self._relations = [caller.relate(*self._records[:2])]
        create, derive, assert_ = self._create, self._derive, self._assert
        self._steps: list[Callable[[], None]] = [
            *(create, create, derive, self._revise, self._review_record, self._delete),
            *(assert_, assert_, assert_, assert_, assert_),
            *(self._change_relation, self._change_relation, self._change_relation),
        ]

    def step(self) -> None:
        self._dice.pick(self._steps)()

    def take(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def _create(self) -> None:
        self._new_record(type="create", record={"content": "a note", "valid_until_millis": self._sometimes_soon()})

    def _derive(self) -> None:
        derivation = {"sources": [self._record()], "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}
        self._new_record(type="derive", record={"content": "a summary"}, derivation=derivation)

    def _new_record(self, **operation: Any) -> None:
        receipt = self._told(self._caller.command(RECORDS, **operation))
        if receipt is not None:
            self._records.append(ref(receipt))

    def _revise(self) -> None:
        self._on_record(type="revise", record={"content": "another note"})

    def _review_record(self) -> None:
        disposition = self._dice.pick(["approved", "rejected"])
        self._on_record(type="review", disposition=disposition, evidence_ref="note/1")

    def _delete(self) -> None:
        self._on_record(type="delete")

    def _on_record(self, **operation: Any) -> None:
        at = self._dice.below(len(self._records))
        record = self._records[at]
        target = {"record_id": record["record_id"], "expected_revision": record["revision"]}
        receipt = self._told(self._caller.command(RECORDS, **target, **operation))
        if receipt is not None:
            self._records[at] = ref(receipt)

    def _assert(self) -> None:
        given = relation(
            self._record(),
            self._record(),
            valid_from_millis=self._sometimes_soon(),
            evidence_sources=[self._record()] if self._dice.below(3) == 0 else [],
        )
        given["valid_until_millis"] = None if given["valid_from_millis"] else self._sometimes_soon()
        receipt = self._told(self._caller.command(RELATIONS, type="assert", relation=given))
        if receipt is not None:
            self._relations.append(receipt)

    def _change_relation(self) -> None:
        at = self._dice.below(len(self._relations))
        kind = self._dice.pick(["retire", "restore", "review"])
        members = {"disposition": self._dice.pick(["approved", "rejected"])} if kind == "review" else {}
        receipt = self._told(self._caller.change(kind, self._relations[at], **members))
        if receipt is not None:
            self._relations[at] = receipt

    def _record(self) -> Json:
        return self._dice.pick(self._records)

    def _sometimes_soon(self) -> int | None:
        if self._dice.below(3) or not self._now_millis:
            return None
        self.last_boundary_millis = self._now_millis + SOON_MILLIS
        return self.last_boundary_millis

    def _told(self, answer: httpx.Response) -> Json | None:
        """The receipt of an accepted command; its time is what we know of the server's."""
        if answer.status_code != 200:
            assert answer.status_code in (400, 404, 409), answer.text
            return None
        receipt: Json = answer.json()["receipt"]
        self._now_millis = receipt["committed_at_millis"]
        return receipt
