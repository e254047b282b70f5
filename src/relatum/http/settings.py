"""How a server is set up: one struct, gathered from its sources and validated once.

Here: the settings with their defaults and permitted ranges, and `load`, which reads them from (weakest first) the
defaults, a TOML file, `RELATUM_*` environment variables and the command line. Not here: limits of the contract
(limits.py), which nobody sets, and what a setting does.

Always holds: a `Settings` that `load` returned is within every range; a setting that is unknown in any source is
refused, and so is a wrong value, unless a stronger source gives another one; no setting holds a secret, so all of them
can be printed.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec.inspect
import msgspec.structs
from msgspec import Meta, Struct

from relatum.limits import SLOTS_DEFAULT, SLOTS_MAX

ENVIRONMENT_PREFIX: Final = "RELATUM_"
CONNECTIONS_MIN: Final = 64

_CLIENT_PREFIX: Final = "RELATUM_CLIENT_"
"""Names below it are the client's (client.md)."""
_ENDPOINT: Final = re.compile(r"(?:tcp|udp|sctp)://\S+")
_ENDPOINT_NAMES: Final = re.compile(
    r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO|START|END))?)"
)

_FOUND_CHARACTERS_MAX: Final = 80

LogLevel = Literal["debug", "info", "warning", "error"]
McpMode = Literal["auto", "on", "off"]
Origins = Annotated[str, Meta(min_length=1, max_length=4_096, pattern=r"^\S+\Z")]
Port = Annotated[int, Meta(ge=0, le=65_535)]


class Settings(Struct, frozen=True, kw_only=True):
    """What a server is started with; each member is documented by its `Meta`, units stand last in the names.

    The same names are the keys of the TOML file; in the environment they are upper case after `RELATUM_`.
    """

    directory: Annotated[Path, Meta(description="The store's data directory; relative to the working directory.")]
    host: Annotated[
        str, Meta(min_length=1, max_length=255, pattern=r"^\S+\Z", description="The address the server listens on.")
    ] = "127.0.0.1"
    port: Annotated[Port | None, Meta(description="The port it listens on; 0 takes a free one.")] = 7474
    uds: Annotated[
        Path | None, Meta(description="A Unix socket it listens on; alone, unless a host or a port is given as well.")
    ] = None
    metrics_port: Annotated[
        Port | None, Meta(description="A port for /metrics alone; null serves it with everything else.")
    ] = None
    telemetry: Annotated[
        Literal["off", "otlp"], Meta(description="Where traces go; otlp needs relatum[otel], and reads OTEL_* names.")
    ] = "off"
    slots: Annotated[int, Meta(ge=0, le=SLOTS_MAX, description="Admission slots; 0 sheds all load.")] = SLOTS_DEFAULT
    streams_max: Annotated[int, Meta(ge=0, le=4_096, description="Change feeds followed at once.")] = 64
    stream_write_seconds: Annotated[int, Meta(ge=1, le=3_600, description="For a follower to take what is sent.")] = 10
    write_queue: Annotated[int, Meta(ge=1, le=65_536, description="Commands that may wait for the writer.")] = 4_096
    group_max: Annotated[int, Meta(ge=1, le=1_024, description="Commands committed in one group, at most.")] = 128
    watermark_lag: Annotated[
        int, Meta(ge=0, le=1, description="Groups that are answered before the watermark tells of them.")
    ] = 0
    read_threads: Annotated[int, Meta(ge=1, le=64, description="Threads that serve longer reads.")] = 2
    connections_max: Annotated[
        int,
        Meta(ge=CONNECTIONS_MIN, le=65_536, description="Connections held; beyond, the longest waiting gives way."),
    ] = 2_048
    body_timeout_seconds: Annotated[int, Meta(ge=1, le=3_600, description="For a request's body to arrive.")] = 30
    answer_timeout_seconds: Annotated[
        int, Meta(ge=1, le=3_600, description="For a client that has fallen behind to take its answer.")
    ] = 60
    ballast_mib: Annotated[
        int, Meta(ge=0, le=65_536, description="Room on the disk held back for an orderly stop, in MiB; 0 for none.")
    ] = 64
    operator_token_file: Annotated[
        Path | None, Meta(description="A file with the operator's token; null serves nothing to operators.")
    ] = None
    drain_timeout_seconds: Annotated[int, Meta(ge=0, le=3_600, description="For a stop to finish what runs.")] = 30
    resurfacing_minutes: Annotated[
        int, Meta(ge=1, le=43_200, description="Until a pending candidate is offered to be judged.")
    ] = 1_440
    sweep_deadline_hours: Annotated[
        int, Meta(ge=1, le=8_760, description="Until a pending candidate that nobody judged is orphaned.")
    ] = 336
    sweep_interval_minutes: Annotated[
        int, Meta(ge=0, le=1_440, description="Between two runs of the sweep; 0 sweeps on demand alone.")
    ] = 60
    scrub_hours: Annotated[
        int, Meta(ge=0, le=8_760, description="For a pass of the scrub over all rows, again and again; 0 turns it off.")
    ] = 24
    clock_ahead_max_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=31_622_400,
            description="How far the clock may be after the last commit and the host's files; 0 believes any clock.",
        ),
    ] = 3_600
    mcp: Annotated[
        McpMode, Meta(description="Whether /mcp is served; auto: where the package of the extra mcp is installed.")
    ] = "auto"
    mcp_tools: Annotated[
        str, Meta(min_length=1, max_length=255, pattern=r"^\S+\Z", description="The sets of tools that /mcp offers.")
    ] = "core"
    mcp_origins: Annotated[
        Origins | None, Meta(description="Web pages that may ask /mcp: origins joined by commas; null for none.")
    ] = None
    log_level: Annotated[LogLevel, Meta(description="The least severe log lines written.")] = "info"

    def as_toml(self) -> str:
        """Every setting as a line of TOML that `load` reads back; an unset one as a comment.

        Raises SettingsError for a path that is not UTF-8, which TOML can't hold.
        """
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        if self.port is None:
            values["host"] = None  # else it would be given, and a port with it
        return "".join(f"{_toml_line(name, value)}\n" for name, value in values.items())


