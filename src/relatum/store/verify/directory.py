"""A data directory, verified offline."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from relatum.errors import StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.store import keys, rows
from relatum.store.database import ENGINE_NAME, FORMAT_VERSION, WATERMARK_NAME, of_another_format
from relatum.store.kv import Reader
from relatum.store.rocks import reading
from relatum.store.verify.findings import Findings
from relatum.store.verify.helpers import Helpers
from relatum.store.verify.locate import locator
from relatum.store.verify.parallel import ParallelPartitions
from relatum.store.verify.position import read_position
from relatum.store.verify.report import Report
from relatum.store.verify.serial import SerialPartitions
from relatum.store.verify.store_check import StoreCheck
from relatum.store.verify.tasks import STEP_ROWS
from relatum.store.verify.totals import Partitions, Totals
from relatum.store.view import store_body
from relatum.store.watermark import read_watermark

Progress = Callable[[float], None]
"""Told from time to time about how much is done, from 0 to 1."""

PARALLEL_EVENTS_MIN: Final = 20_000
"""A store with fewer events is verified before helpers would have started."""
WATERMARK: Final = "watermark"
"""The family of what is wrong with that file."""


def verify_directory(directory: Path, *, jobs: int | None = None, progress: Progress | None = None) -> Report:
    """Verifies everything in the store in `directory`, which nobody may have open, and writes nothing there.

    A store with many events is verified by `jobs` processes at once, by default one for each processor. Raises
    StoreUnavailable, with a message for the operator, where the store can't be read at all: it is missing, in use, of
    another format, or so damaged that it can't be opened.
    """
    engine = directory / ENGINE_NAME
    if not engine.is_dir():
        raise StoreUnavailable(f"no relatum store in {directory}")
    try:
        with reading(engine) as view:
            _require_format(view)
            findings = Findings()
            _check_watermark(view, directory / WATERMARK_NAME, findings)
            count = len(os.sched_getaffinity(0)) if jobs is None else jobs
            position = read_position(view)
            if count < 2 or position is None or position.position < PARALLEL_EVENTS_MIN:
                return verify_rows(view, findings=findings, progress=progress)
            with Helpers(engine, count) as helpers:
                totals = Totals()
                partitions = ParallelPartitions(view, findings, totals, helpers)
                return _report(view, findings, totals, partitions, progress, STEP_ROWS)
    except StorageFailure as failure:
        raise StoreUnavailable(f"the store in {directory} can't be read: {failure}") from failure


def verify_rows(
    view: Reader,
    *,
    findings: Findings | None = None,
    progress: Progress | None = None,
    step_rows: int = STEP_ROWS,
) -> Report:
    """Verifies all rows that a reader shows, which must not change meanwhile."""
    findings, totals = findings or Findings(), Totals()
    partitions = SerialPartitions(
        lambda: nullcontext(view), findings, totals, step_rows=step_rows, censused=True, locate=locator(view)
    )
    return _report(view, findings, totals, partitions, progress, step_rows)


def _report(
    view: Reader,
    findings: Findings,
    totals: Totals,
    partitions: Partitions,
    progress: Progress | None,
    step_rows: int,
) -> Report:
    check = StoreCheck(lambda: nullcontext(view), findings, totals, partitions, step_rows=step_rows)
    for _ in check.steps():
        if progress is not None:
            progress(check.fraction)
    return check.report()


def _require_format(view: Reader) -> None:
    """A store of another format can't be judged. One whose format can't be read is, and that is a finding."""
    try:
        body = store_body(view, keys.FORMAT)
        version = FORMAT_VERSION if body is None else rows.STORE_VERSION.decode(body).version
    except StorageInconsistency:
        return
    if version != FORMAT_VERSION:
        raise of_another_format(version)


def _check_watermark(view: Reader, path: Path, findings: Findings) -> None:
    """The store has come at least as far as its watermark, by the same history."""
    position = read_position(view)
    if position is None:
        return
    try:
        mark = read_watermark(path)
    except StorageInconsistency as error:
        findings.add(WATERMARK, str(error))
        return
    except FileNotFoundError:
        if position.position > 0:
            findings.add(WATERMARK, "the watermark is missing")
        return
    except OSError as error:
        raise StoreUnavailable(f"can't read {path}: {error.strerror}") from error
    if mark.position > position.position:
        findings.add(
            WATERMARK,
            f"acknowledged commands are lost: the store had come to position {mark.position}, found is "
            f"{position.position}",
        )
    elif mark.position == position.position and mark.head != position.digest:
        findings.add(WATERMARK, "the history is not the one that was acknowledged")
