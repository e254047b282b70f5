"""A process that helps to verify: `python -m relatum.store.verify.worker ENGINE_DIRECTORY`.

It opens the store for reading, takes tasks from its standard input, and answers each on its standard output, until the
input ends.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from relatum.errors import Failure
from relatum.store.process_setup import hide_memory
from relatum.store.rocks import reading
from relatum.store.verify.messages import Done, Failed, read_task, write_answer
from relatum.store.verify.tasks import done
from relatum.telemetry import fault_of


def work(directory: Path, tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Does every task that comes in. A failure is an answer, too, and the last one; so is a fault of the program."""
    try:
        with reading(directory) as view:
            while (task := read_task(tasks)) is not None:
                write_answer(answers, Done(done(task, view)))
    except Failure as failure:
        write_answer(answers, Failed(str(failure)))
    except Exception as error:  # noqa: BLE001 - whoever waits for the answer tells it, in one line
        write_answer(answers, Failed(fault_of(error), fault=True))


if __name__ == "__main__":
    hide_memory()  # it reads what the store keeps
    work(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
