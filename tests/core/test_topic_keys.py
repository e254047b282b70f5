"""Topic keys: different words have different keys, the same word in another dress the same one."""

from __future__ import annotations

from itertools import combinations
from unicodedata import category, decomposition, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.core.text import is_identifier
from relatum.core.topic_keys import topic_key

SAMPLES = [
    ("バス", "バス"),
    ("パス", "パス"),
    ("ハス", "ハス"),
    ("पानी", "पानी"),
    ("पान", "पान"),
    ("má", "má"),
    ("mà", "mà"),
    ("mạ", "mạ"),
    ("ma", "ma"),
    ("部署流程", "部署流程"),
    ("デプロイの手順 2", "デプロイの手順-2"),
    ("สวัสดี", "สวัสดี"),
    ("C++", "c++"),
    ("C#", "c#"),
    ("C", "c"),
    ("**C++17** vs. `C`", "c++17-vs-c"),
    ("F# and .NET", "f#-.net"),
    ("AT&T", "at&t"),
    ("node.js 1.5", "node.js-1.5"),
    ("15", "15"),
    ("10⁶", "10⁶"),
    ("106", "106"),
    ("Maße", "maße"),
    ("Masse", "masse"),
    ("Don't panic.", "don't-panic"),
    ("It's Ada's plan", "ada's-plan"),
    ("The plan, by and for all", "plan-all"),
    ("# 1: snake_case", "1-snake_case"),
    ("🐱", "🐱"),
    ("🐶 of the house", "house"),
    ("the … of", None),
    ("\u0301 \u200b", None),
]


@pytest.mark.parametrize(("title", "key"), SAMPLES, ids=lambda one: str(one)[:20])
def test_words_stand_as_they_are_written(title: str, key: str | None) -> None:
    assert key == topic_key(title, "")
    assert key == topic_key("", title), "where there is no title the content is taken"


def test_the_keys_of_all_samples_differ() -> None:
    keys = [key for title, key in SAMPLES if key is not None]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("バス", "ﾊﾞｽ"),
        ("\uff23\uff0b\uff0b", "c++"),
        ("ﬁnal", "FINAL"),
        ("Don\u2019t", "don't"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"),
        ("العـــربية", "العربية"),
        ("co\u00adoperate", "cooperate"),
        ("בְּרֵאשִׁ֖ית", "בְּרֵאשִׁית"),
    ],
)
def test_the_same_word_in_another_dress_has_the_same_key(one: str, other: str) -> None:
    assert topic_key(one, "") == topic_key(other, "")


def _tells_apart(character: str) -> bool:
    """Letters, marks and digits that are nothing else in another dress."""
    is_unspoken = 0x0591 <= ord(character) <= 0x05AF or 0x06D6 <= ord(character) <= 0x06ED or character == "ـ"
    return not (is_unspoken or decomposition(character).startswith("<") or 0xFE00 <= ord(character) <= 0xFE0F)


LETTERS = st.characters(categories=("Ll", "Lu", "Lo", "Lm", "Mn", "Mc", "Nd")).filter(_tells_apart)
WORDS = st.tuples(st.characters(categories=("Ll", "Lo")).filter(_tells_apart), st.text(LETTERS, max_size=12)).map(
    lambda parts: f"q{parts[0]}{parts[1]}"
)


def told_apart(word: str) -> str:
    """What makes two words the same one: letters in the one form and case that they have."""
    return normalize("NFC", normalize("NFC", word).lower())


@given(st.lists(WORDS, min_size=2, max_size=6))
def test_different_words_have_different_keys(words: list[str]) -> None:
    for one, other in combinations(words, 2):
        assert (told_apart(one) == told_apart(other)) == (topic_key(one, "") == topic_key(other, ""))


@given(st.text(max_size=80), st.sampled_from(["NFC", "NFD"]))
def test_a_key_is_an_identifier_and_does_not_depend_on_the_form_of_its_text(text: str, form: str) -> None:
    key = topic_key(text, "")
    assert key == topic_key(normalize(form, text), "")  # type: ignore[arg-type]  # one of two
    if key is not None:
        assert is_identifier(key)
        assert "Cc" not in {category(character) for character in key}


@pytest.mark.parametrize("beginning", ["", "protocol "])
def test_words_that_are_too_long_for_a_key_are_told_apart_too(beginning: str) -> None:
    one, other = (topic_key(beginning + "部" * 60 + end, "") for end in ("署", "流"))
    assert one is not None
    assert other is not None
    assert one != other
    assert is_identifier(one)
    assert one.rpartition("~")[0] == other.rpartition("~")[0]
