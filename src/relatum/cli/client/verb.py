"""What every client verb shares: its options, and how it ends.

`verb` makes a command of a function that takes a `Session` first. The common options stand behind the verb, in any
order; what the function raises becomes a status and a line (statuses.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Any, Final

import click

from relatum.cli.client.output import PipeClosed
from relatum.cli.client.session import Options, Session
from relatum.cli.client.statuses import Ended, Status, wrong
from relatum.cli.client.values import Word

DEADLINE_SECONDS: Final = 60.0

Function = Callable[..., object]


class Verb(click.Command):
    """A command that ends with the statuses of a client."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Remembers the words behind the verb: they are what repeats it."""
        words = list(args)
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            if not _asks_for_json(words):
                raise
            raise _as_json(wrong(error.format_message())) from error
        context.meta["relatum.words"] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the verb; its end is told in one place."""
        try:
            return super().invoke(ctx)
        except PipeClosed:
            _forget_standard_output()
            ctx.exit(Status.DONE)
        except (KeyboardInterrupt, click.Abort) as error:
            for note in getattr(error, "__notes__", ()):
                click.echo(note, err=True)
            ctx.exit(Status.INTERRUPTED)
        except click.exceptions.Exit:
            raise
        except Exception as error:
            ended = _ended(error)
            if ended is None:
                raise
            words = ctx.meta["relatum.words"]
            ended.as_json = _asks_for_json(words)
            if ended.key is not None and "--key" not in words:
                ended.again = [*ctx.command_path.split(), *words, "--key", ended.key]
            elif ended.key is not None:
                ended.again = [*ctx.command_path.split(), *words]
            raise ended from error


def verb(name: str, *, scoped: bool = True, writes: bool = False) -> Callable[[Function], Verb]:
    """Makes a verb of a function whose first argument is the `Session`.

    `scoped`: it speaks of one scope. `writes`: it gives commands, so that it takes a key and can be tried dry.
    """

    def make(function: Function) -> Verb:
        def run(**given: Any) -> object:
            common = {name: given.pop(name, None) for name in Options.__struct_fields__}
            common["quiet"], common["debug"] = bool(common["quiet"]), bool(common["debug"])
            common["dry_run"] = bool(common["dry_run"])
            with Session(Options(**common)) as session:
                return function(session, **given)

        update_wrapper(run, function)
        made = click.command(name, cls=Verb)(run)
        made.params += [option for option in _options(scoped=scoped, writes=writes)]
        return made

    return make


def _options(*, scoped: bool, writes: bool) -> Sequence[Callable[[Function], Function]]:
    options: list[Callable[[Function], Function]] = []
    if writes:
        options += [
            click.option("--key", metavar="KEY", help="The idempotency key; a random one without."),
            click.option("--dry-run", is_flag=True, help="Print the request that would be sent, and send nothing."),
        ]
    if scoped:
        options += [
            click.option("--project", metavar="ID", help="The project of the scope."),
            click.option("--agent", metavar="ID", help="The agent of the scope."),
            click.option("--mission", metavar="ID", help="The mission of the scope."),
            click.option("--visibility", type=Word(("shared", "private")), help="Shared with the company, or private."),
        ]
    return [
        *options,
        click.option(
            "--profile", metavar="NAME", shell_complete=_profiles, help="Server, secret and scope, as set by profile."
        ),
        click.option("--url", metavar="URL", help="The server's address."),
        click.option(
            "--secret-file", type=click.Path(path_type=Path), metavar="FILE", help="The file with the caller's secret."
        ),
        click.option(
            "-o", "--output", type=Word(("table", "json")), help="A table on a terminal, JSON lines otherwise."
        ),
        click.option(
            "--deadline",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            default=DEADLINE_SECONDS,
            show_default=True,
            help="For each call with its retries.",
        ),
        click.option("--quiet", is_flag=True, help="No progress and no notes."),
        click.option("--debug", is_flag=True, help="Show what the client logs."),
    ]


def _profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from relatum.cli.client.profiles import names

    return [name for name in names() if name.startswith(incomplete)]


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether JSON was asked for in so many words; what merely goes to a pipe has its errors for people."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(
        (word in {"-o", "--output"} and following == "json") or word in {"-ojson", "--output=json"}
        for word, following in pairs
    )


def _as_json(ended: Ended) -> Ended:
    ended.as_json = True
    return ended


def _ended(error: Exception) -> Ended | None:
    """How `error` is told; None for one that is a fault of the program, or click's own."""
    match error:
        case Ended():
            return error
        case click.UsageError():
            return wrong(error.format_message())
        case click.ClickException():
            return None
        case OSError():
            what = error.strerror or "the operating system refused it"
            return wrong(what if error.filename is None else f"{what}: {error.filename}")
        case _:
            from relatum.cli.client.failures import told

            return told(error)


def _forget_standard_output() -> None:
    """Lets what is still buffered go nowhere, or the interpreter would complain of the closed pipe at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
