"""What a save surfaces among real texts: abstracts of PEPs and RFCs, and sentences with accents, in Han, kana, Hangul.

The abstracts are those of the documents that they are named by as they are remembered: nobody compared them word for
word, and they stand for the length and the vocabulary of such texts alone. Each later one says on which it builds.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpora.mapping import Json
from tests.support.judging import JudgingDesk

with (Path(__file__).parent / "abstracts.jsonl").open(encoding="utf-8") as lines:
    ABSTRACTS: list[Json] = [json.loads(line) for line in lines]
EARLIER = [one for one in ABSTRACTS if one["builds_on"] is None]
LATER = [one for one in ABSTRACTS if one["builds_on"] is not None]

SENTENCES = [
    "Die Fähre nach Norderney fährt im Sommer um neun Uhr ab.",
    "Der Bäcker an der Ecke öffnet früh.",
    "El señor Núñez llegó a Málaga en otoño.",
    "Những chuyến phà đi Cần Giờ khởi hành lúc chín giờ.",
    "Prom do Świnoujścia odpływa o dziewiątej.",
    "Паром в Кронштадт отходит в девять часов.",
    "渡し船は九時に北の港を出ます。",
    "東京都の天気は晴れです。",
    "北京的渡轮九点钟离开港口。",
    "他每天早上喝一杯绿茶。",
    "부산으로 가는 배는 아홉 시에 떠난다.",
    "서울의 날씨는 맑다.",
]

AGAIN = [
    ("IM WINTER FAHRT DIE FAHRE NACH NORDERNEY NICHT", 0),
    ("El senor Nunez se fue de Malaga", 2),
    ("Phà đi CẦN GIỜ nay khởi hành lúc mười giờ", 3),
    ("prom do swinoujscia nie odplywa, a Świnoujście czeka", 4),
    ("Паром в КРОНШТАДТ сегодня не отходит", 5),
    ("渡し船は十時に南の港を出ます", 6),
    ("明日の東京都の天気は雨です", 7),
    ("渡轮十点钟离开天津的港口", 8),
    ("부산으로 가는 배는 열 시에 떠난다", 10),
    ("내일 서울의 날씨는 흐리다", 11),
]


def found(judging: JudgingDesk, text: str) -> list[str]:
    """The ids of what resembles a text, the most similar first."""
    with judging.ledger.view() as view:
        hits = view.resembling(view.partition(judging.partition), text).hits
    return [hit.record_id for hit in hits]


@pytest.mark.parametrize("later", LATER, ids=lambda one: one["id"])
def test_the_abstract_of_a_later_document_resembles_most_the_one_that_it_builds_on(
    later: Json, judging: JudgingDesk
) -> None:
    names = {judging.save(one["abstract"], title=one["id"]).record_id: one["id"] for one in EARLIER}
    assert later["builds_on"] == names[found(judging, later["abstract"])[0]]


@pytest.mark.parametrize(("text", "number"), AGAIN, ids=[row[0][:12] for row in AGAIN])
def test_a_sentence_resembles_most_what_says_nearly_the_same_in_whatever_script(
    text: str, number: int, judging: JudgingDesk
) -> None:
    ids = [judging.save(sentence).record_id for sentence in SENTENCES]
    hits = found(judging, text)
    assert number == ids.index(hits[0])


def test_sentences_that_share_no_word_do_not_resemble_each_other(judging: JudgingDesk) -> None:
    for sentence in SENTENCES:
        judging.save(sentence)
    assert [] == found(judging, "명절에는 떡국을 먹는다")
    assert [] == found(judging, "Mañana comeremos paella")
