"""From a directory of text into a ledger: everything is checked and rehearsed before anything is written.

The commands go the way of all commands: the same checks, receipts, journal entries and events. Ids, authors, provenance
and evidence are those of the text; revisions begin anew, and the times of commits are those of the import. Keys are
made of the root digest, so that an import that was interrupted goes on where it stopped, and one that is repeated
writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from relatum.core import digests
from relatum.core.commands import AssertRelation, DeriveRecord
from relatum.core.events import Event, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.ids import Partition
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.ledger.text_export.export_errors import ImportRefused, TextUnusable
from relatum.ledger.text_export.extract import Gathering
from relatum.ledger.text_export.import_plan import Plan, Step, planned
from relatum.ledger.text_export.manifest import Counts, Manifest
from relatum.ledger.text_export.model import CarriedPartition
from relatum.ledger.text_export.serializer import files_of
from relatum.ledger.text_export.validation import Checked, checked
from relatum.store.partition import PartitionReader

COMMANDS_AT_ONCE: Final = 128

Progress = Callable[[float], None]


class Imported(Struct, frozen=True, kw_only=True):
    """What was imported; `lost` counts what is not eligible any more and was left out.

    `passed_over`: what lay between the files of the export.
    """

    manifest: Manifest
    root: str
    lost: Counts
    passed_over: tuple[str, ...]


class _Part(Struct, frozen=True, kw_only=True):
    """The steps of one partition, in order."""

    partition: Partition
    plan: Plan
    steps: list[Step]


def import_text(
    ledger: Ledger, directory: Path, *, leave_out: bool = False, progress: Progress = lambda _part: None
) -> Imported:
    """Bring back what `directory` has.

    Raises TextUnusable where it is no whole and unaltered export, ImportRefused where it does not go into the ledger,
    both with nothing written, and OSError.
    """
    export = checked(directory)
    _require_place(ledger, export)
    parts = [_part(carried) for carried in export.partitions]
    lost = _rehearsed(ledger, export, parts)
    if lost and not leave_out:
        raise ImportRefused(
            f"not eligible any more, and so lost: {_told(lost)}. To leave it out: --leave-out-ineligible"
        )
    lost = _bring_all(ledger, export.root, parts, progress)
    if lost and not leave_out:
        raise ImportRefused(
            f"while this import ran, something expired: {_told(lost)}. Everything else was written; to leave it out, "
            "run the import again with --leave-out-ineligible"
        )
    return Imported(manifest=export.manifest, root=export.root, lost=lost, passed_over=export.passed_over)


def _rehearsed(ledger: Ledger, export: Checked, parts: Sequence[_Part]) -> Counts:
    """What would be lost, as it turns out in memory. Raises TextUnusable where something else would come back."""
    with Ledger.in_memory(clock=ledger.clock) as rehearsal:
        lost = _bring_all(rehearsal, export.root, parts)
        with rehearsal.view() as view:
            for carried in () if lost else export.partitions:
                brought = Gathering(view.partition(carried.partition), view.now_millis).carried
                if dict(files_of(brought)) != dict(files_of(carried)):
                    raise TextUnusable(
                        f"{digests.workspace_id(carried.partition)}: what would come back is not what is written"
                    )
    return lost


def _told(lost: Counts) -> str:
    return ", ".join(f"{number} {name}" for name, number in lost.items())


# Where it goes


def _require_place(ledger: Ledger, export: Checked) -> None:
    """Every company is there, and no partition holds anything but what this very import has brought."""
    with ledger.view() as view:
        for partition in (carried.partition for carried in export.partitions):
            if not view.company_exists(partition.company_id):
                raise ImportRefused(
                    f"the store has no company {partition.company_id!r}; make it with: relatum init STORE --company ..."
                )
            reader = view.partition(partition)
            if not all(_is_of(event, _prefix(export.root)) for event in _events(reader)):
                raise ImportRefused(
                    f"workspace {reader.workspace_id} is not empty; an export goes into an empty one, or into one that "
                    "holds a part of the same import and nothing else"
                )


def _events(reader: PartitionReader) -> Iterator[Event | None]:
    return (reader.event(sequence) for sequence in range(1, reader.head().sequence + 1))


def _is_of(event: Event | None, prefix: str) -> bool:
    """Whether an event is one of an import, or says nothing of what a partition holds."""
    match event:
        case RecordEvent() | RelationEvent() | LinkEvent():
            return event.receipt.idempotency_key.startswith(prefix)
        case JudgmentEvent():
            return event.idempotency_key.startswith(prefix)
        case _:
            return True


def _prefix(root: str) -> str:
    return f"import/{root}/"


# How it gets there


def _part(carried: CarriedPartition) -> _Part:
    try:
        plan, steps = planned(carried)
    except TextUnusable as error:
        raise TextUnusable(f"{digests.workspace_id(carried.partition)}: {error}") from error
    return _Part(partition=carried.partition, plan=plan, steps=steps)


def _bring_all(ledger: Ledger, root: str, parts: Sequence[_Part], progress: Progress = lambda _part: None) -> Counts:
    """Give every command; what was refused because of what time has made of it, counted."""
    total, done = sum(len(part.steps) for part in parts), 0
    lost = Counter[str]()
    for part in parts:
        refused: set[str] = set()
        for start in range(0, len(part.steps), COMMANDS_AT_ONCE):
            steps = part.steps[start : start + COMMANDS_AT_ONCE]
            lost.update(_bring(ledger, root, part, steps, refused))
            done += len(steps)
            progress(done / total)
    return {name: lost[name] for name in sorted(lost)}


def _bring(ledger: Ledger, root: str, part: _Part, steps: Sequence[Step], refused: set[str]) -> Iterator[str]:
    """Give some commands; what does not come to be because they were refused. Their names are added to `refused`."""
    commands = [
        ledger.restoration(part.partition, step.author, _prefix(root) + step.name, step.operation, step.given_ids)
        for step in steps
    ]
    for step, outcome in zip(steps, ledger.restore(commands), strict=True):
        if isinstance(outcome, Failure):
            raise outcome
        if isinstance(outcome, Refusal):
            if not _time_did_it(step, outcome) and not part.plan.needs[step.name] & refused:
                raise ImportRefused(f"{step.name} was refused: {outcome.message}")
            refused.add(step.name)
            if step.of is not None:
                yield step.of


def _time_did_it(step: Step, outcome: Refusal) -> bool:
    """Whether a command was refused because what it speaks of is not eligible any more."""
    return outcome.code == "revision_conflict" and isinstance(step.operation, AssertRelation | DeriveRecord)
