"""Text to words (judgments.md, detection): the same for what is stored, saved and asked.

Always holds: a word has letters and digits alone, is decomposed, stripped of marks and case-folded, and at most
`WORD_CHARACTERS_MAX` long. Runs of Han, kana and Hangul have no blanks between words; they are cut into bigrams.

What a reader may look for and is no word has *signs*: single characters of unspaced scripts, pairs of them where runs
are whole words (Thai and its neighbours), symbols such as emoji. They find, and count for nothing else: detection knows
words alone. A sign begins with `SIGN`, which is in no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category, normalize

WORD_CHARACTERS_MAX: Final = 64

SIGN: Final = "\u00b7"

_RUN: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    "["
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "]+"
)

_WHOLE: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf]+"
)
"""Scripts that know no blanks either, and whose runs are words all the same: Thai, Lao, Burmese, Khmer, Tai."""

_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


def words_of(text: str) -> Iterator[str]:
    """The words of a text in their order, repeated ones too."""
    for run in _RUN.finditer(_folded(text)):
        yield from _split(run[0])


def distinct(text: str) -> dict[str, None]:
    """The distinct words of a text in the order of their first appearance."""
    return dict.fromkeys(words_of(text))


def signs_of(text: str) -> Iterator[str]:
    """The signs of a text, by which it is found and not compared."""
    if text.isascii():
        return
    folded = _folded(text)
    for run in _RUN.finditer(folded):
        for unspaced in _UNSPACED.finditer(run[0]):
            yield from (SIGN + character for character in unspaced[0])
        for whole in _WHOLE.finditer(run[0]):
            yield from (SIGN + character for character in whole[0])
            yield from (SIGN + pair for pair in _bigrams(whole[0]) if len(pair) > 1)
    yield from _symbols(folded)


def asked_of(text: str) -> Iterator[str]:
    """What a reader looks for who gives a text: its words, and signs where it has no word that would find the same.

    A single character of an unspaced script is looked for wherever it stands; a longer run by its pairs.
    """
    folded = _folded(text)
    for run in _RUN.finditer(folded):
        for word in _split(run[0]):
            if len(word) == 1 and _UNSPACED.match(word):
                yield SIGN + word
            else:
                yield from map(SIGN.__add__, _bigrams(word)) if _WHOLE.fullmatch(word) else (word,)
    yield from _symbols(folded)


class Share:
    """Which share of the distinct words of a query, and of its signs, a record has that is found by it."""

    def __init__(self, query: str) -> None:
        self._asked = frozenset(asked_of(query))

    def __call__(self, title: str | None, content: str) -> float:
        """From 0 to 1."""
        if not self._asked:
            return 0.0
        found = {word for text in (title or "", content) for read in (words_of, signs_of) for word in read(text)}
        return round(len(self._asked & found) / len(self._asked), 6)


def _symbols(folded: str) -> Iterator[str]:
    """Symbols as signs, each by itself; the two halves of a flag together."""
    if folded.isascii():
        return
    for flag in _FLAG.finditer(folded):
        yield SIGN + flag[0]
    for character in _FLAG.sub("", folded):
        if not character.isascii() and category(character) in ("So", "Sm", "Sc"):
            yield SIGN + character


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = "".join(character for character in normalize("NFKD", text) if category(character)[0] != "M")
    return normalize("NFC", bare.casefold())


def _split(run: str) -> Iterator[str]:
    """A run of letters and digits as words: what lies between unspaced scripts is a word, they themselves bigrams."""
    if run.isascii():
        yield run[:WORD_CHARACTERS_MAX]
        return
    at = 0
    for unspaced in _UNSPACED.finditer(run):
        if at < unspaced.start():
            yield run[at : unspaced.start()][:WORD_CHARACTERS_MAX]
        yield from _bigrams(unspaced[0])
        at = unspaced.end()
    if at < len(run):
        yield run[at:][:WORD_CHARACTERS_MAX]


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]
