"""How a page is gathered from a scan, and why it ends (records.md, page).

A scan runs over current rows in the order of their ids, which is the order of creation, ties by id. A page ends
- `exhausted` where nothing that the filter wants is left: no cursor;
- `record_limit` where it is full and another entry is known to follow, or may follow beyond another bound;
- `scan_limit`, `byte_limit`, `dependency_limit` where that bound was met first.

So a full page looks on for the next entry within its scan limit, and is `exhausted` if there is none. Rows passed on
the way are counted as scanned and lie before the cursor; the entry found is neither.

What always holds: a page that is not exhausted has got past one row at least, so that following cursors comes to an
end. No row exhausts a fresh dependency budget by itself: the assertions below say why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.pages import StopReason


class Stored(Protocol):
    """A row of a scan."""

    @property
    def stored_bytes(self) -> int:
        """What it counts against the byte limit of a page."""
        ...


Version = TypeVar("Version", bound=Stored)
Entry = TypeVar("Entry")
Select = Callable[[Version], Callable[[], Entry] | None]
"""How to make the entry of a row; None where the filter does not want the row."""

_WALKS_OF_A_RELATION = 3  # source, target, evidence
assert _WALKS_OF_A_RELATION * limits.ANCESTRY_NODES_MAX <= limits.DEPENDENCY_LOOKUPS_MAX
assert _WALKS_OF_A_RELATION * limits.ANCESTRY_NODES_MAX * limits.RECORD_BYTES_MAX <= limits.DEPENDENCY_BYTES_MAX
assert max(limits.RECORD_BYTES_MAX, limits.RELATION_BYTES_MAX) <= limits.PAGE_BYTES_MAX


class Gathered(NamedTuple, Generic[Entry]):
    """A page. `last_id` is the last row that the next page need not look at; None where the page is exhausted."""

    entries: tuple[Entry, ...]
    scanned: int
    stored_bytes: int
    stop_reason: StopReason
    last_id: str | None


def gather(
    versions: Iterable[Version],
    identify: Callable[[Version], str],
    select: Select[Version, Entry],
    *,
    entries_max: int,
    scanned_max: int,
) -> Gathered[Entry]:
    """The next page of a scan. A row that the dependency budget does not suffice for is left to the next page."""
    entries: list[Entry] = []
    scanned = stored_bytes = 0
    last_id: str | None = None
    stop_reason: StopReason = "exhausted"
    for version in versions:
        if scanned == scanned_max:
            stop_reason = "scan_limit"
            break
        try:
            make = select(version)
            if make is not None:
                if len(entries) == entries_max:
                    stop_reason = "record_limit"
                    break
                if stored_bytes + version.stored_bytes > limits.PAGE_BYTES_MAX:
                    stop_reason = "byte_limit"
                    break
                entries.append(make())
                stored_bytes += version.stored_bytes
        except DependencyBudgetExhausted:
            stop_reason = "dependency_limit"
            break
        scanned += 1
        last_id = identify(version)
    if stop_reason == "exhausted":
        last_id = None
    else:
        assert last_id is not None, "a page always gets past its first row"
        if len(entries) == entries_max:
            stop_reason = "record_limit"
    return Gathered(tuple(entries), scanned, stored_bytes, stop_reason, last_id)
