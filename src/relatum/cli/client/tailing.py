"""What `relatum feed tail` does: a follower of the client, and what takes its deliveries."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from relatum.cli.client.output import Json
from relatum.cli.client.session import Session
from relatum.cli.client.statuses import Ended, Status


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is followed, from where to where, for whom, and by what it is taken."""

    family: str
    after: Any = None
    start: str | None = None
    until: str | None = None
    consumer: str | None = None
    witness: Path | None = None
    program: str | None = None


def tail_feed(session: Session, wanted: Wanted) -> None:
    """Hands on deliveries until the tip, if that is the end, or until it is interrupted."""
    from relatum.core.streams import Cursor

    take = _taking(session, wanted)
    after = None if wanted.after is None else msgspec.convert(wanted.after, Cursor)
    group = getattr(session.memory, wanted.family, None)
    if group is None:
        raise Ended("not_found", f"this version follows no {wanted.family}", Status.REFUSED)
    start = wanted.start or ("now" if wanted.consumer is None else "checkpoint")
    follower = group.follow(
        wanted.consumer,
        after=after,
        through="tip" if wanted.until == "tip" else None,
        witness=_witness(session, wanted),
        start=start,
    )
    with ExitStack() as opened:
        deliveries = opened.enter_context(follower)
        for delivery in deliveries:
            take(msgspec.to_builtins(delivery))
            if wanted.consumer is not None:
                deliveries.commit()


def _taking(session: Session, wanted: Wanted) -> Callable[[Json], None]:
    if wanted.program is None:
        return session.output.json
    program = wanted.program

    def run(delivery: Json) -> None:
        line = msgspec.json.encode(delivery) + b"\n"
        status = subprocess.run(program, shell=True, input=line, check=False).returncode  # noqa: S602 - the user's own
        if status != 0:
            raise Ended("exec_failed", f"the command ended with status {status}", Status.REFUSED)

    return run


def _witness(session: Session, wanted: Wanted) -> Path | None:
    """Where the consumer's own cursor lies: a file for each server, scope, stream and consumer."""
    if wanted.consumer is None or wanted.witness is not None:
        return wanted.witness
    home = os.environ.get("XDG_STATE_HOME")
    base = Path(home) if home and Path(home).is_absolute() else Path.home() / ".local" / "state"
    meant = msgspec.json.encode(
        [session.options.profile or session.client.url, session.scope, wanted.family, wanted.consumer], order="sorted"
    )
    directory = base / "relatum"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory / f"{wanted.family}-{sha256(meant).hexdigest()[:32]}.cursor"