class SettingsError(Exception):
    """Some settings are unknown, missing or out of range; `problems` has a line for each, fit for an operator."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(environ: Mapping[str, str], toml_path: Path | None, overrides: Mapping[str, object]) -> Settings:
    """The settings from all their sources.

    `overrides` are the command line's, by setting name and already of the right type; None there means "not given".
    Reads `toml_path` and nothing else. Raises `SettingsError` with all problems of all sources at once.
    """
    problems: list[str] = []
    given = [*_from_file(toml_path, problems), *_from_environment(environ), *_from_command_line(overrides)]
    strongest = {each.name: each for each in given}
    values: dict[str, Any] = {}
    for each in given:
        if each.name not in _FIELDS or each is strongest[each.name]:
            _take(each, values, problems)
    if "directory" not in strongest:
        problems.append("directory must be given")
    if problems:
        raise SettingsError(tuple(problems))
    if values.get("uds") is not None and not values.keys() & {"host", "port"}:
        values["port"] = None
    settings = Settings(**values)
    if settings.port is None and settings.uds is None:
        raise SettingsError(("port or uds must be given",))
    if settings.metrics_port and settings.metrics_port == settings.port:
        raise SettingsError((f"metrics_port must differ from port; found {settings.port} for both",))
    return settings


def endpoint_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names that look like settings and are none, in order: an orchestrator put them there.

    Kubernetes tells every container of each service, and Docker of each linked container, under names made from theirs:
    a service called `relatum` becomes `RELATUM_SERVICE_HOST`, `RELATUM_PORT=tcp://10.0.0.7:7474` and more.
    """
    return tuple(
        name
        for name, value in sorted(environ.items())
        if name.startswith(ENVIRONMENT_PREFIX)
        and (
            (name.endswith("_PORT") and _ENDPOINT.fullmatch(value))
            or _ENDPOINT_NAMES.fullmatch(name.removeprefix(ENVIRONMENT_PREFIX))
        )
    )


