"""A record and what it was made from, through every level that is still there (views.md, status)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relatum import limits
from relatum.core.records import RecordMeta


class Lineage(NamedTuple):
    """A record and its ancestors, nearest first, and the ids of those that are deleted or were never there."""

    members: tuple[RecordMeta, ...]
    missing: tuple[str, ...]


def lineage(meta: RecordMeta, look_up: Callable[[str], RecordMeta | None]) -> Lineage:
    """Follows the sources of a record, each once, as deep and as wide as a derivation may be."""
    members, missing, layer = {meta.record_id: meta}, dict[str, None](), [meta]
    for _ in range(limits.ANCESTRY_DEPTH_MAX):
        above: list[RecordMeta] = []
        for source in (one for each in layer if each.derivation for one in each.derivation.sources):
            if source.record_id in members or source.record_id in missing:
                continue
            if len(members) + len(missing) > limits.ANCESTRY_NODES_MAX:
                break
            found = look_up(source.record_id)
            if found is None or found.state == "deleted":
                missing[source.record_id] = None
            else:
                members[source.record_id] = found
                above.append(found)
        layer = above
    return Lineage(tuple(members.values()), tuple(missing))
