"""`relatum feed`: changes as they come, and how far a consumer has come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relatum.cli.client.output import Json
from relatum.cli.client.session import Session
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import DOCUMENT, Word
from relatum.cli.client.verb import verb

FAMILIES = ("records", "relations", "eligibility")

consumer_argument = click.argument("consumer", metavar="NAME")
stream_option = click.option(
    "--stream", "family", type=Word(FAMILIES), default="records", show_default=True, help="Of which feed."
)


@click.group()
def feed() -> None:
    """Follow the changes of records, relations, or of what counts.

    \b
    Examples:
        relatum feed tail records --consumer mirror
        relatum feed diagnose mirror
    """


@verb(feed, "tail")
@click.argument("family", metavar="records|relations|eligibility", type=Word(FAMILIES))
@click.option("--after", type=DOCUMENT, metavar="CURSOR", help="Begin behind this cursor, as JSON.")
@click.option(
    "--from", "start", type=Word(("baseline", "now")), help="now without a consumer; with one its checkpoint."
)
@click.option("--until", type=Word(("tip",)), help="End at the tip as of the start.")
@click.option("--consumer", metavar="NAME", help="Begin at its checkpoint, and advance it behind each delivery.")
@click.option(
    "--witness",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where the consumer's own cursor is kept; in the user's state directory without.",
)
@click.option("--exec", "program", metavar="COMMAND", help="Run for each delivery, with it on its standard input.")
def tail(session: Session, family: str, **members: Any) -> None:
    """Write deliveries as they come, a line each, until interrupted.

    With --consumer each delivery is acknowledged once it was written, or once COMMAND has ended with status 0; another
    status ends the tail with 1. A history that has diverged, as over a restored backup, ends it with 1 and tells why.

    \b
    Examples:
        relatum feed tail records --from baseline --until tip
        relatum feed tail records --consumer mirror
        relatum feed tail relations --consumer mailer --exec ./notify
    """
    from relatum.cli.client.tailing import Wanted, tail_feed

    if members["consumer"] is None and members["witness"] is not None:
        raise wrong("--witness goes with --consumer")
    if members["after"] is not None and (members["start"] or members["consumer"]):
        raise wrong("--after goes neither with --from nor with --consumer")
    tail_feed(session, Wanted(family=family, **members))


@verb(feed, "checkpoint", writes=True)
@consumer_argument
@stream_option
@click.option("--reconcile", type=DOCUMENT, metavar="CURSOR", help="Move it to this cursor, as JSON.")
@click.option("--evidence", "evidence_ref", metavar="REF", help="Who decided so, and why.")
def checkpoint(session: Session, consumer: str, family: str, reconcile: Any, evidence_ref: str | None) -> None:
    """Read a consumer's checkpoint, or move it.

    \b
    Examples:
        relatum feed checkpoint mirror
        relatum feed checkpoint mirror --reconcile "$CURSOR" --evidence "restored on Monday"
    """
    path = f"{family}/checkpoints"
    if (reconcile is None) != (evidence_ref is None):
        raise wrong("--reconcile and --evidence go together")
    if reconcile is None:
        session.output.one(session.read(f"{path}/read", consumer_id=consumer)["checkpoint"])
        return
    session.no_reads_when_dry("the checkpoint has to be read before it is moved")
    saved = diagnosed(session, family, consumer)["checkpoint"]
    if saved is None:
        raise wrong("this consumer has no checkpoint that could be moved")
    command = {
        "consumer_id": consumer,
        "expected_revision": saved["revision"],
        "expected_checkpoint_digest": saved["checkpoint_digest"],
        "operation": {"type": "reconcile", "cursor": reconcile, "evidence_ref": evidence_ref},
    }
    session.output.one(session.checkpoint(path, command)["receipt"])


@verb(feed, "diagnose")
@consumer_argument
@stream_option
@click.option("--witness", type=DOCUMENT, metavar="CURSOR", help="A cursor that the consumer has kept, as JSON.")
def diagnose(session: Session, consumer: str, family: str, witness: Any) -> None:
    """Where a consumer stands on the journal, and whether that is still its journal.

    \b
    Example:
        relatum feed diagnose mirror
    """
    session.output.one(diagnosed(session, family, consumer, witness))


def diagnosed(session: Session, family: str, consumer: str, witness: Any = None) -> Json:
    """The diagnostics of a consumer."""
    found: Json = session.read(f"{family}/consumers/diagnose", consumer_id=consumer, witness=witness)["diagnostics"]
    return found
