"""`relatum confirm-clock`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from relatum.cli.exit_status import told_in_one_line


@click.command("confirm-clock")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def confirm_clock(directory: Path) -> None:
    """Say that this machine's clock is right, for the store in DIRECTORY.

    A store that has long been idle, or a clock that was put forward, can look the same: the clock is far after the last
    commit, and after whatever the files of the host tell of the time. Since commit times never run backwards, commands
    are refused then. This command says that the clock is right; look at it first. A server goes on with its next
    command, without a restart. Prints one JSON object with what the clock says.

    \b
    Example:
        date && relatum confirm-clock ./ledger
    """
    from relatum.clock import SystemClock
    from relatum.ledger.writer.clock_guard import instant
    from relatum.store.directory import require_store
    from relatum.store.host_time import confirm_clock as confirm
    from relatum.store.layout import ENGINE_NAME

    with told_in_one_line():
        require_store(directory / ENGINE_NAME)
        now_millis = SystemClock().millis()
        confirm(directory, now_millis)
    click.echo(msgspec.json.encode({"confirmed_at_millis": now_millis, "confirmed": instant(now_millis)}).decode())
