"""The rows by which a record is found by its content: what it says of a fact, and which source it comes from.

And what it said of a fact since when, which a deletion erases with the content.
"""

from __future__ import annotations

from relatum.core import digests
from relatum.core.records import Payload
from relatum.store import rows
from relatum.store.keys import beyond
from relatum.store.projection.staged_partition import Staging


def list_content(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """A record says something of a fact, if its content names one, and comes from a source, if it names one."""
    if payload is None:
        return
    origin, keys = payload.provenance, staging.keys
    if payload.fact_key is not None:
        said = digests.said_digest(payload.content, origin.source_hash if origin else None)
        staging.put(keys.fact(payload.fact_key, record_id), said)
        staging.put(keys.fact_revision(payload.fact_key, record_id, staging.next_sequence), said)
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


def leave_fact(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """From this event on a record says nothing of the fact of its earlier content, unless its new one does."""
    if payload is not None and payload.fact_key is not None:
        staging.put(staging.keys.fact_revision(payload.fact_key, record_id, staging.next_sequence), b"")


def erase_facts(staging: Staging, record_id: str) -> None:
    """Nobody can tell any more what a deleted record said. Before its payloads go, by which its facts are known."""
    prefix = staging.keys.payloads(record_id)
    payloads = [rows.PAYLOAD.decode(rows.unseal(*row)).payload for row in staging.reader.scan(prefix, beyond(prefix))]
    for fact in {payload.fact_key for payload in payloads if payload is not None and payload.fact_key is not None}:
        staging.delete_all(staging.keys.fact_revisions(fact, record_id))
