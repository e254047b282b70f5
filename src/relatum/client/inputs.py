"""What a caller may write in several ways, as the struct that goes over the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from relatum.client.requests import CommandOptions, RecordMembers
from relatum.core.ids import Ref
from relatum.core.records import Derivation, RecordInput

_OPTIONS: Final = ("timeout", "deadline", "idempotency_key")


def record_of(record: RecordInput | str, given: RecordMembers) -> tuple[RecordInput, CommandOptions]:
    """The record and the options of a call. Raises TypeError where a whole record has members beside it."""
    options: Any = {name: value for name, value in given.items() if name in _OPTIONS}
    members: dict[str, Any] = {name: value for name, value in given.items() if name not in _OPTIONS}
    if isinstance(record, RecordInput):
        if members:
            raise TypeError(f"{min(members)} is a member of the record, which is given whole")
        return record, options
    if members.get("tags") is not None:
        members["tags"] = tuple(members["tags"])
    return RecordInput(content=record, **members), options


def derivation_of(
    derivation: Derivation | Iterable[Any],
    refs: Callable[[Iterable[Any]], tuple[Ref, ...]],
    method: str | None,
    method_revision: str | None,
    evidence_ref: str | None,
) -> Derivation:
    """A derivation given whole, or by its sources and its other members. Raises TypeError for half of each."""
    others = (method, method_revision, evidence_ref)
    if isinstance(derivation, Derivation):
        if others != (None, None, None):
            raise TypeError("the members of a derivation are given with its sources alone")
        return derivation
    if method is None or method_revision is None or evidence_ref is None:
        raise TypeError("a derivation has a method, a method_revision and an evidence_ref")
    return Derivation(
        sources=refs(derivation), method=method, method_revision=method_revision, evidence_ref=evidence_ref
    )
