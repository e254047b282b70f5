"""The rows by which a record is found by its content: what it says of a fact, and which source it comes from."""

from __future__ import annotations

from relatum.core import digests
from relatum.core.records import Payload
from relatum.store.projection.staged_partition import Staging


def list_content(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A record says something of a fact, if its content names one, and comes from a source, if it names one."""
    if payload is None:
        return
    origin, keys = payload.provenance, staging.keys
    if payload.fact_key is not None:
        said = digests.said_digest(payload.content, origin.source_hash if origin else None)
        staging.put(keys.fact(payload.fact_key, record_id), said)
    if origin is not None:
        staging.put(keys.source(origin.source_id, record_id), b"")


def unlist_content(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A record no longer has the content that it had."""
    if payload is None:
        return
    if payload.fact_key is not None:
        staging.delete(staging.keys.fact(payload.fact_key, record_id))
    if payload.provenance is not None:
        staging.delete(staging.keys.source(payload.provenance.source_id, record_id))
