"""What calls answer that is no struct of the wire, and conversions of times."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from relatum.client.secret import Secret
from relatum.core.answers.access import Credential
from relatum.core.answers.commands import SurfacedCandidate
from relatum.core.answers.receipts import RecordReceipt, RelationReceipt
from relatum.core.ids import Ref

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Saved(NamedTuple):
    """A saved record and what it may contradict or replace; `candidates_detected` counts those beyond the cap too."""

    receipt: RecordReceipt
    candidates: tuple[SurfacedCandidate, ...]
    judgment_required: bool
    candidates_detected: int

    @property
    def record_id(self) -> str:
        """The record's."""
        return self.receipt.record_id

    @property
    def revision(self) -> int:
        """That which was saved."""
        return self.receipt.revision


class Accepted(NamedTuple):
    """A command of a batch that was accepted."""

    receipt: RecordReceipt | RelationReceipt
    idempotency_key: str


class Refused(NamedTuple):
    """A command of a batch that was not; `status` is what it would have been answered with alone."""

    code: str
    message: str
    status: int
    idempotency_key: str


class Issued(NamedTuple):
    """A credential and its secret, which the service tells this once."""

    credential: Credential
    secret: Secret


class RecordAt(Protocol):
    """Whatever is a record at a revision: a receipt, a record, a saved one."""

    @property
    def record_id(self) -> str:
        """Which record."""
        ...

    @property
    def revision(self) -> int:
        """At which revision."""
        ...


class RelationAt(Protocol):
    """Whatever is a relation at a revision: a receipt, a relation."""

    @property
    def relation_id(self) -> str:
        """Which relation."""
        ...

    @property
    def revision(self) -> int:
        """At which revision."""
        ...


def ref_of(target: RecordAt | tuple[str, int]) -> Ref:
    """The reference to what names a record at an exact revision."""
    if isinstance(target, Ref):
        return target
    if isinstance(target, tuple) and not hasattr(target, "record_id"):
        record_id, revision = target
        return Ref(record_id=record_id, revision=revision)
    assert not isinstance(target, tuple) or isinstance(target, Saved)
    return Ref(record_id=target.record_id, revision=target.revision)


def refs_of(targets: Iterable[RecordAt | tuple[str, int]]) -> tuple[Ref, ...]:
    """The references to several."""
    return tuple(map(ref_of, targets))


def relation_of(target: RelationAt | tuple[str, int]) -> tuple[str, int]:
    """The id and revision of a relation."""
    if isinstance(target, tuple):
        return target
    return target.relation_id, target.revision


def id_of(record: RecordAt | str) -> str:
    """The id of a record, whatever its revision."""
    return record if isinstance(record, str) else record.record_id


def millis(moment: datetime) -> int:
    """Unix milliseconds of a moment. Raises ValueError for one without a time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone is none")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def datetime_of(unix_millis: int) -> datetime:
    """The moment of Unix milliseconds, in UTC. Raises OverflowError beyond the years 1 to 9999."""
    return _EPOCH + timedelta(milliseconds=unix_millis)
