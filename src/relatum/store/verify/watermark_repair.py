"""A watermark for a store that has lost its own and has no backup: the repair of last resort.

What lives here: `survey`, which tells what a new watermark would vouch for and what nobody can know, and `vouch`, which
makes it. What must not: a watermark in the place of one that can still be read, whatever that one says.

What always holds: whoever calls `vouch` has verified the store, has kept a copy of it, and has been told. The new
watermark says what the store holds, which is all that can be said: that nothing behind it was lost is a matter of
belief, and the one thing that a watermark is there to know.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from relatum.errors import StorageFailure, StorageInconsistency
from relatum.store.database import ENGINE_NAME, WATERMARK_NAME
from relatum.store.preflight import torn_ends
from relatum.store.rocks import RocksStore, reading
from relatum.store.verify.directory import WATERMARK
from relatum.store.verify.position import read_position
from relatum.store.verify.repair import beyond_repair
from relatum.store.verify.report import Report
from relatum.store.watermark import Watermark, make_watermark, read_watermark


class Survey(Struct, frozen=True, kw_only=True):
    """Where the store ends, by what is found in it: its position, the digest of its history, in hex, its last commit.

    `torn_bytes` lie behind the last whole record of its newest log.
    """

    position: int
    digest: str
    committed_at_millis: int
    torn_bytes: int


def require_no_watermark(directory: Path) -> None:
    """Raises StorageFailure where the store in `directory` has a watermark that can be read."""
    try:
        read_watermark(directory / WATERMARK_NAME)
    except (FileNotFoundError, StorageInconsistency):
        return
    raise StorageFailure("the store has a watermark that can be read; it knows more than could be found out anew")


def unfit(report: Report) -> list[str]:
    """The families whose findings forbid to vouch for the store; what can be derived is no matter."""
    return [family for family in beyond_repair(report) if family != WATERMARK]


def survey(directory: Path) -> Survey:
    """What the store in `directory` says about its end. Raises StoreUnavailable, and StorageFailure where it can't."""
    engine = directory / ENGINE_NAME
    with reading(engine) as view:
        found = read_position(view)
        if found is None or found.position == 0:
            raise StorageFailure("nothing was ever committed to the store, so there is nothing to vouch for")
        torn = sum(len(end.content) - end.intact_bytes for end in torn_ends(engine) if end.log.suffix == ".log")
    return Survey(
        position=found.position,
        digest=found.digest.hex(),
        committed_at_millis=found.committed_at_millis,
        torn_bytes=torn,
    )


def vouch(directory: Path, surveyed: Survey) -> None:
    """Makes a watermark for the store in `directory`, which nobody may have open, and which is as it was surveyed.

    Raises StoreUnavailable where it can't be opened, StorageFailure where it is not as it was, and OSError.
    """
    store = RocksStore.open(directory / ENGINE_NAME, create=False)
    try:
        require_no_watermark(directory)
        found = read_position(store)
        if found is None or (found.position, found.digest.hex()) != (surveyed.position, surveyed.digest):
            raise StorageFailure("the store is not as it was verified; somebody has written to it")
        make_watermark(directory / WATERMARK_NAME, Watermark(found.position, found.digest))
    finally:
        store.close()
