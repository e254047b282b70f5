"""The two preloaded libraries: compiled when they are needed, reached through ctypes by the process they live in."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

from crash_tests.part import Unavailable

_SOURCES = Path(__file__).parent
_COMPILING_SECONDS_MAX = 60.0


def compiled(name: str, directory: Path) -> Path:
    """The library made of `name`.c, in `directory`. Raises `Unavailable` where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise Unavailable("there is no C compiler (apt-get install gcc libc6-dev)")
    library = directory / f"{name}.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(_SOURCES / f"{name}.c"), "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILING_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{name}.c does not compile here: {done.stderr.strip()[:300]}")
    return library


def environment(library: Path) -> dict[str, str]:
    """Of a process that is to have the library preloaded."""
    return {**os.environ, "LD_PRELOAD": str(library)}


def preloaded() -> ctypes.CDLL:
    """This process, with the functions of the library that was preloaded into it."""
    return ctypes.CDLL(None)
