"""`receipts/read`: the receipt of a key, for whoever lost an answer (relations.md, idempotency and receipts)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.receipts import ReceiptReadAnswer
from relatum.core.queries import ReceiptRead
from relatum.errors import Refusal
from relatum.http.routes import Route, needing, reading
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import receipts
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def read(call: Call[ReceiptRead], view: RequestView) -> ReceiptReadAnswer | Refusal:
    """The receipt of one key."""
    body, subject_id = call.body, call.credential.spec.subject_id
    found = receipts.read(reader_of(call, view), subject_id, body.family, body.idempotency_key)
    if isinstance(found, Refusal):
        return found
    return ReceiptReadAnswer(contract_version=CONTRACT_VERSION, scope=body.scope, receipt=found)


ROUTES: Final = (
    Route(
        path="/api/v1/memory/receipts/read",
        tag="receipts",
        summary="Read the receipt of an idempotency key",
        access=needing("memory_read"),
        takes=ReceiptRead,
        answers=ReceiptReadAnswer,
        handle=reading(read),
        refuses=("invalid_request", "record_not_found"),
    ),
)
