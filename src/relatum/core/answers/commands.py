"""Answers to the commands of records, relations and links: a receipt each, or why there is none."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.judgments import Channel
from relatum.core.answers.receipts import LinkReceipt, RecordReceipt, RelationReceipt
from relatum.core.wire import Uuid
from relatum.errors import Code

EITHER: Final = Meta(extra_json_schema={"oneOf": [{"required": ["receipt"]}, {"required": ["error"]}]})
"""The schema of a result: a receipt, with whatever goes with it, or an error; never both or neither."""


class ItemError(Answer, frozen=True, kw_only=True):
    """Why one command of a batch was refused; `status` is what it would have been answered with alone."""

    code: Open[Code]
    message: str
    status: int


class SurfacedCandidate(Answer, frozen=True, kw_only=True):
    """A pending candidate of a save. Title, snippet and topic are those of now, null once erased."""

    candidate_id: Uuid
    target_id: Uuid
    title: str | None
    snippet: str | None
    similarity: float
    channel: Open[Channel]
    topic_key: str | None


class RecordCommandAnswer(Answer, frozen=True, kw_only=True):
    """The receipt of an accepted record command, the same bytes on every replay.

    A save answers what it has surfaced besides.
    """

    contract_version: Literal[1]
    receipt: RecordReceipt
    candidates: tuple[SurfacedCandidate, ...] | UnsetType = UNSET
    judgment_required: bool | UnsetType = UNSET
    candidates_detected: int | UnsetType = UNSET


class RecordBatchResult(Answer, frozen=True, kw_only=True):
    """The outcome of one command of a batch: a receipt or an error."""

    receipt: RecordReceipt | UnsetType = UNSET
    candidates: tuple[SurfacedCandidate, ...] | UnsetType = UNSET
    judgment_required: bool | UnsetType = UNSET
    candidates_detected: int | UnsetType = UNSET
    error: ItemError | UnsetType = UNSET


class RecordBatchResults(Answer, frozen=True, kw_only=True):
    """The outcomes of a batch of record commands, in the order of the request."""

    contract_version: Literal[1]
    results: tuple[Annotated[RecordBatchResult, EITHER], ...]


class RelationCommandAnswer(Answer, frozen=True, kw_only=True):
    """The receipt of an accepted relation command, the same bytes on every replay."""

    contract_version: Literal[1]
    receipt: RelationReceipt


class RelationBatchResult(Answer, frozen=True, kw_only=True):
    """The outcome of one command of a batch: a receipt or an error."""

    receipt: RelationReceipt | UnsetType = UNSET
    error: ItemError | UnsetType = UNSET


class RelationBatchResults(Answer, frozen=True, kw_only=True):
    """The outcomes of a batch of relation commands, in the order of the request."""

    contract_version: Literal[1]
    results: tuple[Annotated[RelationBatchResult, EITHER], ...]


class LinkCommandAnswer(Answer, frozen=True, kw_only=True):
    """The receipt of an accepted link command, the same bytes on every replay."""

    contract_version: Literal[1]
    receipt: LinkReceipt
