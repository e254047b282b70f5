"""The project as a tree of files, as these tests look at it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "relatum"

_NOT_OURS = {"__pycache__", "build", "dist", "venv", "node_modules"}


def files(suffix: str = "") -> Iterator[Path]:
    """Every file of the project, caches and environments left out; the dot-files that belong to it included."""
    for path in sorted(ROOT.rglob(f"*{suffix}")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") for part in parts[:-1]) and parts[0] != ".ci"
        if path.is_file() and not hidden and not _NOT_OURS.intersection(parts) and not parts[0].endswith(".egg-info"):
            yield path


def tool(name: str, *arguments: str, folder: Path, text: str = "", env: Mapping[str, str] | None = None) -> str:
    """What a tool of this environment says about `folder`, behind a first line with its exit status."""
    command = str(Path(sys.executable).parent / name)
    ran = subprocess.run(
        [command, *arguments],
        cwd=folder,
        input=text,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"exit {ran.returncode}\n{ran.stdout}{ran.stderr}"
