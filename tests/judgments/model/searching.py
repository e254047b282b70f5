"""Answers of the search held against the book."""

from __future__ import annotations

from itertools import pairwise

from crash_tests.judgment_model.expected_state import Book
from relatum.core.judgment_queries import SearchQuery
from relatum.ledger.reads import search
from relatum.ledger.view import RequestView
from tests.judgments.model.finding import scores
from tests.support.builders import PARTITION, SCOPE


def compare_searches(view: RequestView, book: Book, text: str) -> None:
    """Eligible, current records by their words, the best first."""
    partition = view.partition(PARTITION)
    hits = view.search(partition, text)
    asked = SearchQuery(contract_version=1, scope=SCOPE, text=text, limit=50, relations_limit=0)
    answers = search.search(partition, view.now_millis, asked, (hit.record_id for hit in hits), view.share(text))
    assert isinstance(answers, tuple)
    expected = scores(book, text)
    found = [one.record.record_id for one in answers]
    assert sorted(expected) == sorted(found)
    ranked = [expected[name] for name in found]
    assert all(first >= second - 1e-9 for first, second in pairwise(ranked)), ranked
