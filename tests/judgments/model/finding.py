"""What resembles a text, and which records have some words: BM25 as it stands in the books, over everything there is.

The texts of the model are ASCII words in lower case, so that cutting at blanks is enough.
"""

from __future__ import annotations

import math

from crash_tests.judgment_model.expected_state import Book, Sheet

FIRST_WORDS = 16


def similar(book: Book, content: str, topic: str | None) -> dict[str, float]:
    """The memories that a save may contradict or replace, each with its similarity.

    A model's partition is so small that neither the best twenty nor the bound on postings leave anything out.
    """
    own = list(dict.fromkeys(content.split()))
    occupant = book.holder(topic)
    versions = [] if occupant is None else list(book.earlier_versions(occupant.id))
    found = {}
    for sheet in book.sheets.values():
        common = [word for word in own if word in sheet.words]
        if sheet.type != "memory" or not book.fit(sheet.id) or not book.eligible(sheet.id) or sheet.id in versions:
            continue
        if not {*common} & {*own[:FIRST_WORDS]} or any(book.no_conflict(one, sheet.id) for one in versions):
            continue
        found[sheet.id] = len(common) / len(own)
    assert len(found) <= 20
    return found


def scores(book: Book, text: str) -> dict[str, float]:
    """The eligible, current records that have a word of a text. Statistics are those of all current ones."""
    indexed = [sheet for sheet in book.sheets.values() if book.fit(sheet.id)]
    found: dict[str, float] = {}
    for word in dict.fromkeys(text.split()):
        having = [sheet for sheet in indexed if word in sheet.words]
        for sheet in having:
            if book.eligible(sheet.id):
                found[sheet.id] = found.get(sheet.id, 0.0) + _score(indexed, having, sheet, word)
    return found


def _score(indexed: list[Sheet], having: list[Sheet], sheet: Sheet, word: str) -> float:
    mean = sum(len(one.words) for one in indexed) / len(indexed)
    times = sheet.words.count(word)
    weight = math.log(1 + (len(indexed) - len(having) + 0.5) / (len(having) + 0.5))
    return weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(sheet.words) / mean))
