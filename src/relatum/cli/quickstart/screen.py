"""How the tour is told: headings, progress, and exchanges with the JSON that really went over the wire, trimmed."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from relatum.cli.quickstart.api import Exchange

COLUMNS: Final = 100
TEXT_CHARACTERS_MAX: Final = 60

_CUT: Final = "…"
_FOLDED: Final = "{…}"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def heading(text: str) -> None:
    """A new part of the tour."""
    click.secho(f"\n{text}", bold=True)


def say(text: str) -> None:
    """A line or two of explanation."""
    click.echo(textwrap.fill(" ".join(text.split()), COLUMNS, break_on_hyphens=False, break_long_words=False))


def progress(what: str, done: int, total: int) -> None:
    """How far loading has come."""
    click.echo(f"  {done:>5} of {total} {what}")


def exchange(shown: Exchange, *members: str, folded: Collection[str] = ()) -> None:
    """A request and its answer, trimmed.

    Of the request only `members`, since version and scope are always the same; of objects under a name in `folded`
    nothing but that they are there.
    """
    click.secho(f"  > POST {shown.path}", fg="cyan")
    _indented({name: shown.body[name] for name in members}, folded)
    click.secho(f"  < {shown.status}", fg="green" if shown.status < 400 else "yellow")
    _indented({name: value for name, value in shown.value.items() if name not in {"contract_version", "scope"}}, folded)


def line(text: str) -> None:
    """A line to be pasted, as it is."""
    click.echo(text)


def trimmed(value: Any, folded: Collection[str] = ()) -> Any:
    """`value` with digests and long texts cut short and objects under a name in `folded` left empty, but for a `…`."""
    match value:
        case dict():
            return {
                name: {_CUT: None} if name in folded and isinstance(member, dict) else trimmed(member, folded)
                for name, member in value.items()
            }
        case list():
            return [trimmed(member, folded) for member in value]
        case str() if _DIGEST.fullmatch(value):
            return value[:8] + _CUT
        case str() if len(value) > TEXT_CHARACTERS_MAX:
            return value[:TEXT_CHARACTERS_MAX] + _CUT
        case _:
            return value


def _indented(value: Any, folded: Collection[str]) -> None:
    text = json.dumps(trimmed(value, folded), ensure_ascii=False).replace(
        json.dumps({_CUT: None}, ensure_ascii=False), _FOLDED
    )
    filled = textwrap.fill(text, COLUMNS - 4, break_on_hyphens=False, break_long_words=False)
    click.echo(textwrap.indent(filled, "    "))
