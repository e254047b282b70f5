"""The project's pages, as the tests of the documentation look at them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    """Code on a page, in the language that it names; indented code names none."""

    language: str
    code: str


def pages() -> list[Path]:
    """Every page for readers."""
    return [README, *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced code of a page in the order of the page; of `languages` alone, if any are given."""
    found = [Block(*each) for each in _FENCED.findall(page.read_text(encoding="utf-8"))]
    return [block for block in found if not languages or block.language in languages]


def command_lines(page: Path) -> list[str]:
    """Every line of code that is in a block of a shell, or of no language."""
    text = page.read_text(encoding="utf-8")
    shell = [block.code for block in blocks(page, "sh", "bash", "")]
    return [line.strip() for code in [*shell, *_INDENTED.findall(_FENCED.sub("", text))] for line in code.splitlines()]


def inline_code(page: Path) -> list[str]:
    """Every piece of code within a sentence or a cell."""
    return _INLINE.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))


def table(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table whose first heading is `heading`, without the headings."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in page.read_text(encoding="utf-8").split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    ]
    assert rows
    return rows


def script(*parts: Path) -> str:
    """The shell blocks of pages, one after another."""
    return "".join(block.code for page in parts for block in blocks(page, "sh"))
