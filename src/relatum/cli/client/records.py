"""`relatum record`, with all its verbs."""

from __future__ import annotations

from relatum.cli.client import record_reads, record_writes
from relatum.cli.client.record_group import record

__all__ = ["record", "record_reads", "record_writes"]
