"""A flame graph as a small picture, from collapsed stacks.

    py-spy record --pid PID --gil --threads --format raw --output stacks.txt
    python -m tests.benchmarks.flame stacks.txt picture.svg --title "single commands, 64 connections"

Each box is a function, as wide as its share of the samples, upon the one that called it; frames above those that every
sample of a thread has in common are left out, and so is what is narrower than a few letters. The picture has no script:
the full name and the share of a box show where a browser shows a title.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

WIDTH, ROW, LETTER = 1200.0, 17, 6.2
NARROWEST = 0.003
"""The least share of the samples that is drawn."""
COLOURS = {
    "relatum/core": "#f6c28b",
    "relatum/store": "#e8998d",
    "relatum/ledger/writer": "#d9a5b3",
    "relatum": "#f2d398",
}
OTHERS = "#c6d4e1"


@dataclass
class Box:
    """A frame with those it called."""

    name: str
    samples: int = 0
    called: dict[str, Box] = field(default_factory=dict)


def main() -> None:
    """Reads the stacks, writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stacks", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--title", default="")
    given = parser.parse_args()
    whole = collected(given.stacks.read_text(encoding="utf-8"))
    given.picture.write_text(drawn(whole, given.title), encoding="utf-8")


def collected(text: str) -> Box:
    """All samples as one tree, its threads side by side."""
    whole = Box("all")
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        whole.samples += int(count)
        at = whole
        for name in map(short, stack.split(";")):
            at = at.called.setdefault(name, Box(name))
            at.samples += int(count)
    for thread in whole.called.values():
        thread.called = without_common(thread).called
    return whole


def short(frame: str) -> str:
    """A frame without what differs from run to run."""
    thread = re.match(r"thread \([^)]*\): (\S+)", frame)
    return thread[1] if thread else re.sub(r":\d+\)$", ")", frame)


def without_common(box: Box) -> Box:
    """The innermost frame that all samples of `box` have in common."""
    while len(box.called) == 1:
        [box] = box.called.values()
    return box


def boxes(box: Box, left: float, row: int, per_sample: float) -> Iterator[tuple[Box, float, int]]:
    """A box and all upon it that are wide enough, with left edge and row."""
    yield box, left, row
    for name in sorted(box.called):
        one = box.called[name]
        if one.samples * per_sample >= NARROWEST * WIDTH:
            yield from boxes(one, left, row + 1, per_sample)
        left += one.samples * per_sample


def drawn(whole: Box, title: str) -> str:
    """The picture, the callers below."""
    per_sample = WIDTH / whole.samples
    placed = list(boxes(whole, 0.0, 0, per_sample))
    height = (max(row for _, _, row in placed) + 3) * ROW
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height}" font-family="monospace" '
            f'font-size="10"><text x="4" y="12" font-size="12">{escape(title)}</text>'
        )
    ]
    for box, left, row in placed:
        width, top = box.samples * per_sample, height - (row + 1) * ROW
        share = f"{escape(box.name)}: {100 * box.samples / whole.samples:.1f} %"
        label = escape(box.name.partition(" (")[0][: max(0, int((width - 4) / LETTER))])
        parts.append(
            f'<g><title>{share}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" '
            f'fill="{colour(box.name)}"/><text x="{left + 2:.1f}" y="{top + 12}">{label}</text></g>'
        )
    return "\n".join([*parts, "</svg>", ""])


def colour(name: str) -> str:
    """By the room that a function lies in."""
    return next((shade for room, shade in COLOURS.items() if f"({room}" in name), OTHERS)


if __name__ == "__main__":
    main()
