"""A run: the parts that were asked for, one after another, and what they came to.

Always holds: a run that is interrupted, or of which a part fails, leaves neither a process nor a file behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

from msgspec import Struct

from relatum import __version__
from relatum.cli.bench.isolation import undisturbed
from relatum.cli.bench.machine import Machine, this_machine
from relatum.cli.bench.samples import Part, Scale, Series, Setting
from relatum.cli.bench.targets import Verdict, judged
from relatum.clock import SystemClock

ROUNDS: Final[dict[Scale, int]] = {"tiny": 1, "small": 3, "full": 5}
"""How many, where nobody says."""

_PARTS: Final = {
    "floors": "relatum.cli.bench.parts.floors",
    "engine": "relatum.cli.bench.parts.engine",
    "commands": "relatum.cli.bench.parts.commands",
    "reads": "relatum.cli.bench.parts.reads",
    "graph": "relatum.cli.bench.parts.graph",
    "feed": "relatum.cli.bench.parts.feed",
    "upkeep": "relatum.cli.bench.parts.upkeep",
    "mixed": "relatum.cli.bench.parts.mixed",
    "neighbours": "relatum.cli.bench.parts.neighbours",
    "peers": "relatum.cli.bench.peers.part",
    "growth": "relatum.cli.bench.parts.growth",
}

PARTS: Final = tuple(name for name, module in _PARTS.items() if find_spec(module.rpartition(".")[0]))
"""Their names, in the order in which they run."""


class Run(Struct, frozen=True, kw_only=True):
    """What a run came to. `format` changes when a member changes its meaning.

    In format 1 a target's `met` told of a run of any size. Since format 2 it is null where that was too small, which is
    where `given` is less than the target's `given_least`.
    """

    format: int = 2
    relatum: str
    started_at_millis: int
    scale: Scale
    rounds: int
    machine: Machine
    series: list[Series]
    targets: list[Verdict]


def run(
    parts: Sequence[str],
    scale: Scale,
    *,
    progress: Callable[[str], None],
    rounds: int | None = None,
    relations: int = 0,
    scratch: Path | None = None,
) -> Run:
    """Measures. Stores lie in a directory of their own below `scratch`, by default where temporary files do."""
    started_at_millis, machine = SystemClock().millis(), this_machine()
    found: list[Series] = []
    rounds = rounds or ROUNDS[scale]
    for name in PARTS:
        if name not in parts:
            continue
        with _directory_below(scratch) as directory:
            setting = Setting(rounds=rounds, scale=scale, scratch=directory, progress=progress, relations=relations)
            found += cast("Part", import_module(_PARTS[name])).measure(setting)
    return Run(
        relatum=__version__,
        started_at_millis=started_at_millis,
        scale=scale,
        rounds=rounds,
        machine=machine,
        series=found,
        targets=judged(found),
    )


@contextmanager
def _directory_below(scratch: Path | None) -> Iterator[Path]:
    """A directory of its own, which goes away whole."""
    with ExitStack() as stack:
        with undisturbed():
            directory = TemporaryDirectory(prefix="relatum-bench-", dir=scratch)
            stack.callback(_remove, directory)
        yield Path(directory.name)


def _remove(directory: TemporaryDirectory[str]) -> None:
    with undisturbed():
        directory.cleanup()
