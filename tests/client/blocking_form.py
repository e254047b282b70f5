"""`python -m tests.client.blocking_form`: makes the blocking client of the asynchronous one, all but its driver."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import relatum

ROOT = Path(relatum.__file__).parent / "client"
WRITTEN_BY_HAND = ("__init__.py", "driver.py")
REPLACEMENTS = (
    (r"\basync def\b", "def"),
    (r"\basync (for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(iter|next|enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\bAwaitable\[([^\[\]]*)\]", r"\1"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\bhttpx\.AsyncBaseTransport\b", "httpx.BaseTransport"),
    (r"\basynchronous\b", "blocking"),
)
HEAD = "# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.\n"


def blocking(source: str) -> str:
    """A module of the asynchronous client as one of the blocking client, formatted."""
    for pattern, replacement in REPLACEMENTS:
        source = re.sub(pattern, replacement, source)
    source = re.sub(r"from collections\.abc import ([^\n]*)\bAwaitable, ", r"from collections.abc import \1", source)
    for arguments in (["check", "--fix", "--select", "I,F401"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *arguments, "--quiet", "--stdin-filename", "src/relatum/client/x.py", "-"]
        source = subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout
    return HEAD + source


def made() -> dict[Path, str]:
    """Every module of the blocking client that is made, with its text."""
    sources = sorted(path for path in (ROOT / "asynchronous").glob("*.py") if path.name not in WRITTEN_BY_HAND)
    found = {ROOT / "blocking" / path.name: blocking(path.read_text()) for path in sources}
    program = Path(__file__).with_name("program.py")
    return found | {program.with_name("blocking_program.py"): blocking(program.read_text())}


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text)
