"""The one way in which a crash test fails."""

from __future__ import annotations

_SHOWN_CHARACTERS_MAX = 600


class Violation(Exception):
    """Something that was promised does not hold. The text says what was promised, what was found, and where."""


def require(condition: bool, text: str) -> None:
    """Raise a `Violation` that says `text` unless `condition` holds."""
    if not condition:
        raise Violation(text)


def require_same(what: str, expected: object, found: object) -> None:
    """Raise a `Violation` unless both are equal. They are spelled out only then, and large ones not to their end."""
    if expected != found:
        raise Violation(f"{what}: expected {_shown(expected)}, found {_shown(found)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}…"
