"""How a command ends when it can't go on: one line for the operator and an exit status, never a traceback.

What an operator can act on is told in the words of whoever found it. A fault of the program itself is told by its kind
and its place: its own text may quote a payload. Its status is 2, because 1 has a meaning: that a verification has
findings, for one.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import print_exception
from typing import NoReturn

import click

from relatum.errors import Failure, ProgramFailure
from relatum.http.openapi.docstrings import LEFT_OUT, docstring
from relatum.http.settings import SettingsError


class SettingsProblems(click.ClickException):
    """Some settings can't be right; exit status 2, like any other mistake on the command line."""

    exit_code = 2

    def __init__(self, error: SettingsError) -> None:
        lines = "".join(f"\n  {problem}" for problem in error.problems)
        super().__init__(f"these settings can't be right:{lines}")


class Fault(click.ClickException):
    """The program itself is wrong somewhere; exit status 2."""

    exit_code = 2


class ProgramFault(Fault):
    """It is told where, and how to see more unless that was `shown`."""

    def __init__(self, error: Exception, *, shown: bool) -> None:
        from relatum.telemetry import fault_of

        more = "" if shown else "; given again as relatum --debug ..., it prints a traceback"
        super().__init__(f"a fault in relatum itself ended the command before it was done: {fault_of(error)}{more}")


class Commands(click.Group):
    """A group in which a fault of the program is told in one line, below a traceback if its option `debug` is set."""

    def get_help(self, ctx: click.Context) -> str:
        """The help of the group itself."""
        if LEFT_OUT:
            _document(self)
        return super().get_help(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of this group, with its help."""
        command = super().get_command(ctx, cmd_name)
        if LEFT_OUT and command is not None:
            _document(command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command that was given."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, EOFError, BrokenPipeError):
            raise  # click knows what to do
        except OSError as error:
            raise click.ClickException(_told(error)) from error
        except Exception as error:
            if ctx.params["debug"]:
                print_exception(error)
            raise ProgramFault(error, shown=ctx.params["debug"]) from error


def _document(command: click.Command) -> None:
    """Gives a command, and those below it, the help that the interpreter has left out."""
    if command.help is None and command.callback is not None:
        command.help = inspect.cleandoc(docstring(command.callback) or "")
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        _document(below)


def end_at_once(message: str) -> NoReturn:
    """Ends the process with status 1 as it stands, whatever its threads do: an ordinary end would wait for them."""
    click.ClickException(message).show()
    os._exit(1)


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Ends the command with a message where the ledger fails or the operating system refuses something."""
    try:
        yield
    except SettingsError as error:
        raise SettingsProblems(error) from error
    except ProgramFailure as error:
        raise Fault(str(error)) from error
    except Failure as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(_told(error)) from error


def _told(error: OSError) -> str:
    what = error.strerror or "the operating system refused it"
    return what if error.filename is None else f"{what}: {error.filename}"
