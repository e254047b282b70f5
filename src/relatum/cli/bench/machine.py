"""What a run was made on, since an absolute figure means little without it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Final

from msgspec import Struct

_LIBRARIES: Final = ("rocksdict", "msgspec", "starlette", "uvicorn", "uvloop", "httptools")


class Machine(Struct, frozen=True, kw_only=True):
    """The processors this process may use, how busy they were at the start, and what is installed."""

    processors: int
    load_before: float
    """How many processes were running or waiting to run, on the average of the last minute."""
    processor: str
    system: str
    python: str
    libraries: dict[str, str]


def this_machine() -> Machine:
    """The one that runs this."""
    return Machine(
        processors=len(os.sched_getaffinity(0)),
        load_before=round(os.getloadavg()[0], 2),
        processor=_processor(),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        libraries={name: version(name) for name in _LIBRARIES},
    )


def _processor() -> str:
    """The model, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
