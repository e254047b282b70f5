"""Text to words (judgments.md, detection): runs of letters and digits, marks dropped, unspaced scripts in pairs."""

from __future__ import annotations

import json
import unicodedata
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.ledger.search.tokenizer import SIGN, WORD_CHARACTERS_MAX, asked_of, distinct, signs_of, words_of
from tests.corpora.mapping import FOLDER, PEPS

SAMPLES = [
    ("The quick-brown fox, 2nd edition.", ["the", "quick", "brown", "fox", "2nd", "edition"]),
    ("snake_case and CamelCase", ["snake", "case", "and", "camelcase"]),
    ("don't", ["don", "t"]),
    ("PEP 8: naïve façade", ["pep", "8", "naive", "facade"]),
    ("Ångström ÅNGSTRÖM A\u030angstro\u0308m", ["angstrom"] * 3),
    ("Straße STRASSE", ["strasse", "strasse"]),
    ("ﬁnal ½ x²", ["final", "1", "2", "x2"]),
    ("Ελλάδος ΕΛΛΆΔΟΣ", ["ελλαδοσ", "ελλαδοσ"]),
    ("Ёлка елка", ["елка", "елка"]),
    ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
    ("Việt Nam", ["viet", "nam"]),
    ("हिन्दी भाषा", ["हनद", "भष"]),
    ("العَرَبِيَّة", ["العربية"]),
    ("שָׁלוֹם", ["שלום"]),
    ("東京都の天気", ["東京", "京都", "都の", "の天", "天気"]),
    ("人々", ["人々"]),
    ("ｶﾀｶﾅ カタカナ", ["カタ", "タカ", "カナ"] * 2),
    ("ガギグ", ["カキ", "キク"]),
    ("한국어 텍스트", ["한국", "국어", "텍스", "스트"]),
    ("Python3入門", ["python3", "入門"]),
    ("第3章", ["第", "3", "章"]),
    ("𠮷野家", ["𠮷野", "野家"]),
    ("😀 !? … — \u200b", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "words"), SAMPLES, ids=lambda one: str(one)[:20])
def test_samples_of_many_scripts(text: str, words: list[str]) -> None:
    assert words == list(words_of(text))


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_the_form_of_a_text_does_not_matter(form: str) -> None:
    for text, words in SAMPLES:
        assert words == list(words_of(unicodedata.normalize(form, text)))  # type: ignore[arg-type]  # one of the four


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("猫", ["·猫"]),
        ("黒猫", ["黒猫"]),
        ("一匹の猫", ["一匹", "匹の", "の猫"]),
        ("第3章", ["·第", "3", "·章"]),
        ("ガ", ["·カ"]),
        ("한", ["·한"]),
        ("🐱", ["·🐱"]),
        ("👩🏽\u200d💻", ["·👩", "·💻"]),
        ("❤️", ["·❤"]),
        ("🇯🇵", ["·🇯🇵"]),
        ("cats 🐱 for 5 €", ["cats", "for", "5", "·🐱", "·€"]),
        ("สวัสดี", ["·สว", "·วส", "·สด"]),
        ("cat", ["cat"]),
        ("!", []),
    ],
)
def test_what_a_text_is_looked_for_by(text: str, asked: list[str]) -> None:
    assert asked == list(asked_of(text))


@given(st.text(alphabet=st.sampled_from("猫黒がガ한국ก🐱🇯🇵€第aé1 !")))
def test_whatever_stands_in_a_text_is_found_by_each_part_of_it(text: str) -> None:
    known = {*words_of(text), *signs_of(text)}
    for asked in asked_of(text):
        assert asked in known
    for character in text:
        if category(character)[0] in "LS" and character not in "aé🇯🇵":
            assert set(asked_of(character)) <= known
            assert list(asked_of(character))
    assert not any(word.startswith(SIGN) for word in words_of(text))


def test_distinct_words_keep_the_order_of_their_first_appearance() -> None:
    assert ["b", "a", "c"] == list(distinct("B a b c A"))


def test_a_word_is_cut_at_its_bound() -> None:
    assert ["x" * WORD_CHARACTERS_MAX] == list(words_of("x" * (WORD_CHARACTERS_MAX + 1)))
    assert ["я" * WORD_CHARACTERS_MAX] == list(words_of("Я" * (WORD_CHARACTERS_MAX + 1)))


@given(st.text())
def test_words_are_made_of_letters_and_digits_and_are_words_of_themselves(text: str) -> None:
    for word in words_of(text):
        assert 1 <= len(word) <= WORD_CHARACTERS_MAX
        assert word.isalnum()
        assert [word] == list(words_of(word))


@given(st.text(), st.text())
def test_a_blank_parts_words(one: str, other: str) -> None:
    assert [*words_of(one), *words_of(other)] == list(words_of(f"{one} {other}"))


def test_titles_of_real_documents_have_words() -> None:
    titles = [row["title"] for row in PEPS.rows("records")]
    with (FOLDER / "rfc-index-2020" / "records.jsonl").open(encoding="utf-8") as lines:
        titles += [json.loads(line)["title"] for line in lines]
    assert 9_000 < len(titles)
    assert all(list(words_of(title)) for title in titles)
    assert {"encryption", "ipv6", "utf", "8", "telnet"} <= {word for title in titles for word in words_of(title)}
