"""`relatum bench`: the ledger measured beside its floors, in one run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.signals import stoppable

if TYPE_CHECKING:
    from relatum.cli.bench.run import Run
    from relatum.cli.bench.samples import Scale

MISSED_STATUS: Final = 1
RELATIONS_MAX: Final = 5_000_000


def _part_names(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Names with commas between them, each of which must be the name of a part."""
    from relatum.cli.bench.run import PARTS

    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is no part; there are: {', '.join(PARTS)}")
    return names


@click.command()
@click.option("--parts", callback=_part_names, metavar="A,B", help="What to measure. Default: everything.")
@click.option(
    "--rounds", type=click.IntRange(1, 100), help="Rounds of each. Default: 3; 5 at full scale; 2 with --guard."
)
@click.option(
    "--scale",
    type=click.Choice(["small", "full"]),
    default="small",
    show_default=True,
    help="How much: some minutes, or as much as the targets speak of, which takes more than an hour.",
)
@click.option(
    "--relations",
    type=click.IntRange(1_000, RELATIONS_MAX),
    help="How many relations growth and upkeep load. Default: by scale.",
)
@click.option(
    "--scratch", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Where stores lie meanwhile."
)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="A file for the results.")
@click.option("--guard", is_flag=True, help="A short run that fails where a ratio has become far worse.")
@click.option("--margin", type=click.FloatRange(min=1), default=2.0, show_default=True, help="How far, with --guard.")
def bench(
    parts: tuple[str, ...] | None,
    rounds: int | None,
    scale: Scale,
    relations: int | None,
    scratch: Path | None,
    json_file: Path | None,
    guard: bool,
    margin: float,
) -> None:
    """Measure the ledger beside the least that the same work can cost.

    The bare engine with the same rows and the bare web stack with the same bodies are the floors. Each is measured in
    turn with the ledger, several rounds in one run, and what counts is the ratio: absolute figures are this machine's.

    \b
    Parts:
        floors    the floors by themselves        graph     walks, hubs, stalls
        engine    the ledger without HTTP         feed      pages and streams of changes
        commands  commands and replays over HTTP  upkeep    verify, backup, start after a kill
        reads     reads over HTTP                 mixed     four reads to each command
        peers     other stores, the same commands growth    speed, memory and disk as a store grows
        neighbours: what a large partition costs another

    \b
    Examples:
        relatum bench
        relatum bench --parts commands,reads --rounds 5 --json results.json
        relatum bench --parts growth --relations 1000000 --scratch /var/tmp
        relatum bench --guard
    """
    from relatum.cli.bench import guard as guarding
    from relatum.cli.bench.load.generator import MeasurementFailed
    from relatum.cli.bench.report import as_json, as_text
    from relatum.cli.bench.run import PARTS, run

    if json_file is not None and not json_file.parent.is_dir():
        raise click.BadParameter(f"there is no directory {json_file.parent}", param_hint="--json")
    try:
        with told_in_one_line(), stoppable():
            chosen = parts or (guarding.PARTS if guard else PARTS)
            rounds = rounds or (guarding.ROUNDS if guard else None)
            made = run(chosen, scale, progress=_tell, rounds=rounds, relations=relations or 0, scratch=scratch)
            if json_file is not None:
                json_file.write_bytes(as_json(made))
    except MeasurementFailed as error:
        raise click.ClickException(str(error)) from error
    if guard:
        _hold(made, margin)
    else:
        click.echo(as_text(made))


def _tell(step: str) -> None:
    """Progress goes to standard error, a line for each step."""
    click.echo(step, err=True)


def _hold(made: Run, margin: float) -> None:
    """Status 1 where anything that the guard looks at is worse by more than the margin, or there is no such thing."""
    from relatum.cli.bench.guard import failures, guarded, held_against
    from relatum.cli.bench.report import figure, target_lines

    looked_at = [one for one in made.targets if guarded(one)]
    if not looked_at:
        raise click.ClickException("the guard has nothing to look at: nothing that was measured has a target to go by")
    click.echo("\n".join(target_lines(looked_at)))
    failed = failures(made.targets, margin)
    for one in failed:
        found, held = figure(one.figure), figure(held_against(one.target))
        click.echo(f"{one.target.what}: {found} is worse than {held} by more than a factor of {margin:g}", err=True)
    if failed:
        sys.exit(MISSED_STATUS)
