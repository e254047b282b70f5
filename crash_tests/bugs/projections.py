"""Bugs of the projection: a row that is forgotten, or written wrongly, by the one function that writes them all."""

from __future__ import annotations

from crash_tests.bugs.bug import Bug, Patch
from relatum.core.events import Head
from relatum.core.ids import Ref
from relatum.core.records import Payload
from relatum.store.keys import PREFIX_BYTES, Table, Use
from relatum.store.overlay import Packable
from relatum.store.partition import Direction, PartitionReader
from relatum.store.projection import apply, log_rows
from relatum.store.projection.log_rows import LogStaging
from relatum.store.projection.staged_partition import Staging

_index = Staging.index
_put = Staging.put


def index_outgoing_only(
    staging: Staging,
    direction: Direction,
    content: Ref,
    relation_id: str,
    body: bytes,
    *,
    present: bool,
    use: Use | None,
) -> None:
    """The incoming side of a relation is not indexed."""
    if direction is Table.OUTGOING:
        _index(staging, direction, content, relation_id, body, present=present, use=use)


def index_without_header(
    staging: Staging,
    direction: Direction,
    content: Ref,
    relation_id: str,
    body: bytes,
    *,
    present: bool,
    use: Use | None,
) -> None:
    """Adjacency entries and dependents come and go, and the headers that count them stay as they were."""
    key = staging.keys.adjacency_entry(direction, content.record_id, content.revision, relation_id)
    if present:
        staging.put(key, body)
    else:
        staging.delete(key)
    if use is not None:
        staging.put(staging.keys.dependent(content.record_id, content.revision, use, relation_id), b"")


def content_is_the_pinned_revision(_reader: PartitionReader, pin: Ref) -> Ref:
    """What pins a record lies under the revision that it names: after a review nobody finds it there."""
    return pin


def put_without_leaf(staging: Staging, key: bytes, body: bytes | Packable) -> None:
    """An event stands in the tree that the head tells of, and its leaf is forgotten."""
    if key[PREFIX_BYTES] != Table.LEAF:
        _put(staging, key, body)


def frontier_as_it_was(_staging: LogStaging, before: Head, _leaf: bytes) -> bytes:
    """The tree that the head tells of does not grow."""
    return before.log


def put_without_dependent(staging: Staging, key: bytes, body: bytes | Packable) -> None:
    """What depends on a record is counted and not listed."""
    if key[PREFIX_BYTES] != Table.DEPENDENT:
        _put(staging, key, body)


def count_nothing(staging: Staging, key: bytes, after: bytes | None) -> None:
    """Rows that nothing else witnesses come and go, and the head that counts them stays as it was."""


def put_without_journal(staging: Staging, key: bytes, body: bytes | Packable) -> None:
    """The head counts a change that its journal does not tell."""
    if key[PREFIX_BYTES] != Table.JOURNAL:
        _put(staging, key, body)


def put_without_witness(staging: Staging, key: bytes, body: bytes | Packable) -> None:
    """A key's second row is forgotten."""
    if key[PREFIX_BYTES] != Table.RECEIPT_WITNESS:
        _put(staging, key, body)


def put_first_revision_only(staging: Staging, key: bytes, body: bytes | Packable) -> None:
    """The immutable row of a relation's later revisions is forgotten."""
    if key[PREFIX_BYTES] != Table.RELATION_REVISION or key[-1] == 1:
        _put(staging, key, body)


def free_nothing(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A deleted or revised record keeps its topic slot."""


def erase_nothing(staging: Staging, prefix: bytes) -> None:
    """A deletion leaves the text."""


BUGS = (
    Bug(
        name="missing-index-row",
        help="relations are not indexed under their targets",
        patches=(Patch(Staging, "index", index_outgoing_only),),
    ),
    Bug(
        name="lost-header-update",
        help="completeness headers are not moved with the entries they count",
        patches=(Patch(Staging, "index", index_without_header),),
    ),
    Bug(
        name="index-by-pinned-revision",
        help="relations lie under the revision that they pin, and not under its content",
        patches=(Patch(PartitionReader, "content_of", content_is_the_pinned_revision),),
    ),
    Bug(
        name="missing-dependent",
        help="what depends on a record is not listed",
        patches=(Patch(Staging, "put", put_without_dependent),),
    ),
    Bug(
        name="missing-leaf",
        help="leaves of the log are not kept",
        patches=(Patch(Staging, "put", put_without_leaf),),
    ),
    Bug(
        name="log-not-grown",
        help="the log does not grow with the events",
        patches=(Patch(log_rows, "stage_leaf", frontier_as_it_was),),
    ),
    Bug(
        name="lost-tally-update",
        help="heads are not moved with the rows that nothing else witnesses",
        patches=(Patch(Staging, "_count", count_nothing),),
    ),
    Bug(
        name="missing-journal-entry",
        help="changes are counted and not told",
        patches=(Patch(Staging, "put", put_without_journal),),
    ),
    Bug(
        name="missing-receipt-witness",
        help="the second row of an idempotency key is not written",
        patches=(Patch(Staging, "put", put_without_witness),),
    ),
    Bug(
        name="missing-revision",
        help="later revisions of relations are not kept",
        patches=(Patch(Staging, "put", put_first_revision_only),),
    ),
    Bug(
        name="topic-slot-kept",
        help="a topic slot is not freed",
        patches=(Patch(apply, "free_topic", free_nothing),),
    ),
    Bug(
        name="payload-kept",
        help="a deletion does not erase",
        patches=(Patch(Staging, "delete_all", erase_nothing),),
    ),
)
