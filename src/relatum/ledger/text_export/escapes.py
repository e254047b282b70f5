r"""Any text on one line: control characters, line separators, the backslash and a trailing space are escaped.

    \\  a backslash      \n  \t  \r  as everywhere      \u{85}  the character of that number      \u{}  nothing at all

What always holds: what `on_one_line` writes has no line break that anybody's editor knows, and `as_it_was` undoes it.
"""

from __future__ import annotations

import re
from typing import Final

_SPECIAL: Final = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ESCAPE: Final = re.compile(r"\\(?:([\\ntr])|u\{([0-9a-f]{0,6})\})?")
_NAMED: Final = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_NAMES: Final = {character: name for name, character in _NAMED.items()}

NOTHING: Final = r"\u{}"
"""An empty value: without it a line would end in a space."""


def on_one_line(text: str) -> str:
    """`text` without anything that would end its line or vanish from it."""
    escaped = _SPECIAL.sub(_escaped, text)
    return f"{escaped[:-1]}\\u{{20}}" if escaped.endswith(" ") else escaped


def as_it_was(line: str) -> str:
    """The text that `on_one_line` was given. Raises ValueError where there is no such text."""
    return _ESCAPE.sub(_character, line)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return f"\\{_NAMES[character]}" if character in _NAMES else f"\\u{{{ord(character):x}}}"


def _character(found: re.Match[str]) -> str:
    name, number = found[1], found[2]
    if name is not None:
        return _NAMED[name]
    if number is None:
        raise ValueError("a backslash that begins no escape")
    return chr(int(number, 16)) if number else ""
