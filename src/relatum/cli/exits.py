"""How a command ends when it can't go on: one line for the operator and an exit status, never a traceback.

Only what an operator can act on is turned into a line. A fault of the program itself stays a traceback.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from relatum.errors import Failure
from relatum.settings import SettingsError


class SettingsProblems(click.ClickException):
    """Some settings can't be right; exit status 2, like any other mistake on the command line."""

    exit_code = 2

    def __init__(self, error: SettingsError) -> None:
        lines = "".join(f"\n  {problem}" for problem in error.problems)
        super().__init__(f"these settings can't be right:{lines}")


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Ends the command with a message where the ledger fails or the operating system refuses something."""
    try:
        yield
    except SettingsError as error:
        raise SettingsProblems(error) from error
    except Failure as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(_told(error)) from error


def _told(error: OSError) -> str:
    what = error.strerror or "the operating system refused it"
    return what if error.filename is None else f"{what}: {error.filename}"
