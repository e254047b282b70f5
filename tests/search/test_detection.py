"""Detection and search on real text: BM25 by a partition's own statistics, the bounds, and what resembles what."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

from relatum.core.decide.saves import Hit
from relatum.core.ids import uuid_bytes
from relatum.ledger import Ledger
from relatum.ledger.search.index import SearchIndex
from relatum.ledger.search.tables import Posting, Tables
from relatum.ledger.search.tokenizer import distinct, words_of
from relatum.limits import DETECTED_MAX, DETECTION_WORDS_MAX
from relatum.store.partition import PartitionReader
from tests.corpora.mapping import FOLDER, PEPS, Json
from tests.support.builders import PRIVATE
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk


def rfcs(name: str) -> list[Json]:
    with (FOLDER / "rfc-index-2020" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def naive_scores(documents: dict[str, list[str]], asked: list[str]) -> dict[str, float]:
    """BM25 as it stands in the books, over all documents."""
    mean = sum(map(len, documents.values())) / len(documents)
    scores: dict[str, float] = {}
    for word in asked:
        having = sum(word in words for words in documents.values())
        weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for record_id, words in documents.items():
            times = words.count(word)
            if times:
                dampened = times + 1.2 * (0.25 + 0.75 * len(words) / mean)
                scores[record_id] = scores.get(record_id, 0.0) + weight * times * 2.2 / dampened
    return scores


def detected(index: SearchIndex, judging: JudgingDesk, content: str) -> tuple[Hit, ...]:
    with judging.ledger.view() as view:
        return index.detect(view.partition(judging.partition), content).hits


def test_scores_are_bm25_of_the_partition(judging: JudgingDesk, index: SearchIndex) -> None:
    titles = [row["title"] for row in rfcs("records")[:400]]
    documents = {judging.save(title).record_id: list(words_of(title)) for title in titles}
    with judging.ledger.view() as view:
        reader = view.partition(judging.partition)
        for text in ("network", "host software protocol", "file transfer protocol meeting notes", titles[17]):
            expected = naive_scores(documents, list(distinct(text)))
            assert expected == pytest.approx(dict(index.search(reader, text)))
            counts = {one: sum(word in words for word in distinct(text)) for one, words in documents.items()}
            found = index.surroundings(reader, text)
            assert found is not None
            expected_matches = {uuid_bytes(one): count for one, count in counts.items() if count}
            assert (expected_matches, sorted(map(uuid_bytes, documents), reverse=True), True) == (
                found.matches,
                [outline.record_id for outline in found.outlines],
                found.complete,
            )


def test_other_partitions_change_nothing(judging: JudgingDesk, index: SearchIndex) -> None:
    titles = [row["title"] for row in PEPS.rows("records")[:60]]
    for title in titles[:30]:
        judging.save(title)

    def scores() -> object:
        with judging.ledger.view() as view:
            reader = view.partition(judging.partition)
            return [(index.search(reader, title), index.detect(reader, title)) for title in titles]

    before = scores()
    stranger = JudgingDesk(judging.ledger, PRIVATE)
    for title in titles * 3:
        stranger.save(title)
    detected(index, stranger, titles[0])
    assert before == scores()


def test_similarity_is_the_share_of_the_saved_words_that_the_other_has(
    judging: JudgingDesk, index: SearchIndex
) -> None:
    record = judging.save("Die Fähre fährt um neun", title="Fahrplan")
    for content, share in (
        ("FAHRE FAHRPLAN", 1.0),
        ("die die die Fähre morgen mittag", 0.5),
        ("um zehn uhr", round(1 / 3, 6)),
    ):
        assert (Hit(record.record_id, share),) == detected(index, judging, content)
    assert () == detected(index, judging, "morgen")


def test_the_most_similar_come_first_and_at_most_twenty(judging: JudgingDesk, index: SearchIndex) -> None:
    desk = Desk(judging.ledger)
    words = [f"word{number}" for number in range(30)]
    for number in range(30):
        desk.create("task " + words[0], type="task")
        judging.save(" ".join(words[: number + 1]))
    hits = detected(index, judging, " ".join(words[:DETECTION_WORDS_MAX]))
    assert DETECTED_MAX == len(hits)
    shares = [hit.similarity for hit in hits]
    assert sorted(shares, reverse=True) == shares
    assert 1.0 == shares[0]


def test_only_the_first_sixteen_distinct_words_are_looked_up(judging: JudgingDesk, index: SearchIndex) -> None:
    record = judging.save("lantern")
    filling = " ".join(f"word{number}" for number in range(DETECTION_WORDS_MAX - 1))
    assert (record.record_id,) == tuple(
        hit.record_id for hit in detected(index, judging, f"{filling} {filling} lantern")
    )
    assert () == detected(index, judging, f"{filling} one-more lantern")


def test_as_many_of_the_rarest_words_are_looked_up_as_the_bound_allows(
    judging: JudgingDesk, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relatum.limits.DETECTION_POSTINGS_MAX", 10)
    common = {judging.save(f"ferry {number}").record_id for number in range(12)}
    rare = [judging.save(f"lantern {letter}").record_id for letter in "abc"]
    found = {hit.record_id for hit in detected(index, judging, "ferry lantern")}
    assert set(rare) == found, "3 postings are read, and 12 more would be too many"
    assert 10 == len({hit.record_id for hit in detected(index, judging, "ferry")} & common), "one word is always read"


def test_a_save_reads_a_bounded_number_of_postings_in_a_large_partition(
    judging: JudgingDesk, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()
    postings = Tables.postings

    def counting(tables: Tables, number: int, word: str, limit: int) -> list[Posting]:
        found = postings(tables, number, word, limit)
        read["postings"] += len(found)
        return found

    monkeypatch.setattr(Tables, "postings", counting)
    monkeypatch.setattr("relatum.limits.DETECTION_POSTINGS_MAX", 200)
    for row in rfcs("records")[:1_500]:
        judging.save(row["title"])
    for title in ("The Network Protocol Specification for the Internet", "Requirements for IP Host Software"):
        read.clear()
        assert detected(index, judging, title)
        assert read["postings"] <= 200


def test_what_obsoletes_a_document_resembles_it(ledger: Ledger, judging: JudgingDesk, index: SearchIndex) -> None:
    """Of the RFCs of the first 1,500 that obsolete another one of these, most surface it by their title alone."""
    rows = {row["id"]: row for row in rfcs("records")[:1_500]}
    ids = {name: judging.save(row["title"]).record_id for name, row in rows.items()}
    pairs = [(row["from"], row["to"]) for row in rfcs("relations") if row["kind"] == "obsoletes"]
    known = [(source, target) for source, target in pairs if {source, target} <= rows.keys()]
    surfaced = 0
    with ledger.view() as view:
        reader: PartitionReader = view.partition(judging.partition)
        for source, target in known:
            hits = index.detect(reader, rows[source]["title"]).hits
            surfaced += ids[target] in {hit.record_id for hit in hits}
    assert 100 < len(known)
    assert 0.6 < surfaced / len(known)
