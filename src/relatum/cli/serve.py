"""`relatum serve`: the server on one store."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from relatum import __version__
from relatum.cli.exit_status import end_at_once, told_in_one_line
from relatum.cli.options import settings_options
from relatum.cli.output import shown
from relatum.http.settings import CONNECTIONS_MIN, Settings, endpoint_names, load
from relatum.limits import MIB
from relatum.store.process_setup import FILES_RESERVED, room_for_connections

if TYPE_CHECKING:
    from relatum.http.tracing import RequestSpans
    from relatum.ledger import Ledger
    from relatum.telemetry import Log, Scalar


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), required=False)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file of settings; its keys are the options' names with _ for -.",
)
@settings_options
@click.option("--print-settings", is_flag=True, help="Print the settings that would be in force, as TOML, and stop.")
def serve(directory: Path | None, config: Path | None, print_settings: bool, **options: object) -> None:
    """Serve the store in DIRECTORY over HTTP.

    Prints one line with the address once it is ready. One process owns the store; a second one is refused. SIGTERM or
    Ctrl-C lets running requests finish, makes accepted commands durable, and exits 0.

    \b
    Examples:
        relatum serve ./ledger
        relatum serve ./ledger --host 0.0.0.0 --port 8080 --slots 128
        RELATUM_PORT=8080 relatum serve ./ledger --config relatum.toml
        relatum serve ./ledger --port 8080 --print-settings > relatum.toml

    Each option is a setting, which a TOML file and the environment can give too: the option --read-threads is
    read_threads in the file and RELATUM_READ_THREADS in the environment. Options win over the environment, the
    environment over the file, the file over the defaults. DIRECTORY can be given these ways as well.
    """
    with told_in_one_line():
        settings = load(os.environ, config, {"directory": directory, **options})
        if print_settings:
            click.echo(settings.as_toml().encode(), nl=False)
            return
        _serve(settings)


def _serve(settings: Settings) -> None:
    from relatum.clock import SystemClock
    from relatum.http import server
    from relatum.http.listeners import AddressUnavailable
    from relatum.http.operator import OperatorToken
    from relatum.ledger import Ledger
    from relatum.ledger.judgments import Ages
    from relatum.telemetry import Log

    log = Log(sys.stderr, SystemClock().millis, settings.log_level)
    if passed_over := endpoint_names(os.environ):
        log.info("names that an orchestrator gives to services were passed over", names=" ".join(passed_over))
    settings = _fitted(settings, log)
    token_file = settings.operator_token_file
    token = None if token_file is None else OperatorToken.read(token_file)
    if token is not None and token.open_to_all:
        log.warning("everybody on this machine can read the file with the operator's credential")
    tracing = _tracing(settings)
    ledger = Ledger.open(
        settings.directory,
        log=log,
        queue_commands_max=settings.write_queue,
        group_commands_max=settings.group_max,
        watermark_lag=settings.watermark_lag,
        ages=Ages(
            resurfacing_millis=settings.resurfacing_minutes * 60_000,
            deadline_millis=settings.sweep_deadline_hours * 3_600_000,
        ),
        clock_ahead_max_seconds=settings.clock_ahead_max_seconds,
    )
    _hold_ballast(ledger, settings, log)
    told = {"version": __version__, "recovered": ledger.recovered, **_told(settings)}
    try:
        finished = server.serve(ledger, settings, log, operator_token=token, tracing=tracing, told=told)
    except AddressUnavailable as error:
        raise click.ClickException(str(error)) from error
    if not finished:
        end_at_once("the time to drain was over before everything that ran had finished")


def _tracing(settings: Settings) -> RequestSpans | None:
    """What traces requests and groups, if anything is to; nothing of it is imported otherwise."""
    if settings.telemetry == "off":
        return None
    try:
        from relatum.http.otel import otlp
    except ImportError:
        raise click.ClickException("telemetry otlp needs the packages of relatum[otel]") from None
    return otlp()


def _fitted(settings: Settings, log: Log) -> Settings:
    """The settings with no more connections than the system has descriptors for: the engine must never lack one."""
    room = room_for_connections()
    if room < CONNECTIONS_MIN:
        least = FILES_RESERVED + CONNECTIONS_MIN
        raise click.ClickException(f"the limit on open files is too low for a server, which needs {least} (ulimit -n)")
    if room >= settings.connections_max:
        return settings
    log.warning("the limit on open files leaves less room for connections than was set", connections_max=room)
    return replace(settings, connections_max=room)


def _hold_ballast(ledger: Ledger, settings: Settings, log: Log) -> None:
    """Room for an orderly stop, if the disk has it; a server without starts all the same."""
    from relatum.store.rocks import RESTART_BYTES_MAX

    assert ledger.upkeep is not None, "what lies in a directory has files"
    ballast = ledger.upkeep.ballast
    ballast.take(settings.ballast_mib * MIB)
    ledger.metrics.ballast_bytes.set_function(lambda: ballast.held_bytes)
    if settings.ballast_mib and not ballast.held_bytes:
        log.warning("the disk has no room to spare for the ballast", ballast_mib=settings.ballast_mib)
    if 0 < settings.ballast_mib * MIB < RESTART_BYTES_MAX:
        needed = RESTART_BYTES_MAX // MIB
        log.warning(
            "the ballast may be too small for a restart on a full disk", ballast_mib=settings.ballast_mib, needed=needed
        )


def _told(settings: Settings) -> dict[str, Scalar]:
    """The settings in force as attributes of a log line; where a secret lies is left out."""
    values = {name: getattr(settings, name) for name in settings.__struct_fields__}
    operated = values.pop("operator_token_file") is not None
    told = {name: shown(value) if isinstance(value, Path) else value for name, value in values.items()}
    return told | {"operator": operated}
