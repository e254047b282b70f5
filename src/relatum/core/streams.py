"""The names of the change streams. Each partition has both (feeds.md)."""

from __future__ import annotations

from typing import Literal

Stream = Literal["typed_memory_relations", "memory_records"]
RELATIONS: Stream = "typed_memory_relations"
RECORDS: Stream = "memory_records"
