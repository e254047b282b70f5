"""`python -m crash_tests.durability`: a completed sync lies between each command and its acknowledgement.

Runs the server under strace, sends commands from several clients, and reads the proof off the trace. Needs strace
(`apt-get install strace`) and the right to trace. Exits 1 with the first command that was answered too early.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGTERM
from threading import Event
from time import monotonic

from crash_tests.command_requests import results_in, send, send_batch
from crash_tests.company import ADMINISTRATOR, COMPANY, SHARED, issue
from crash_tests.history import Account, Command, Desk
from crash_tests.server import STOP_SECONDS_MAX, Server, initialise
from crash_tests.trace import TRACED, Proof, prove
from crash_tests.violation import Violation, require
from crash_tests.wire import Connection

BATCH = 16
"""The last commands of each client go together."""


def strace_to(trace: Path) -> list[str]:
    """The command line of a tracer that leaves the server our own child, and tells paths and whole texts."""
    tool = shutil.which("strace")
    if tool is None:
        raise Violation("strace is not installed; apt-get install strace")
    return [tool, "-DD", "-f", "-q", "-yy", "-s", "1000000", "-o", str(trace), "-e", f"trace={','.join(TRACED)}"]


def run_traced(directory: Path, commands: int, clients: int) -> Proof:
    """Serve a new store in `directory` under a tracer, and judge the trace."""
    log, trace = directory / "server.log", directory / "trace"
    admin = initialise(directory / "store", log, COMPANY, ADMINISTRATOR)
    with Server(directory / "store", log, wrapper=strace_to(trace)) as server:
        server.wait_until_ready()
        account = issue(server.port, admin["secret"], "extractor")
        with ThreadPoolExecutor(clients) as pool:
            sent = [
                pool.submit(_client, server.port, account, number, commands // clients) for number in range(clients)
            ]
            keys = [key for one in sent for key in one.result()]
        server.stopping = True
        server.signal(SIGTERM)
        status = server.wait(STOP_SECONDS_MAX)
        require(status == 0, f"the server ended with {status}{server.log_tail()}")
        _wait_for_end_of(trace, server.process_id)
    return prove(trace.read_text(errors="replace").split("\n"), keys)


def _client(port: int, account: Account, number: int, commands: int) -> list[str]:
    """Sends so many commands; their keys."""
    desk = Desk(account, SHARED)
    connection = Connection(port, account.secret)
    made = [
        Command(desk, "record", f"durable {number} {one} end", {"type": "create", "record": {"content": "kept"}})
        for one in range(commands)
    ]
    single, together = made[:-BATCH], made[-BATCH:]
    for command in single:
        answer = send(connection, command)
        require(answer.status == 200, f"a command was answered with {answer}")
    require(all(result.error is None for result in results_in(send_batch(connection, together))), "a batch was refused")
    connection.close()
    return [command.idempotency_key for command in made]


def _wait_for_end_of(trace: Path, process_id: int) -> None:
    """The tracer ends a moment after the server; its last line tells so, with the id padded to five characters."""
    last = f"{process_id:<5} +++ exited with 0 +++\n".encode()
    deadline = monotonic() + STOP_SECONDS_MAX
    while not trace.read_bytes().endswith(last):
        require(monotonic() < deadline, "the tracer did not finish its trace")
        Event().wait(0.01)


def parser() -> ArgumentParser:
    """The command line."""
    made = ArgumentParser(prog="python -m crash_tests.durability", description=__doc__)
    made.add_argument("--commands", type=int, default=200, help="commands in all (default %(default)s)")
    made.add_argument("--clients", type=int, default=4, help="clients at once (default %(default)s)")
    return made


def main(arguments: Namespace) -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory(prefix="relatum-durability-") as directory:
        try:
            proof = run_traced(Path(directory), arguments.commands, arguments.clients)
        except Violation as violation:
            print(f"VIOLATION: {violation}", file=sys.stderr)
            return 1
    print(
        f"{proof.commands} commands, each acknowledged after a completed sync of the write-ahead log that began after "
        f"its rows were written ({proof.named_in_log} of them seen in the log by their key); {proof.syncs} syncs in all"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
