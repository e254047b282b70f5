"""What the routes of the change streams take and answer (feeds.md).

Ranges of integers and the syntax of UUIDs are checked by decoding. Versions, streams and digests of cursors, consumer
ids and the order of two cursors are static rules, checked by the read itself.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from relatum import limits
from relatum.core.cursors import CheckpointCommand
from relatum.core.ids import Scope
from relatum.core.streams import Cursor
from relatum.core.wire import Closed, Sparse

ChangesLimit = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": limits.CHANGES_PAGE_MAX})]
WaitMillis = Annotated[
    int, Meta(extra_json_schema={"minimum": 0, "maximum": limits.CHANGES_WAIT_MILLIS_MAX, "default": 0})
]
SavedRevision = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": limits.U64_MAX})]


class Window(Sparse, frozen=True, kw_only=True):
    """A stretch of a stream: after one cursor, up to and with another.

    Without the first it begins at the baseline, without the second it ends at the tip.
    """

    after: Cursor | None = None
    through: Cursor | None = None


class PageQuery(Window, frozen=True, kw_only=True):
    """A page of at most `limit` deliveries; with none to deliver, it waits `wait_millis` for a commit."""

    limit: ChangesLimit
    wait_millis: WaitMillis | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= limits.CHANGES_PAGE_MAX:
            raise ValueError("a limit lies between 1 and 256")
        _check_wait(self.wait_millis)


class _ScopedBody(Closed, frozen=True, kw_only=True):
    """What every body begins with."""

    contract_version: int
    scope: Scope


class ChangesBody(_ScopedBody, frozen=True, kw_only=True):
    """Body of `changes`. `wait_millis` stands in the query, or beside it."""

    query: PageQuery
    wait_millis: WaitMillis | None = None

    def __post_init__(self) -> None:
        _check_wait(self.wait_millis)

    @property
    def patience_millis(self) -> int:
        """How long to wait for a commit, by whichever of the two members is given."""
        return self.query.wait_millis or self.wait_millis or 0


class StreamBody(_ScopedBody, frozen=True, kw_only=True):
    """Body of `changes/stream`: the query of a page without its limit, all of which may be left out."""

    query: Window | None = None


class ActivationBody(_ScopedBody, frozen=True, kw_only=True):
    """Body of `changes/activate`."""


class CheckpointBody(Closed, frozen=True, kw_only=True):
    """Body of `checkpoints`: the version of the contract stands in the command."""

    scope: Scope
    command: CheckpointCommand

    @property
    def contract_version(self) -> int:
        """The command's."""
        return self.command.contract_version


class ConsumerBody(_ScopedBody, frozen=True, kw_only=True):
    """Body of `checkpoints/read`: a consumer of the caller's own subject."""

    consumer_id: str


class ConsumerRevisionBody(ConsumerBody, frozen=True, kw_only=True):
    """Body of `checkpoints/revision`."""

    revision: SavedRevision

    def __post_init__(self) -> None:
        if not 1 <= self.revision <= limits.U64_MAX:
            raise ValueError("revisions start at 1 and fit 64 bits")


class DiagnoseBody(ConsumerBody, frozen=True, kw_only=True):
    """Body of `consumers/diagnose`. `witness` is a cursor that the consumer has kept elsewhere."""

    witness: Cursor | None = None


def _check_wait(millis: int | None) -> None:
    if millis is not None and not 0 <= millis <= limits.CHANGES_WAIT_MILLIS_MAX:
        raise ValueError("a wait lasts at most 30,000 milliseconds")
