"""Answers that fit: what a text costs a model, by an estimate, and what is left out or cut for it (mcp.md, budget).

Always holds: the estimate of no answer exceeds its budget, and nothing is cut without a count or a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

TOKENS_MIN: Final = 500
TOKENS_MAX: Final = 20_000
TOKENS_DEFAULT: Final = 4_000

_ASCII_FIFTHS, _OTHER_FIFTHS, _ASTRAL_FIFTHS = 2, 5, 15
_LEFT_OUT_FIFTHS: Final = _ASCII_FIFTHS * len(',"left_out":9223372036854775807')

Entry = dict[str, Any]


def compact(answer: object) -> str:
    """`answer` as compact JSON: the text block."""
    return msgspec.json.encode(answer).decode()


def estimated(text: str) -> int:
    """Tokens of `text`: two fifths for each ASCII character, one for any other, three above U+FFFF; rounded up."""
    return -(-_fifths(text) // 5)


def room(max_tokens: int) -> int:
    """The fifths of a token that an answer may have."""
    return 5 * max_tokens


def cost(value: object) -> int:
    """What a value costs as JSON, in fifths of a token."""
    return _fifths(compact(value))


def fitted(answer: Mapping[str, Any], name: str, entries: Sequence[Entry], max_tokens: int) -> dict[str, Any]:
    """`answer` with as many of `entries` under `name` as fit, from the first on, and `left_out` where some don't."""
    taken, left_out = prefix(entries, room(max_tokens) - cost({**answer, name: []}))
    found = {**answer, name: taken}
    return {**found, "left_out": left_out} if left_out else found


def prefix(entries: Sequence[Entry], fifths: int) -> tuple[list[Entry], int]:
    """The entries that fit, from the first on, and how many don't. A first one that is too large is cut."""
    left = fifths - _LEFT_OUT_FIFTHS
    taken: list[Entry] = []
    for entry in entries:
        costs = cost(entry) + _ASCII_FIFTHS
        if costs > left and not taken:
            cut = _cut(entry, left - _ASCII_FIFTHS)
            return ([], len(entries)) if cut is None else ([cut], len(entries) - 1)
        if costs > left:
            break
        taken.append(entry)
        left -= costs
    return taken, len(entries) - len(taken)


def shortened(text: str, fifths: int) -> str:
    """The beginning of `text` that costs at most so much as JSON, quotation marks left out."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[:middle]) - 2 * _ASCII_FIFTHS <= fifths:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _cut(entry: Entry, fifths: int) -> Entry | None:
    """An entry made to fit, in this order: its content, reasons, previews, relations; None where nothing helps."""
    for shorter in (_with_less_content, _without_reasons, _without_previews, _without_relations):
        entry = shorter(entry, fifths)
        if cost(entry) <= fifths:
            return entry
    for name in ("data", "tags", "replaces"):
        if name in entry:
            entry = {key: value for key, value in entry.items() if key != name} | {f"{name}_left_out": True}
            if cost(entry) <= fifths:
                return _with_less_content(entry, fifths)
    return None


def _with_less_content(entry: Entry, fifths: int) -> Entry:
    content = entry.get("content")
    if not isinstance(content, str):
        return entry
    whole = entry.get("content_characters", len(content))
    bare = {**entry, "content": "", "content_characters": whole}
    return {**bare, "content": shortened(content, max(0, fifths - cost(bare)))}


def _without_reasons(entry: Entry, fifths: int) -> Entry:
    return _relations(entry, lambda one: one | {"reason_left_out": True} if one.pop("reason", None) else one, fifths)


def _without_previews(entry: Entry, fifths: int) -> Entry:
    return _relations(entry, lambda one: one | {"preview_left_out": True} if one.pop("preview", None) else one, fifths)


def _without_relations(entry: Entry, fifths: int) -> Entry:
    """Fewer relations; `relationsTotal` counts them all."""
    for name in ("relations", "graph_relations"):
        found = entry.get(name)
        if found:
            total = entry.get("relationsTotal", len(found))
            bare = {**entry, name: [], "relationsTotal": total}
            kept, _ = prefix(found, max(0, fifths - cost(bare)))
            entry = {**bare, name: kept}
    return entry


def _relations(entry: Entry, change: Callable[[Entry], Entry], fifths: int) -> Entry:
    """The entry with its relations changed; what that leaves is given to the content again."""
    changed = dict(entry)
    for name in ("relations", "graph_relations"):
        if name in entry:
            changed[name] = [change(dict(one)) for one in entry[name]]
    return changed if cost(changed) <= fifths else _with_less_content(changed, fifths)


def _fifths(text: str) -> int:
    if text.isascii():
        return _ASCII_FIFTHS * len(text)
    others = [character for character in text if not character.isascii()]
    astral = sum(character > "\uffff" for character in others)
    plain = len(others) - astral
    return _ASCII_FIFTHS * (len(text) - len(others)) + _OTHER_FIFTHS * plain + _ASTRAL_FIFTHS * astral
