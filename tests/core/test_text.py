"""String classes: their lengths are bytes, blank is what Unicode calls white space, control characters are Cc."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest

from relatum import limits
from relatum.core import text

NAMES: list[tuple[Callable[[str], bool], int]] = [
    (text.is_identifier, limits.IDENTIFIER_BYTES_MAX),
    (text.is_idempotency_key, limits.KEY_BYTES_MAX),
    (text.is_consumer_id, limits.CONSUMER_BYTES_MAX),
    (text.is_method, limits.METHOD_BYTES_MAX),
    (text.is_evidence_ref, limits.EVIDENCE_REF_BYTES_MAX),
]
BLANK = ["", " ", "\u00a0", "\u2003\u3000", "\u2028"]
WITH_CONTROL = ["a\x00", "\x1fa", "a\x7fb", "a\x80", "\x85a", "a\x9f", "line\nbreak", "tab\tstop"]
ODD_BUT_SOUND = ["a", " a ", "Ω", "a\u200b", "\u00ad", "💡", "e\u0301", "𐀀"]


@pytest.mark.parametrize(("is_one", "bytes_max"), NAMES)
@pytest.mark.parametrize("letter", ["a", "é", "語", "💡"])
def test_the_length_of_a_name_is_bounded_in_bytes(is_one: Callable[[str], bool], bytes_max: int, letter: str) -> None:
    size = len(letter.encode())
    fitting = letter * (bytes_max // size) + "a" * (bytes_max % size)
    assert bytes_max == len(fitting.encode())
    assert is_one(fitting)
    assert not is_one(fitting + "a")


DAYS = ["0001-01-01", "2024-02-29", "2000-02-29", "9999-12-31"]
NO_FORM = ["", "2026-1-01", "2026-01-1", "2026-01-01T", " 2026-01-01", "2026-01-01\n", "\uff12026-01-01", "today"]
NO_DAYS = ["2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00", "0000-01-01"]


@pytest.mark.parametrize("day", DAYS + NO_FORM + NO_DAYS)
def test_a_date_is_a_day_of_the_calendar_in_one_form(day: str) -> None:
    assert text.is_date(day) is (day in DAYS)


@pytest.mark.parametrize("name", BLANK + WITH_CONTROL)
def test_no_name_is_blank_or_has_a_control_character(name: str) -> None:
    assert [False] * len(NAMES) == [is_one(name) for is_one, _ in NAMES]


@pytest.mark.parametrize("name", ODD_BUT_SOUND)
def test_any_other_text_is_a_name_as_it_is(name: str) -> None:
    assert [True] * len(NAMES) == [is_one(name) for is_one, _ in NAMES]


def test_control_characters_are_exactly_those_of_category_cc() -> None:
    characters = (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    wrong = [one for one in characters if text.is_identifier("a" + one) == (unicodedata.category(one) == "Cc")]
    assert [] == wrong


def test_blank_is_unicode_white_space_and_nothing_else() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    separators = {one for one in characters if unicodedata.category(one) in ("Zs", "Zl", "Zp")}
    white = separators | set("\t\n\v\f\r\x85")
    assert white == {one for one in characters if text.is_blank(one)}
    assert text.is_blank("".join(white))
    assert not text.is_blank(" \x1c ")


@pytest.mark.parametrize("digest", ["0" * 64, "0123456789abcdef" * 4])
def test_a_digest_is_64_lower_case_hex_digits(digest: str) -> None:
    assert text.is_digest(digest)


@pytest.mark.parametrize(
    "other", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 63 + "\n", "0" * 64 + "\n", "\u0660" * 64]
)
def test_nothing_else_is_a_digest(other: str) -> None:
    assert not text.is_digest(other)
