"""The search index as it lies beside the rows, held against one that is made of them.

What always holds: the index is asked as the product asks it, which brings it up to the end of each partition first. So
it may lie behind, and may not say anything else than the records do.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from crash_tests.inspection.stored import Rows, StoredRows
from crash_tests.violation import require_same
from relatum.ledger.search.index import FILE_NAME, SearchIndex
from relatum.store.partition import PartitionReader
from relatum.telemetry import Log

TEXTS_MAX = 20
"""So many texts are looked for in each partition: what its newest records say."""


def check_search_index(directory: Path, found: Rows) -> int:
    """How many answers were compared. The index is changed as by whoever asks it. Raises `Violation`."""
    if not (directory / FILE_NAME).exists():
        return 0
    compared = 0
    with closing(_index(directory / FILE_NAME)) as lying, closing(_index(None)) as fresh:
        for partition in StoredRows(found).partitions():
            for text in _texts(partition.reader):
                expected = fresh.search(partition.reader, text)
                require_same(f"what is found in {partition.name}", expected, lying.search(partition.reader, text))
                detected = fresh.detect(partition.reader, text)
                require_same(f"what resembles in {partition.name}", detected, lying.detect(partition.reader, text))
                compared += 2
    return compared


def _texts(reader: PartitionReader) -> Iterator[str]:
    payloads = (reader.payload(version.meta) for version in reader.records(reverse=True))
    return islice((payload.content for payload in payloads if payload is not None), TEXTS_MAX)


def _index(path: Path | None) -> SearchIndex:
    return SearchIndex(path, Log(io.StringIO(), lambda: 0, "warning"))
