"""The rows of a fact: which records say something of it, and the digest of what each says."""

from __future__ import annotations

from relatum.core import digests
from relatum.core.records import Payload
from relatum.store.projection.staged_partition import Staging


def put_fact(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A record says something of a fact, if its content names one."""
    if payload is not None and payload.fact_key is not None:
        source_hash = payload.provenance.source_hash if payload.provenance else None
        said = digests.said_digest(payload.content, source_hash)
        staging.put(staging.keys.fact(payload.fact_key, record_id), said)


def remove_fact(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A record no longer says what it said."""
    if payload is not None and payload.fact_key is not None:
        staging.delete(staging.keys.fact(payload.fact_key, record_id))
