"""`relatum`, but once the file TRIGGER exists the next commit can't be synced: `python unsyncable.py TRIGGER …`.

The log is pulled away from under the engine between the write and the sync: the failure is a real one of the
real engine.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from relatum.cli import main
from relatum.store import failpoints


def close_log() -> None:
    for descriptor in Path("/proc/self/fd").iterdir():
        target = descriptor.resolve()
        if target.suffix == ".log" and target.parent.name == "engine":
            os.close(int(descriptor.name))


def run(trigger: str, *arguments: str) -> None:
    def hook(name: failpoints.Name) -> None:
        if name == "commit.written" and Path(trigger).exists():
            close_log()

    failpoints.arm(hook)
    main(arguments, prog_name="relatum")


if __name__ == "__main__":
    run(*sys.argv[1:])
