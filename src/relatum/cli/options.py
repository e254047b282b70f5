"""The server's settings as options of the command line, made from the settings themselves so that none is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec.inspect
import msgspec.structs
from msgspec import Meta

from relatum.http.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

_ARGUMENTS: Final = {"directory"}


def settings_options(command: Command) -> Command:
    """Adds an option for each setting that is no argument; one that is not given is None."""
    for field in reversed(msgspec.structs.fields(Settings)):
        if field.name not in _ARGUMENTS:
            command = _option(field)(command)
    return command


def _option(field: msgspec.structs.FieldInfo) -> Callable[[Command], Command]:
    return click.option(
        "--" + field.name.replace("_", "-"),
        field.name,
        type=_type(msgspec.inspect.type_info(field.type)),
        help=_help(field),
    )


def _help(field: msgspec.structs.FieldInfo) -> str:
    described = (meta.description for meta in field.type.__metadata__ if isinstance(meta, Meta) and meta.description)
    text = next(described)
    return text if field.default is None else f"{text} Default: {field.default}."


def _type(kind: msgspec.inspect.Type) -> click.ParamType[Any]:
    match kind:
        case msgspec.inspect.Metadata(type=inner):
            return _type(inner)
        case msgspec.inspect.UnionType(types=(inner, msgspec.inspect.NoneType())):
            return _type(inner)
        case msgspec.inspect.IntType(ge=least, le=greatest):
            return click.IntRange(least, greatest)
        case msgspec.inspect.LiteralType(values=words):
            return click.Choice([str(word) for word in words])
        case msgspec.inspect.StrType():
            return click.STRING
        case msgspec.inspect.CustomType():
            return click.Path(path_type=Path)
        case _:
            raise TypeError("no option is known for a setting of this type")
