"""What is asked of the index: BM25 by the statistics of one partition alone, within a bound of postings read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import islice
from typing import Final, NamedTuple

from relatum import limits
from relatum.core.context_records import OUTLINES_MAX, Surroundings
from relatum.core.decide.saves import NOTHING_DETECTED, Detected, Hit
from relatum.core.ids import uuid_text
from relatum.ledger.search.tables import Posting, Tables
from relatum.ledger.search.tokenizer import asked_of, distinct
from relatum.store.partition import PartitionReader

SATURATION: Final = 1.2
LENGTH_WEIGHT: Final = 0.75
SEARCH_POSTINGS_MAX: Final = 20_000
SEARCH_WORDS_MAX: Final = 256
"""How many distinct words of a search or a prompt count, the first ones."""

DETECTION_LOOKS_MAX: Final = 200
"""How many of the best are looked at until 20 memories are found among them."""


class Found(NamedTuple):
    """A record that has some of the words that were asked for."""

    record_id: str
    score: float


def detected(
    tables: Tables, number: int | None, partition: PartitionReader, content: str, without: str | None = None
) -> Detected:
    """The 20 best memories for a text, but for one that is to be replaced; the most similar first."""
    if number is None:
        return NOTHING_DETECTED
    own = distinct(content)
    first = list(own)[: limits.DETECTION_WORDS_MAX]
    scores = _scores(tables, number, first, limits.DETECTION_POSTINGS_MAX)
    best = nlargest(DETECTION_LOOKS_MAX, scores.items(), key=lambda item: (item[1], item[0]))
    found = ((uuid_text(one), one) for one, _ in best)
    memories = ((name, one) for name, one in found if name != without and _is_memory(partition, name))
    hits = [Hit(name, _share(own, tables.words_of(number, one))) for name, one in islice(memories, limits.DETECTED_MAX)]
    return Detected(tuple(sorted(hits, key=lambda hit: -hit.similarity)))


def searched(tables: Tables, number: int | None, text: str) -> list[Found]:
    """The records that have words of a text, the best first."""
    if number is None:
        return []
    scores = _scores(tables, number, _first_asked(text), SEARCH_POSTINGS_MAX)
    found = [Found(uuid_text(record_id), score) for record_id, score in scores.items()]
    return sorted(found, key=lambda one: (-one.score, one.record_id))


def surroundings(tables: Tables, number: int | None, text: str) -> Surroundings:
    """What a context block is made of."""
    counts: dict[bytes, int] = {}
    if number is None:
        return Surroundings([], counts, True)
    for _, postings in _rarest(tables, number, _first_asked(text), SEARCH_POSTINGS_MAX):
        for record_id, _, _ in postings:
            counts[record_id] = counts.get(record_id, 0) + 1
    outlines = tables.outlines(number, OUTLINES_MAX + 1)
    return Surroundings(outlines[:OUTLINES_MAX], counts, len(outlines) <= OUTLINES_MAX)


def _first_asked(text: str) -> list[str]:
    return list(dict.fromkeys(asked_of(text)))[:SEARCH_WORDS_MAX]


def _scores(tables: Tables, number: int, words: Sequence[str], postings_max: int) -> dict[bytes, float]:
    """BM25 of each record that has one of the rarest words."""
    records, words_in_all = tables.totals(number)
    shortest = SATURATION * (1 - LENGTH_WEIGHT)
    scores: dict[bytes, float] = {}
    for having, postings in _rarest(tables, number, words, postings_max):
        weight = (SATURATION + 1) * math.log(1 + (records - having + 0.5) / (having + 0.5))
        longer = SATURATION * LENGTH_WEIGHT * records / max(1, words_in_all)  # of emoji alone there are no words
        for record_id, times, length in postings:
            score = weight * times / (times + shortest + longer * length)
            scores[record_id] = scores.get(record_id, 0.0) + score
    return scores


def _rarest(
    tables: Tables, number: int, words: Sequence[str], postings_max: int
) -> Iterator[tuple[int, list[Posting]]]:
    """The rarest words, each with how many records have it and its postings, as long as a bound is kept.

    IMPORTANT: the bound keeps the cost of a save from growing with its partition. Of a single word that is over it, as
    many postings are read as the bound allows.
    """
    rarity = tables.records_with(number, words) if words else {}
    read = 0
    for word in sorted(rarity, key=lambda one: (rarity[one], one)):
        having = rarity[word]
        if read and read + having > postings_max:
            return
        read += having
        postings = tables.postings(number, word, postings_max)
        if len(postings) != having and sum(times for _, times, _ in postings) < postings_max:
            raise ValueError("a word is not in as many records as were counted")
        yield having, postings


def _is_memory(partition: PartitionReader, record_id: str) -> bool:
    version = partition.record(record_id)
    return version is not None and version.meta.facts.type == "memory"


def _share(own: dict[str, None], theirs: set[str]) -> float:
    """Which share of a text's distinct words another one has."""
    return round(sum(word in theirs for word in own) / len(own), 6) if own else 0.0
