"""What is looked at before the engine may open a store: its manifest and its write-ahead logs.

What lives here: `torn_ends`, which looks, and `repair_logs`, which also cuts what is torn. The engine alone is no safe
judge of these files: some bytes in a torn tail make it spin for ever, others make it refuse a store that merely lost
power, and a manifest that lost its end is opened without the table files that it no longer names, which the engine then
deletes.

What always holds:

* No intact record is ever cut off. The store has at most one batch that is not yet synced (see `KeyValue.write`), and
  the engine one edit of the manifest, so what a power cut can tear is the last one. If the beginning of an intact
  later record is found anywhere behind the break, then what broke had been synced: it is damage, acknowledged data is
  gone, and opening must refuse.
* Rows are numbered without gaps over all logs and table files. A log that does not go on where the table files end, or
  where the log before it ends, proves that files are missing.
* A log from before the manifest's first one is not judged. Its rows are in table files, the engine passes it over, and
  what was never synced of it may be torn: a power cut can take back that it was removed.
* Whoever is refused finds every file as it was.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from relatum.errors import StoreUnavailable
from relatum.store import failpoints
from relatum.store.files import write_durably
from relatum.store.log_format import LogScan, Verdict
from relatum.store.manifest import Manifest, read_manifest
from relatum.store.wal import Batches, logs_in, scan_log


class TornTail(NamedTuple):
    """Bytes that were cut off the end of the log `log`, and the file that keeps them."""

    log: Path
    kept: Path
    tail_bytes: int


class TornEnd(NamedTuple):
    """A log or manifest, `content`, and how much of it is whole records. What follows was never acknowledged."""

    log: Path
    content: bytes
    intact_bytes: int


def repair_logs(directory: Path) -> list[TornTail]:
    """Cut torn tails off the last log and the manifest in `directory`, and keep what was cut in files beside them.

    Answers what was cut off. Raises `StoreUnavailable`, and changes nothing, if anything is damaged anywhere else.
    """
    try:
        ends = torn_ends(directory)
        for torn in ends:
            _require_read_again(torn)
        return [_cut(torn) for torn in ends]
    except OSError as error:
        raise StoreUnavailable(f"can't repair {error.filename or directory}: {error.strerror}") from error


def torn_ends(directory: Path) -> list[TornEnd]:
    """The last log and the manifest in `directory`, as far as they have torn tails. Changes nothing.

    Raises `StoreUnavailable` if they are damaged anywhere else, or if there are gaps between them.
    """
    try:
        manifest = read_manifest(directory)
        ends = [] if manifest is None else _torn_end(manifest.path, manifest.content, manifest.scan, is_last=True)
        ends += _logs(directory, manifest)
    except OSError as error:
        raise StoreUnavailable(f"can't read {error.filename or directory}: {error.strerror}") from error
    return ends


def _logs(directory: Path, manifest: Manifest | None) -> list[TornEnd]:
    ends: list[TornEnd] = []
    first, following = (0, None) if manifest is None else (manifest.first_log, manifest.last_row + 1)
    logs = [path for path in logs_in(directory) if int(path.stem) >= first]  # others are left over, and never read
    for path in logs:
        content = path.read_bytes()
        scan, batches = scan_log(content)
        ends += _torn_end(path, content, scan, is_last=path == logs[-1])
        following = _require_no_gap(path, batches, following)
    return ends


def _torn_end(path: Path, content: bytes, scan: LogScan, *, is_last: bool) -> list[TornEnd]:
    if scan.verdict is Verdict.TORN and is_last:
        return [TornEnd(path, content, scan.intact_bytes)]
    if scan.verdict is not Verdict.CLEAN:
        kind = "manifest" if path.suffix == "" else "write-ahead log"
        raise StoreUnavailable(
            f"the {kind} {path} is intact up to byte {scan.intact_bytes}; {scan.verdict.value}. "
            "Acknowledged data behind that point can't be read. Nothing has been changed; restore a backup"
        )
    return []


def _require_no_gap(path: Path, batches: Batches, expected: int | None) -> int | None:
    if batches.first is None or batches.following is None or expected is None:
        return expected
    if batches.first > expected:
        raise StoreUnavailable(
            f"acknowledged data is lost: the write-ahead log {path} begins with row {batches.first}, and the files "
            f"before it end with row {expected - 1}. A table file or a log is missing, or the manifest no longer names "
            "it. Nothing has been changed. Put the files back that are missing, or restore a backup"
        )
    return max(expected, batches.following)


def _require_read_again(torn: TornEnd) -> None:
    """One bit that is read wrong once looks like a torn end too, and cutting there would lose what was acknowledged."""
    with torn.log.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # from the disk, not from where it was read into
        if file.read() != torn.content:
            raise StoreUnavailable(
                f"two readings of {torn.log} differ: the disk or the memory of this machine fails. Nothing has been "
                "changed; open the store on another machine"
            )


def _cut(torn: TornEnd) -> TornTail:
    """Keep the tail first, then cut it off; each step durable before the next."""
    path, log, intact_bytes = torn
    kept = path.with_name(f"{path.name}.torn-at-{intact_bytes}")
    write_durably(kept, log[intact_bytes:])
    failpoints.reach("repair.kept")
    with path.open("r+b") as file:
        file.truncate(intact_bytes)
        os.fsync(file.fileno())
    failpoints.reach("repair.cut")
    return TornTail(path, kept, len(log) - intact_bytes)
