"""From a ledger to a directory of text."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from msgspec import Struct

from relatum.core import digests
from relatum.ledger.text_export.export_errors import ExportRefused
from relatum.ledger.text_export.extract import EXPECTED, Gathering
from relatum.ledger.text_export.files import require_room, write_folder
from relatum.ledger.text_export.manifest import Counts, LeftOut, Manifest, manifest_of, root_of, text_of
from relatum.ledger.text_export.model import CarriedPartition
from relatum.ledger.text_export.serializer import files_of
from relatum.ledger.text_export.topic_cycles import in_some_order
from relatum.store.view import LedgerView


class Exported(Struct, frozen=True, kw_only=True):
    """What was exported, and what was not: `left_out` by why, `history` what no export has.

    `passed_over`: what lay in the directory before.
    """

    manifest: Manifest
    root: str
    left_out: LeftOut
    history: Counts
    passed_over: tuple[str, ...]


def export(view: LedgerView, directory: Path, *, leave_out: bool = False) -> Exported:
    """Write every partition of a view into `directory`, which must be missing, or empty but for what is passed over.

    Raises ExportRefused, with nothing written, where something active can't be carried and `leave_out` is not set; and
    OSError.
    """
    passed_over = require_room(directory)
    partitions, left_out, history = _gathered(view)
    if not leave_out:
        _require_nothing_lost(left_out)
    manifest = manifest_of(partitions)
    files = {
        f"{digests.workspace_id(carried.partition)}/{name}": data
        for carried in partitions
        for name, data in files_of(carried)
    }
    root = root_of(manifest, {path: digests.text_digest(data) for path, data in files.items()})
    write_folder(directory, files, text_of(manifest, root))
    return Exported(manifest=manifest, root=root, left_out=left_out, history=history, passed_over=passed_over)


def _gathered(view: LedgerView) -> tuple[list[CarriedPartition], LeftOut, Counts]:
    """What is carried of every partition that has anything to carry, and what is not."""
    partitions: list[CarriedPartition] = []
    left_out: defaultdict[str, Counter[str]] = defaultdict(Counter)
    history = Counter[str]()
    for partition in view.partitions():
        gathering = Gathering(view.partition(partition), view.now_millis)
        carried, knot = in_some_order(gathering.carried)
        if carried.records:
            partitions.append(carried)
        for why, counts in (*gathering.left_out.items(), *knot.items()):
            left_out[why].update(counts)
        history.update(gathering.history)
    return partitions, {why: _sorted(left_out[why]) for why in sorted(left_out)}, _sorted(history)


def _sorted(counts: Counts) -> Counts:
    return dict(sorted(counts.items()))


def _require_nothing_lost(left_out: LeftOut) -> None:
    lost = {why: counts for why, counts in left_out.items() if why not in EXPECTED}
    if lost:
        raise ExportRefused(f"what is active would be lost: {told(lost)}. To leave it out: --leave-out-ineligible")


def told(left_out: LeftOut) -> str:
    """What is left out, in words."""
    return "; ".join(
        f"{why}: {', '.join(f'{number} {name}' for name, number in sorted(counts.items()))}"
        for why, counts in sorted(left_out.items())
    )
