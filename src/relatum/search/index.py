"""The search index of a store: what resembles a text, and which records have the words that somebody asks for.

Always holds: only active, current records are in it; a partition is indexed as far as a position of its record stream,
and brought up to the stream's tip before it is asked; one that was indexed along another history is made again. The
index is best effort: whatever goes wrong in it is logged, and it answers that it has found nothing.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from heapq import nlargest
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from relatum import limits
from relatum.core.decide.saves import Detected, Hit
from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.streams import RECORDS
from relatum.search.tables import Mark, Tables
from relatum.search.words import distinct, words_of
from relatum.store.partition import PartitionReader
from relatum.telemetry import Log

FILE_NAME = "search.sqlite"
CHUNK_ENTRIES = 256
"""How many entries of a stream are indexed in one transaction."""

SATURATION = 1.2
LENGTH_WEIGHT = 0.75
SEARCH_POSTINGS_MAX = 20_000
PROMPT_WORDS_MAX = 256

T = TypeVar("T")


class Found(NamedTuple):
    """A record that has some of the words that were asked for."""

    record_id: str
    score: float


class SearchIndex:
    """The index of one store. Any thread may use it; one at a time does."""

    def __init__(self, path: Path | None, log: Log) -> None:
        """Opens the index at `path`, or makes it; one in memory where there is no path."""
        self._path = path
        self._log = log
        self._using = Lock()
        self._tables: Tables | None = self._opened()

    def close(self) -> None:
        """Lets go of the file."""
        with self._using:
            if self._tables is not None:
                self._tables.close()
                self._tables = None

    def catch_up(self, partition: PartitionReader) -> None:
        """Brings a partition up to the tip of its record stream."""
        self._safely(lambda tables: _caught_up(tables, partition), None)

    def detect(self, partition: PartitionReader, content: str) -> Detected:
        """The records that resemble a text, the most similar first (judgments.md, detection)."""
        return self._safely(lambda tables: _detected(tables, partition, content), Detected())

    def search(self, partition: PartitionReader, text: str) -> list[Found]:
        """The records that have words of a text, the best first."""
        return self._safely(lambda tables: _searched(tables, partition, text), [])

    def matches(self, partition: PartitionReader, text: str) -> dict[str, int]:
        """The records that have words of a text, each with how many distinct ones."""
        return self._safely(lambda tables: _matched(tables, partition, text), {})

    def _safely(self, use: Callable[[Tables], T], otherwise: T) -> T:
        with self._using:
            tables = self._tables
            if tables is None:
                return otherwise
            try:
                return use(tables)
            except sqlite3.Error as error:
                self._log.failure("the search index failed; it is made again", error)
                self._make_again(tables)
                return otherwise

    def _make_again(self, broken: Tables) -> None:
        self._tables = None
        try:
            broken.close()
        except sqlite3.Error as error:
            self._log.failure("the search index could not be closed", error)
        self._remove()
        self._tables = self._opened()

    def _opened(self) -> Tables | None:
        for remove in (False, True):
            try:
                if remove:
                    self._remove()
                return Tables(self._path)
            except (sqlite3.Error, OSError) as error:
                self._log.failure("the search index can't be opened", error)
        return None

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            if self._path is not None:
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def _caught_up(tables: Tables, partition: PartitionReader) -> int | None:
    """The number of a partition, indexed up to its tip; None where its record stream is not active yet."""
    tip = partition.head().streams.get(RECORDS)
    if tip is None:
        return None
    workspace = bytes.fromhex(partition.workspace_id)
    known = tables.partition(workspace)
    if known is not None and known[1] == Mark(tip.journal_id, tip.sequence, tip.prefix_digest):
        return known[0]
    tables.begin()
    try:
        number, mark = known or (0, None)
        if mark is None or not _lies_on(partition, mark, tip.journal_id, tip.sequence):
            if known is not None:
                tables.drop_partition(number)
            mark = Mark(tip.journal_id, 0, b"")
            number = tables.add_partition(workspace, mark)
        changed: dict[str, None] = {}
        for count, (sequence, entry) in enumerate(partition.entries(RECORDS, mark.sequence), 1):
            mark = Mark(tip.journal_id, sequence, entry.prefix_digest)
            changed[entry.change.record_id] = None  # type: ignore[union-attr]  # the record stream tells of records
            if count % CHUNK_ENTRIES == 0:
                _index(tables, number, partition, changed)
                tables.move_mark(number, mark)
                tables.commit()
                tables.begin()
                changed.clear()
        _index(tables, number, partition, changed)
        tables.move_mark(number, mark)
        tables.commit()
    except BaseException:
        tables.rollback()
        raise
    return number


def _lies_on(partition: PartitionReader, mark: Mark, journal_id: str, sequence: int) -> bool:
    """Whether a partition was indexed along this very history, and not beyond its end."""
    if mark.journal_id != journal_id or mark.sequence > sequence:
        return False
    if mark.sequence == 0:
        return True
    entry = partition.entry(RECORDS, mark.sequence)
    return entry is not None and entry.prefix_digest == mark.digest


def _index(tables: Tables, number: int, partition: PartitionReader, record_ids: dict[str, None]) -> None:
    """Indexes records as they are now, and forgets those that are no longer active and current."""
    for record_id in record_ids:
        version = partition.record(record_id)
        active = version is not None and version.meta.state == "active"
        payload = partition.payload(version.meta) if version is not None and active else None
        if payload is None or partition.standing(record_id).state != "current":
            tables.remove_record(number, uuid_bytes(record_id))
            continue
        words = [*words_of(payload.title or ""), *words_of(payload.content)]
        tables.put_record(number, uuid_bytes(record_id), words)


def _detected(tables: Tables, partition: PartitionReader, content: str) -> Detected:
    number = _caught_up(tables, partition)
    if number is None:
        return Detected()
    own = distinct(content)
    first = list(own)[: limits.DETECTION_WORDS_MAX]
    scores = _scores(tables, number, first, limits.DETECTION_POSTINGS_MAX)
    best = nlargest(limits.DETECTED_MAX, scores.items(), key=lambda item: (item[1], item[0]))
    hits = [Hit(uuid_text(record_id), _share(own, tables.words_of(number, record_id))) for record_id, _ in best]
    return Detected(tuple(sorted(hits, key=lambda hit: -hit.similarity)))


def _searched(tables: Tables, partition: PartitionReader, text: str) -> list[Found]:
    number = _caught_up(tables, partition)
    if number is None:
        return []
    scores = _scores(tables, number, list(distinct(text)), SEARCH_POSTINGS_MAX)
    found = [Found(uuid_text(record_id), score) for record_id, score in scores.items()]
    return sorted(found, key=lambda one: (-one.score, one.record_id))


def _matched(tables: Tables, partition: PartitionReader, text: str) -> dict[str, int]:
    number = _caught_up(tables, partition)
    words = list(distinct(text)) if number is not None else []
    if number is None or not words:
        return {}
    rarity = tables.records_with(number, words[:PROMPT_WORDS_MAX])
    counts: dict[bytes, int] = {}
    read = 0
    for word in sorted(rarity, key=lambda one: (rarity[one], one)):
        if read and read + rarity[word] > SEARCH_POSTINGS_MAX:
            break
        read += rarity[word]
        for posting in tables.postings(number, word, SEARCH_POSTINGS_MAX):
            counts[posting.record_id] = counts.get(posting.record_id, 0) + 1
    return {uuid_text(record_id): count for record_id, count in counts.items()}


def _scores(tables: Tables, number: int, words: Sequence[str], postings_max: int) -> dict[bytes, float]:
    """BM25 of the rarest words, as many as keep the postings read under a bound; by the partition's statistics alone.

    IMPORTANT: the bound keeps the cost of a save from growing with its partition.
    """
    if not words:
        return {}
    records, length = tables.totals(number)
    rarity = tables.records_with(number, words)
    scores: dict[bytes, float] = {}
    read = 0
    for word in sorted(rarity, key=lambda one: (rarity[one], one)):
        having = rarity[word]
        if read and read + having > postings_max:
            break
        read += having
        weight = math.log(1 + (records - having + 0.5) / (having + 0.5))
        for posting in tables.postings(number, word, postings_max):
            relative = posting.length * records / length
            dampened = posting.times + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative)
            score = weight * posting.times * (SATURATION + 1) / dampened
            scores[posting.record_id] = scores.get(posting.record_id, 0.0) + score
    return scores


def _share(own: dict[str, None], theirs: set[str]) -> float:
    """Which share of a text's distinct words another one has."""
    return round(sum(word in theirs for word in own) / len(own), 6) if own else 0.0
