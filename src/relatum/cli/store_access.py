"""What commands share that work on a store at rest or on the server that has it open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

TOKEN_OPTION: Final = "--operator-token-file"  # noqa: S105 - the name of an option


def is_url(source: str) -> bool:
    """Whether a server is meant and not a directory."""
    return source.lower().startswith(("http://", "https://"))


def operator_token_option(command: Command) -> Command:
    """Adds the option that names the file with the operator's token; the environment can name it too."""
    return click.option(
        TOKEN_OPTION,
        "token_file",
        envvar="RELATUM_OPERATOR_TOKEN_FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="The file with the operator's token, for a server.",
    )(command)


def token_for(url: str, token_file: Path | None) -> str:
    """The operator's token, which a server asks for. Whether it is one that a server would take is for the server."""
    if token_file is None:
        raise click.UsageError(f"for the server at {url}, {TOKEN_OPTION} must be given")
    token = token_file.read_text(encoding="ascii", errors="replace").strip()
    if not token.isascii() or token.split() != [token]:
        raise click.ClickException(f"{token_file} must hold one token, of ASCII characters without blanks")
    return token


@contextmanager
def at_rest(command: str) -> Iterator[None]:
    """Says how `command` is given to the server where a store turns out to be served."""
    from relatum.store.lock import DirectoryInUse

    try:
        yield
    except DirectoryInUse as error:
        raise click.ClickException(f"{error}; ask the server that has it: relatum {command}") from error
