"""What can be asked of a ledger: a question is plain data, so that it can be kept beside the answer it must get.

What always holds: an answer is bytes; a read that fails is a `Failed`, and whatever else goes wrong is not caught.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from relatum.core.company import ConsumersQuery
from relatum.core.feeds import Window
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.ids import Partition, Scope
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.queries import CompanyRecordFilter, RecordFilter, RelationFilter
from relatum.core.streams import Cursor
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal, StorageFailure, StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.reads import (
    changes,
    checkpoints,
    company,
    consumers,
    credentials,
    diagnosis,
    health,
    judgments,
    needs_review,
    overview,
    receipts,
    record_query,
    records,
    relation_query,
    relations,
    validate,
)
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.limits import DAY_MILLIS
from relatum.store import replay
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

_SCOPE: Final = Scope(project_id="asked", agent_id="scout", visibility="shared")
"""Of queries, which are carried out where they are put: nothing reads it."""
_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class Question(Struct, frozen=True, array_like=True):
    """One thing that is asked.

    `ask` names one of `ASKS`, `given` is what it takes. `needs` are keys of rows without which nobody can know the
    answer: where one of them is missing or torn, an answer is one too many.
    """

    ask: str
    partition: Partition
    given: tuple[Any, ...]
    needs: tuple[bytes, ...] = ()

    def __str__(self) -> str:
        """For messages."""
        return f"{self.ask} {', '.join(map(str, self.given))}"[:300]


class Failed(Struct, frozen=True):
    """There was no answer: the stored rows contradict each other (500), or the engine failed (503)."""

    error: str
    status: int


class Asked(NamedTuple):
    """What a question is put to."""

    ledger: Ledger
    view: LedgerView
    reader: PartitionReader

    @property
    def now_millis(self) -> int:
        """The one clock value."""
        return self.view.now_millis


def answer(ledger: Ledger, view: LedgerView, question: Question) -> bytes | Failed:
    """What the ledger says to a question."""
    try:
        found = ASKS[question.ask](Asked(ledger, view, view.partition(question.partition)), *question.given)
    except StorageInconsistency as error:
        return Failed(str(error), 500)
    except StorageFailure as error:
        return Failed(str(error), 503)
    return b"refused: " + found.code.encode() if isinstance(found, Refusal) else _ENCODE(found)


def _record_page(at: Asked, **members: Any) -> object:
    return record_query.query(at.reader, at.now_millis, at.view.store_key, RecordFilter(**members))


def _retained_page(at: Asked, **members: Any) -> object:
    return record_query.company_query(at.reader, at.now_millis, at.view.store_key, CompanyRecordFilter(**members))


def _relation_page(at: Asked, **members: Any) -> object:
    return relation_query.query(at.reader, at.now_millis, at.view.store_key, RelationFilter(**members))


def _changes(at: Asked, stream: Any, after: Any, through: Any, limit: int) -> object:
    return changes.page(at.reader, stream, Window(after=_cursor(after), through=_cursor(through)), limit)


def _cursor(given: Any) -> Cursor | None:
    return msgspec.convert(given, Cursor | None)


def _typed_graph(at: Asked, record_id: str, depth: int) -> object:
    return typed_graph(at.reader, at.now_millis, TypedGraphQuery(root_record_ids=(record_id,), max_depth=depth))


def _evidence_graph(at: Asked, record_id: str) -> object:
    return evidence_graph(at.reader, at.now_millis, EvidenceGraphQuery(root_record_ids=(record_id,)))


def _replay(at: Asked, family: Any, subject_id: str, key: str, digest: str) -> object:
    if family == "checkpoint":
        return replay.look_up_checkpoint(at.reader, subject_id, key, digest)
    return replay.look_up(at.reader, family, subject_id, key, digest)


def _workspace(at: Asked, company_id: str, workspace_id: str) -> object:
    entered = company.enter(at.view, company_id, workspace_id)
    return entered if isinstance(entered, Refusal) else entered.workspace


def _consumers(at: Asked, company_id: str, members: Any) -> object:
    return consumers.page(at.view, company_id, ConsumersQuery(**members))


def _diagnosis(at: Asked, stream: Any, subject_id: str, consumer_id: str, witness: Any) -> object:
    return diagnosis.diagnose(at.reader, stream, subject_id, consumer_id, _cursor(witness))


def _queue(at: Asked, status: Any) -> object:
    wanted = JudgmentsQuery(contract_version=1, scope=_SCOPE, status=status, min_age_millis=0)
    return judgments.query(at.reader, at.now_millis, wanted, 0, 400 * DAY_MILLIS)


def _status(at: Asked, record_id: str) -> object:
    wanted = StatusQuery(contract_version=1, scope=_SCOPE, record_ids=(record_id,))
    return validate.statuses(at.reader, at.now_millis, at.view.store_key, wanted)


ASKS: Final[dict[str, Callable[..., object]]] = {
    "record": lambda at, record_id: records.read(at.reader, at.now_millis, record_id),
    "records": lambda at, *ids: records.batch(at.reader, at.now_millis, ids),
    "record inspected": lambda at, record_id: records.inspect(at.reader, at.now_millis, record_id),
    "record revision": lambda at, record_id, number: records.revision(at.reader, record_id, number),
    "record page": lambda at, members: _record_page(at, **members),
    "retained page": lambda at, members: _retained_page(at, **members),
    "relation": lambda at, relation_id: relations.read(at.reader, at.now_millis, relation_id),
    "relation inspected": lambda at, relation_id: relations.inspect(at.reader, at.now_millis, relation_id),
    "relation revision": lambda at, relation_id, number: relations.revision(at.reader, relation_id, number),
    "relation page": lambda at, members: _relation_page(at, **members),
    "receipt": lambda at, family, subject_id, key: receipts.read(at.reader, subject_id, family, key),
    "replay": _replay,
    "typed graph": _typed_graph,
    "evidence graph": _evidence_graph,
    "changes": _changes,
    "checkpoint": lambda at, *whose: checkpoints.read(at.reader, *whose),
    "checkpoint revision": lambda at, *whose_and_number: checkpoints.revision(at.reader, *whose_and_number),
    "diagnosis": _diagnosis,
    "caller": lambda at, secret: credentials.authenticate(at.view, secret),
    "credentials": lambda at, limit, after: credentials.page(at.reader, limit, after),
    "company": lambda at, company_id: at.view.company_exists(company_id),
    "workspaces": lambda at, company_id, limit, after: company.workspaces(at.view, company_id, limit, after),
    "workspace": _workspace,
    "consumers": _consumers,
    "annotated": lambda at, record_id: judgments.annotated(at.reader, at.now_millis, (record_id,), 50),
    "status": _status,
    "queue": _queue,
    "overview": lambda at: overview.overview(at.reader, at.now_millis, 20),
    "needs review": lambda at: needs_review.needs_review(at.reader, at.now_millis, 100),
    "validate": lambda at: validate.validate(at.reader, ValidateQuery(contract_version=1, scope=_SCOPE)),
    "health": lambda at: health.health(at.reader, at.now_millis),
}
