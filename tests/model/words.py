"""The codes with which commands and reads are refused."""

from __future__ import annotations

from typing import Final

BAD: Final = "invalid_request"
MISSING: Final = "record_not_found"
STALE: Final = "revision_conflict"
CONFLICT: Final = "idempotency_conflict"
HISTORY: Final = "journal_history_conflict"
REGRESSION: Final = "checkpoint_regression"
