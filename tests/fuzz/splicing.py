"""Puts what is known into what was generated, so that a good share of the requests means something to the server.

Always holds: only what looks like the real thing is replaced. A member that was generated to be wrong stays wrong.
"""

from __future__ import annotations

import re
from typing import Any
from unicodedata import category

from relatum.limits import CHANGES_WAIT_MILLIS_MAX, KEY_BYTES_MAX
from tests.fuzz.dice import Dice
from tests.fuzz.known import At, Json, recent
from tests.fuzz.world import Place

MOSTLY = 90
"""In a hundred: how often something generated gives way to something known."""
WAIT_MILLIS_MAX = 20

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SCOPE = {"project_id", "agent_id", "visibility"}
_LISTS = {"record_ids", "root_record_ids", "shown"}
_ENDS = (("source_id", "target_id"), ("source", "target"))
"""Members that name two records by their ids alone."""

_UNDONE = {"run_id", "operation_id"}
"""Members that name a run of the sweep or an operation of one, where no run of a miner is meant."""


class Splicer:
    """Works on one request to one place, for a route of one family."""

    def __init__(self, place: Place, kind: str, dice: Dice) -> None:
        self._place = place
        self._known = place.known
        self._kind = kind
        self._dice = dice
        self._tidy = self._mostly()

    def spliced(self, value: Any, name: str = "") -> Any:
        """`value`, which is the member `name` of something, with known parts; it is left as it is itself."""
        match value:
            case dict():
                return self._object(name, value)
            case list() if name in _LISTS:
                return self._ids(value)
            case list():
                return [self.spliced(item) for item in value]
            case str():
                return self._text(name, value)
            case float() if self._tidy and value.is_integer():
                return int(value)
            case int() if name == "wait_millis" and value > WAIT_MILLIS_MAX:
                return value % WAIT_MILLIS_MAX if value <= CHANGES_WAIT_MILLIS_MAX else value
            case _:
                return value

    def _object(self, name: str, value: Json) -> Json:
        if name == "scope" and value.keys() >= _SCOPE and self._mostly():
            return value | self._place.scope
        if "journal_id" in value:
            return self._cursor(value)
        value = {member: self.spliced(one, member) for member, one in value.items()}
        for identifier, heads in (("record_id", self._known.records), ("relation_id", self._known.relations)):
            if is_uuid(value.get(identifier)) and self._mostly() and heads:
                exact = MOSTLY if name else 50  # a body that is about one revision may be about any
                value = self._at(value, identifier, self._dice.one_of(recent(heads)), exact)
        for ends in _ENDS:
            if all(is_uuid(value.get(end)) for end in ends):
                value = value | dict(zip(ends, self._ids([value[end] for end in ends]), strict=True))
        if _UNDONE & value.keys() and "run_date" not in value:
            value = self._undoing(value)
        if isinstance(value.get("consumer_id"), str):
            value = self._consumer(value)
        if isinstance(value.get("idempotency_key"), str):
            value = self._keyed(value)
        return value

    def _at(self, value: Json, member: str, known: At, exact: int) -> Json:
        identifier, revision = known
        value = {**value, member: identifier}
        numbers = [name for name in ("revision", "expected_revision") if is_number(value.get(name))]
        return value | dict.fromkeys(numbers, revision) if self._dice.often(exact) else value

    def _cursor(self, value: Json) -> Json:
        known = self._known.cursors[self._kind]
        return self._dice.one_of(known) if known and self._mostly() else value

    def _consumer(self, value: Json) -> Json:
        """A known consumer, at some revision of its checkpoint."""
        known = list(self._known.consumers[self._kind].values())
        if not known or not self._mostly():
            return value
        saved = self._dice.one_of(known)
        if "expected_revision" in value:
            return self._saving(value, saved)
        value = value | {"consumer_id": saved["consumer_id"]}
        return value | (
            {"revision": 1 + self._dice.below(saved["revision"])} if is_number(value.get("revision")) else {}
        )

    def _saving(self, value: Json, saved: Json) -> Json:
        """The next checkpoint of a known consumer, or the first of a new one."""
        digest = value.get("expected_checkpoint_digest")
        if not is_number(value["expected_revision"]) or not (digest is None or is_digest(digest)):
            return value
        if self._dice.often(25):
            return value | {"expected_revision": 0, "expected_checkpoint_digest": None}
        return value | {
            "consumer_id": saved["consumer_id"],
            "expected_revision": saved["revision"],
            "expected_checkpoint_digest": saved["checkpoint_digest"],
        }

    def _keyed(self, value: Json) -> Json:
        """Commands get a fresh key for the most part, reads of receipts a known one."""
        known, dice, command = self._known.receipts, self._dice, "family" not in value
        if not 0 < len(value["idempotency_key"]) <= KEY_BYTES_MAX:
            return value
        if known and dice.often(5 if command else MOSTLY):
            receipt = dice.one_of(known)
            return value | {name: receipt[name] for name in receipt.keys() & value.keys()}
        fresh = {"idempotency_key": f"{dice.below(2**64):016x}"}
        return value | fresh if command and self._mostly() else value

    def _undoing(self, value: Json) -> Json:
        """Either a run or an operation; both at once are refused."""
        known = self._known.undoable
        sound = all(value.get(member) is None or is_uuid(value[member]) for member in _UNDONE)
        if not known or not sound or not self._mostly():
            return value
        name, identifier = self._dice.one_of(known)
        return {member: one for member, one in value.items() if member not in _UNDONE} | {name: identifier}

    def _ids(self, value: list[Any]) -> list[Any]:
        known = [identifier for identifier, _ in recent(self._known.records)]
        sound = all(is_uuid(one) for one in value) and len(set(value)) == len(value)
        if not sound or len(known) < len(value) or not self._mostly():
            return value
        return self._dice.shuffled(known)[: len(value)]

    def _text(self, name: str, value: str) -> str:
        if name == "endpoint" and is_uuid(value) and self._known.records and self._mostly():
            return self._dice.one_of(recent(self._known.records))[0]
        if name == "candidate_id" and is_uuid(value) and self._known.candidates and self._mostly():
            return self._dice.one_of(self._known.candidates)
        if name == "workspace_id" and is_digest(value) and self._mostly():
            return self._place.workspace_id
        return "".join(filter(_printing, value)) or value if self._tidy else value

    def _mostly(self) -> bool:
        return self._dice.often(MOSTLY)


def _printing(character: str) -> bool:
    return category(character) != "Cc"


def is_uuid(value: object) -> bool:
    """Whether it is one in its usual spelling."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def is_digest(value: object) -> bool:
    """Whether it looks like one, or like the id of a workspace."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_number(value: object) -> bool:
    """Whether it is a number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
