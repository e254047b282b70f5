"""Text to words (judgments.md, detection): the same for what is stored, saved and asked.

Always holds: a word has letters and digits alone, is decomposed, stripped of marks and case-folded, and at most
`WORD_CHARACTERS_MAX` long. Runs of Han, kana and Hangul have no blanks between words; they are cut into bigrams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category, normalize

WORD_CHARACTERS_MAX: Final = 64

_RUN: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    "["
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "]+"
)


def words_of(text: str) -> Iterator[str]:
    """The words of a text in their order, repeated ones too."""
    for run in _RUN.finditer(_folded(text)):
        yield from _split(run[0])


def distinct(text: str) -> dict[str, None]:
    """The distinct words of a text in the order of their first appearance."""
    return dict.fromkeys(words_of(text))


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
