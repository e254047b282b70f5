"""Whether an accepted command made sense: what the contract asks of the state before it, naively, over the model.

Not here: what judgments have to do with it (`crash_tests/judgment_model/`).
"""

from __future__ import annotations

from crash_tests.history import Command, Json
from crash_tests.model import Model
from crash_tests.violation import require


def require_sense(model: Model, command: Command, at_millis: int) -> None:
    """Raises `Violation` if a sound ledger would have refused the command in this state, at this instant."""
    operation = command.operation
    if command.family == "record":
        _record(model, command, operation, at_millis)
    else:
        _relation(model, command, operation, at_millis)


def _record(model: Model, command: Command, operation: Json, at_millis: int) -> None:
    own_id = operation.get("record_id")
    if own_id is not None:
        before = model.records[own_id][-1] if own_id in model.records else None
        require(before is not None and before["state"] == "active", f"{command.name} was accepted on no living record")
        changes_derived = operation["type"] == "revise" and before is not None and before["derivation"] is not None
        require(not changes_derived, f"{command.name} was accepted on a derived record")
    sources = operation.get("derivation", {}).get("sources", [])
    require(_all_eligible(model, sources, at_millis), f"{command.name} was accepted with a source that is not eligible")


def _relation(model: Model, command: Command, operation: Json, at_millis: int) -> None:
    kind = operation["type"]
    before = None if kind == "assert" else model.relations[operation["relation_id"]][-1]
    if kind in ("retire", "restore"):
        expected = "active" if kind == "retire" else "retired"
        require(before is not None and before["state"] == expected, f"{command.name} was accepted and changes nothing")
    if kind in ("assert", "restore"):
        given = operation["relation"] if before is None else before["input"]
        refs = [given["source"], given["target"], *given.get("evidence_sources", [])]
        require(_all_eligible(model, refs, at_millis), f"{command.name} was accepted on what is not eligible")


def _all_eligible(model: Model, refs: list[Json], at_millis: int) -> bool:
    return all(model.is_eligible(ref["record_id"], at_millis, ref["revision"]) for ref in refs)
