"""Links between the documents lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.project import ROOT, files

_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)|^\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def targets(text: str) -> list[str]:
    """Where the links of a page lead, but for those that leave the project; code is no link."""
    found = (inline or reference for inline, reference in _LINK.findall(_CODE.sub("", text)))
    return [target for target in found if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def anchors(text: str) -> set[str]:
    """The anchors that headings get: lower case, blanks as hyphens, other marks left out."""
    headings = _HEADING.findall(re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> list[str]:
    dead = []
    for target in targets(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        if not leads_somewhere(page.parent / name if name else page, anchor):
            dead.append(target)
    return dead


def leads_somewhere(path: Path, anchor: str) -> bool:
    if not anchor or path.suffix != ".md":
        return path.exists()
    return path.is_file() and anchor in anchors(path.read_text(encoding="utf-8"))


def test_every_relative_link_leads_to_a_file_and_a_heading_of_it() -> None:
    pages = [page for page in files(".md") if not page.is_relative_to(ROOT / "tests" / "corpora")]
    assert len(pages) > 0
    assert {} == {str(page.relative_to(ROOT)): dead for page in pages if (dead := dead_links(page))}


def test_a_dead_link_is_noticed_and_code_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Two words, `code`\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Top\n"
        "[sound](other.md) [sound](other.md#two-words-code) [sound](#top) [far](https://relatum.test/none)\n"
        "[dead](missing.md) [dead](other.md#three) [dead](#bottom) ![dead](missing.png)\n"
        "[dead]: gone.md\n"
        "`[code](nowhere.md)`\n"
        "```\n[code](nowhere.md)\n```\n"
    )
    assert ["missing.md", "other.md#three", "#bottom", "missing.png", "gone.md"] == dead_links(page)
