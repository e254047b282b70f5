"""A topic key made of a text: its first telling words, as they are written (judgments.md, topic keys).

A topic slot is exclusive, and whoever takes one supersedes its holder. So what tells two words apart is never dropped:
marks stay where they are, runs without blanks are not cut up, and signs that belong to a name (`c++`, `c#`, `.net`,
`at&t`, `1.5`) belong to the word. Only what is the same word written otherwise becomes the same: upper and lower case,
full and half width, ligatures, composed and decomposed, and characters that nobody sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from unicodedata import category, decomposition, normalize

from relatum import limits
from relatum.core import digests

WORDS_MAX: Final = 6

_FILLERS: Final = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at be but by for from has have in into is it its of on or our so that the their this to was "
        "we were will with you your",
    )
)

_SAME_CHARACTER: Final = ("<wide>", "<narrow>", "<compat>", "<isolated>", "<initial>", "<medial>", "<final>")
"""Compatibility forms that are the same character in another dress; a superscript or a fraction is another one."""

_UNSPOKEN: Final = re.compile("[\u0591-\u05af\u0640\u06d6-\u06ed\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Cantillation, stretching and variation selectors: they tell how a word is sung or drawn, not which one it is."""

_WORD: Final = re.compile(r"(?:(?<![ld.])\.(?=l))?[ld]+(?:(?:[.'&](?=[ld])|(?<=d),(?=d)|[+#])[ld]*)*")
_SYMBOLS: Final = re.compile("s+")
_SIGNS: Final = ".,'&+#"
_TAIL_DIGITS: Final = 12


def topic_key(title: str, content: str) -> str | None:
    """A key of the title, or of the content where the title has no telling word; None where neither has one.

    The same text has the same key; symbols make a key only where a text has no word.
    """
    for text in map(_as_written, (title, content)):
        key = _joined(_words(text)) or _joined(_runs(_SYMBOLS, text))
        if key:
            return key
    return None


def _joined(words: Iterable[str]) -> str:
    """The first words as one identifier.

    Of what is too long for one the beginning stays, with what tells it from others that begin so.
    """
    key = "-".join(islice(words, WORDS_MAX))
    if len(key.encode()) <= limits.IDENTIFIER_BYTES_MAX:
        return key
    tail = f"~{digests.topic_digest(key)[:_TAIL_DIGITS]}"
    room = limits.IDENTIFIER_BYTES_MAX - len(tail)
    return key.encode()[:room].decode(errors="ignore") + tail


def _words(text: str) -> Iterator[str]:
    """The telling words."""
    for word in _runs(_WORD, text):
        if word.partition("'")[0] not in _FILLERS and any(category(one)[0] in "LN" for one in word):
            yield word


def _runs(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """The parts of a text whose kinds of characters agree with a pattern."""
    for found in pattern.finditer("".join(map(_kind, text))):
        yield text[found.start() : found.end()]


def _kind(character: str) -> str:
    """One letter for the kind of a character: `l`etter or mark, `d`igit, `s`ymbol, a sign as it is, a blank."""
    if character in _SIGNS:
        return character
    match category(character):
        case "So" | "Sk" if not character.isascii():
            return "s"
        case kind if kind[0] == "N":
            return "d"
        case kind if kind[0] in "LM" or character == "_":
            return "l"
        case _:
            return " "


def _as_written(text: str) -> str:
    """A text in the one form of its characters, in lower case, without what nobody sees."""
    if text.isascii():
        return text.lower()
    plain = "".join(map(_plain, text)).replace("\u2019", "'")
    seen = "".join(character for character in _UNSPOKEN.sub("", plain) if category(character) != "Cf")
    return normalize("NFC", normalize("NFC", seen).lower())


def _plain(character: str) -> str:
    return normalize("NFKC", character) if decomposition(character).startswith(_SAME_CHARACTER) else character
