"""What every client verb shares: its options, and how it ends.

`verb` makes a command of a function that takes a `Session` first. The common options stand behind the verb, in any
order; what the function raises becomes a status and a line (statuses.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import update_wrapper
from itertools import pairwise
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


def verb(
    group: click.Group | None, name: str, *, scoped: bool = True, writes: bool = False, keyed: bool = True
) -> Callable[[Function], Verb]:
    """Makes a verb of a function whose first argument is the `Session`, below `group` if there is one.

    `scoped`: it speaks of one scope. `writes`: it gives commands, so that it can be tried dry and, unless they carry no
    key, takes one.
    """
    return _verb(group, name, _options(scoped=scoped, writes=writes, keyed=keyed))


def verb_at_home(group: click.Group | None, name: str) -> Callable[[Function], Verb]:
    """The same for a verb that asks no server."""
    return _verb(group, name, _HOME)


def _verb(group: click.Group | None, name: str, options: Sequence[click.Parameter]) -> Callable[[Function], Verb]:

    shared = [str(option.name) for option in options]

    def make(function: Function) -> Verb:
        def run(**given: Any) -> object:
            common = {name: given.pop(name) for name in shared}
            with Session(Options(**common)) as session:
                return function(session, **given)

        update_wrapper(run, function)
        made = click.command(name, cls=Verb)(run)
        made.params += options
        if group is not None:
            group.add_command(made)
        return made

    return make


_HOME: Final = (
    click.Option(["-o", "--output"], type=Word(("table", "json")), help="A table on a terminal, JSON otherwise."),
    click.Option(["--quiet"], is_flag=True, help="No progress and no notes."),
    click.Option(["--debug"], is_flag=True, help="Show what the client logs."),
)


def _options(*, scoped: bool, writes: bool, keyed: bool) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    if writes and keyed:
        options.append(click.Option(["--key"], metavar="KEY", help="The idempotency key; a random one without."))
    if writes:
        dry = "Print the request that would be sent, and send nothing."
        options.append(click.Option(["--dry-run"], is_flag=True, help=dry))
    if scoped:
        options += [
            click.Option(["--project"], metavar="ID", help="The project of the scope."),
            click.Option(["--agent"], metavar="ID", help="The agent of the scope."),
            click.Option(["--mission"], metavar="ID", help="The mission of the scope."),
            click.Option(["--visibility"], type=Word(("shared", "private")), help="Shared or private."),
        ]
    return [
        *options,
        click.Option(
            ["--profile"], metavar="NAME", shell_complete=_profiles, help="Server, secret and scope, as set by profile."
        ),
        click.Option(["--url"], metavar="URL", help="The server's address."),
        click.Option(
            ["--secret-file"],
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The file with the caller's secret.",
        ),
        click.Option(
            ["--deadline"],
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            default=DEADLINE_SECONDS,
            show_default=True,
            help="For each call with its retries.",
        ),
        *_HOME,
    ]


def _profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from relatum.cli.client.profiles import names

    return [name for name in names() if name.startswith(incomplete)]


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether JSON was asked for in so many words; what merely goes to a pipe has its errors for people."""
    return any(
        (word in {"-o", "--output"} and following == "json") or word in {"-ojson", "--output=json"}
        for word, following in pairwise([*words, ""])
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
    with suppress(OSError, ValueError):  # what has no descriptor is no pipe either
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
