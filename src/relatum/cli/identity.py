"""Who an administrator is: the options `--company` and `--subject`, and what is printed once a credential is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from relatum.cli.output import as_utf8
from relatum.core.text import is_identifier

Command = TypeVar("Command", bound=Callable[..., Any])

_RULE = "must be 1 to 256 bytes of UTF-8, not blank and without control characters"


def _identifier(_context: click.Context, _option: click.Parameter, value: str) -> str:
    try:
        text = as_utf8(value)
    except UnicodeError as error:  # bytes that are text nowhere reach a program as lone surrogates
        raise click.BadParameter(_RULE) from error
    if not is_identifier(text):
        raise click.BadParameter(_RULE)
    return text


def identity_options(command: Command) -> Command:
    """Adds `--company` and `--subject`, both required and both identifiers."""
    subject = click.option(
        "--subject", required=True, callback=_identifier, metavar="ID", help="Who the administrator is."
    )
    company = click.option(
        "--company", required=True, callback=_identifier, metavar="ID", help="The company; opaque, case-sensitive."
    )
    return company(subject(command))
