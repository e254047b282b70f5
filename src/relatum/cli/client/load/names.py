"""Names of records within one load: `@name` stands for a record at the revision of its receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from relatum.cli.client.load.refusals import LineRefused
from relatum.cli.client.output import Json

SIGN: Final = "@"
Resolve = Callable[[str], Json | None]
"""Answers the reference that a name (without its sign) stands for; None leaves the name where it stands."""


class Names:
    """What names stand for. A name is taken by the line that gives it, and known once that line has a receipt."""

    def __init__(self) -> None:
        self._refs: dict[str, tuple[str, int] | None] = {}

    def take(self, name: str) -> None:
        """Gives a name; a second time it is refused."""
        if name in self._refs:
            raise LineRefused("this name was given to an earlier line")
        self._refs[name] = None

    def learn(self, name: str, record_id: str, revision: int) -> None:
        """What the receipt says that a name stands for."""
        self._refs[name] = (record_id, revision)

    def known(self, name: str) -> Json | None:
        """The reference that a name stands for, if it does."""
        found = self._refs.get(name)
        return None if found is None else {"record_id": found[0], "revision": found[1]}

    def resolve(self, name: str) -> Json:
        """The reference that a name stands for; `LineRefused` where it stands for none."""
        found = self.known(name)
        if found is None:
            known = name in self._refs
            why = "the line that it was given to was refused" if known else "no earlier line was given it"
            raise LineRefused(f"a name stands for nothing: {why}")
        return found


def resolved(operation: Json, resolve: Resolve) -> Any:
    """`operation` with every name in the place of a reference or a record id replaced by what it stands for."""
    match operation.get("type"):
        case "assert":
            return _at(operation, "relation", lambda relation: _relation(relation, resolve))
        case "derive":
            return _at(operation, "derivation", lambda one: _at(one, "sources", lambda refs: _refs(refs, resolve)))
        case "mark_stale":
            marked = _at(operation, "because", lambda ref: _ref(ref, resolve))
            return _at(marked, "record_id", lambda record_id: _id(record_id, resolve))
        case "link" | "unlink":
            linked = _at(operation, "source_id", lambda record_id: _id(record_id, resolve))
            return _at(linked, "target_id", lambda record_id: _id(record_id, resolve))
        case _:
            return _at(operation, "record_id", lambda record_id: _id(record_id, resolve))


def names_in(operation: Json) -> set[str]:
    """The names that stand in the place of a reference or a record id."""
    found: set[str] = set()

    def note(name: str) -> None:
        found.add(name)

    resolved(operation, note)
    return found


def _relation(relation: Any, resolve: Resolve) -> Any:
    for end in ("source", "target"):
        relation = _at(relation, end, lambda ref: _ref(ref, resolve))
    return _at(relation, "evidence_sources", lambda refs: _refs(refs, resolve))


def _at(value: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """`value` with a member changed, where it is an object that has it."""
    return value | {name: change(value[name])} if isinstance(value, dict) and name in value else value


def _refs(refs: Any, resolve: Resolve) -> Any:
    return [_ref(ref, resolve) for ref in refs] if isinstance(refs, list) else refs


def _ref(ref: Any, resolve: Resolve) -> Any:
    if is_name(ref):
        return resolve(ref[len(SIGN) :]) or ref
    return _at(ref, "record_id", lambda record_id: _id(record_id, resolve))


def _id(record_id: Any, resolve: Resolve) -> Any:
    found = resolve(record_id[len(SIGN) :]) if is_name(record_id) else None
    return record_id if found is None else found["record_id"]


def is_name(value: object) -> bool:
    """Whether a value, in the place of a reference or an id, is a name."""
    return isinstance(value, str) and value.startswith(SIGN)