class _Given(Struct, frozen=True):
    """One value as a source gave it; `spelled` is the name there, `text` whether everything there is text."""

    name: str
    value: object
    source: str
    spelled: str
    text: bool = False


def _from_file(path: Path | None, problems: list[str]) -> Iterator[_Given]:
    if path is None:
        return
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows editors begin a file with a mark
    except OSError as error:
        problems.append(f"the settings file {path} can't be read: {error.strerror}")
    except ValueError:
        problems.append(f"the settings file {path} is not TOML in UTF-8")
    else:
        yield from (_Given(name, value, f"the file {path}", name) for name, value in table.items())


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Given]:
    passed_over = endpoint_names(environ)
    for spelled, value in sorted(environ.items()):
        is_own = spelled.startswith(ENVIRONMENT_PREFIX) and not spelled.startswith(_CLIENT_PREFIX)
        if is_own and spelled not in passed_over:
            name = spelled.removeprefix(ENVIRONMENT_PREFIX).lower()
            yield _Given(name, value, "the environment", spelled, text=True)


def _from_command_line(overrides: Mapping[str, object]) -> Iterator[_Given]:
    for name, value in overrides.items():
        if value is not None:
            yield _Given(name, value, "the command line", name)


def _take(given: _Given, values: dict[str, Any], problems: list[str]) -> None:
    """Put the value under its setting's name, or say what is wrong with it. What an unknown one holds is not shown."""
    field = _FIELDS.get(given.name)
    if field is None:
        problems.append(f"{given.spelled} (from {given.source}) is no setting{_hint(given)}")
        return
    try:
        hook = _path if given.text else _path_in_utf8
        values[given.name] = msgspec.convert(given.value, field.type, strict=not given.text, dec_hook=hook)
    except (msgspec.ValidationError, TypeError):
        permitted = _permitted(msgspec.inspect.type_info(field.type))
        found = repr(given.value)[:_FOUND_CHARACTERS_MAX]
        problems.append(f"{given.spelled} (from {given.source}) must be {permitted}; found {found}")


def _path(kind: type, value: object) -> object:
    """Paths are no type of the decoder's own: text without a NUL, not empty."""
    if isinstance(value, Path):
        return value
    if kind is Path and isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    raise TypeError


def _path_in_utf8(kind: type, value: object) -> object:
    """What a file names, as the operating system spells it: that may be another encoding than the locale's."""
    return _path(kind, os.fsdecode(value.encode()) if isinstance(value, str) else value)


def _hint(given: _Given) -> str:
    near = get_close_matches(given.name, _FIELDS, n=1)
    if not near:
        return ""
    return f"; did you mean {ENVIRONMENT_PREFIX + near[0].upper() if given.text else near[0]}?"


def _permitted(kind: msgspec.inspect.Type) -> str:
    """The range of a setting in words, from the same annotation that validates it."""
    match kind:
        case msgspec.inspect.Metadata(type=inner):
            return _permitted(inner)
        case msgspec.inspect.UnionType(types=kinds):
            return " or ".join(map(_permitted, kinds))
        case msgspec.inspect.IntType(ge=low, le=high):
            return f"an integer from {low} to {high}"
        case msgspec.inspect.StrType(min_length=low, max_length=high):
            return f"{low} to {high} characters without blanks"
        case msgspec.inspect.LiteralType(values=words):
            return "one of " + ", ".join(map(str, words))
        case msgspec.inspect.NoneType():
            return "null"
        case _:
            return "a path"


def _toml_line(name: str, value: object) -> str:
    match value:
        case None:
            return f"# {name} is not set"
        case int():
            return f"{name} = {value}"
        case Path():
            try:
                return _toml_line(name, os.fsencode(value).decode())
            except UnicodeDecodeError as error:
                raise SettingsError((f"{name} can't be told in TOML: the path is not UTF-8",)) from error
        case _:
            # A JSON string is one of TOML too, but for one character that only JSON lets stand unescaped.
            return f"{name} = " + json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_FIELDS: Final = {field.name: field for field in msgspec.structs.fields(Settings)}
