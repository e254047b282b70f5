"""`relatum load`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import click

from relatum.cli.client.session import Session
from relatum.cli.client.statuses import Status, wrong
from relatum.cli.client.values import STANDARD_INPUT, standard_input
from relatum.cli.client.verb import verb

_WRITTEN = click.Path(path_type=Path, dir_okay=False)


@verb(None, "load")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True, dir_okay=False))
@click.option("--results", type=_WRITTEN, metavar="FILE", help="What became of each line, as JSON lines.")
@click.option("--rejects", type=_WRITTEN, metavar="FILE", help="The refused lines; mended, they can be loaded in turn.")
@click.option("--run", "run_id", metavar="ID", help="Keys of a run of its own: everything is new once more.")
@click.option("--from-line", type=click.IntRange(1), default=1, metavar="N", help="Skip what is known to be there.")
@click.option("--stop-on-refusal", is_flag=True, help="Stop at the first refused line.")
@click.option("--max-refused", type=click.IntRange(1), metavar="N", help="Stop after so many refused lines.")
@click.option("--check", is_flag=True, help="Read and check everything, and send nothing.")
def load(session: Session, file: str, check: bool, results: Path | None, rejects: Path | None, **members: Any) -> None:
    """Send the commands of FILE, a JSON object a line, in order. It can be run again at any time.

    \b
    A line is one of
        {"record": {"content": "…"}, "as": "pep1"}           with "save": true it is saved
        {"relation": {"source": "@pep1", "target": "@pep8", "kind": "supersedes", "provenance": {…}}}
        {"link": {"source_id": "@pep1", "target_id": "@pep8", "kind": "related"}}
        {"operation": {"type": "pin", "record_id": "@pep1", "expected_revision": 1}}

    "as" names a record for later lines, "key" gives a line a key of its own. What was accepted before is answered from
    its receipt: after an interruption, run the same command again. Prints one object with counts.

    \b
    Examples:
        relatum load memories.jsonl
        relatum load memories.jsonl --check
        generate | relatum load - --rejects refused.jsonl

    \b
    Exit statuses:
        0  every line was accepted, now or before
        1  some were refused
        3  the server can't be reached, or doesn't say what became of a batch: run it again
    """
    from relatum.cli.client.load.report import Report, size_of

    refused_max = members["max_refused"]
    if members["stop_on_refusal"]:
        if refused_max is not None:
            raise wrong("give either --stop-on-refusal or --max-refused")
        refused_max = 1
    _same_file(file, results, rejects)
    with ExitStack() as opened:
        stream = standard_input() if file == STANDARD_INPUT else opened.enter_context(Path(file).open("rb"))
        report = Report(results, rejects, size_of(stream), quiet=session.options.quiet)
        opened.enter_context(report)
        interrupted = _load(session, stream, report, check, members | {"refused_max": refused_max})
        summary = report.summary()
    session.output.one(summary)
    if interrupted:
        raise click.exceptions.Exit(Status.INTERRUPTED)
    if summary["refused"]:
        raise click.exceptions.Exit(Status.REFUSED)


def _load(session: Session, stream: IO[bytes], report: Any, check: bool, members: dict[str, Any]) -> bool:
    """Whether it was interrupted."""
    from relatum.cli.client.load.check import Check
    from relatum.cli.client.load.interruption import Interruption
    from relatum.cli.client.load.keys import Keys
    from relatum.cli.client.load.lines import lines
    from relatum.cli.client.load.plan import Plan
    from relatum.cli.client.load.run import Bounds, Destination, Run
    from relatum.cli.client.load.sending import Sender

    interruption = Interruption()
    with Keys(members["run_id"]) as keys, interruption.listening():
        plan = Plan(keys)
        sender = None if check else Sender(session, plan.names)
        destination: Destination = sender or Check(session.document(), plan.names)
        if sender is not None:
            report.started_millis = session.now_millis()
        bounds = Bounds(members["from_line"], members["refused_max"])
        Run(plan, destination, sender, report, bounds).take(lines(stream), interruption)
    return interruption.asked


def _same_file(file: str, *written: Path | None) -> None:
    """What is written may not be what is read, nor one another."""
    paths = [Path(file).resolve(), *(path.resolve() for path in written if path is not None)]
    if len(set(paths)) < len(paths):
        raise wrong("the file, the results and the rejects must be different files")
