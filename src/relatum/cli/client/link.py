"""`relatum link`: curated links."""

from __future__ import annotations

from typing import get_args

import click

from relatum.cli.client.session import Session
from relatum.cli.client.values import IDENTIFIER, Word
from relatum.cli.client.verb import verb
from relatum.core.answers.receipts import LinkKind


@click.group()
def link() -> None:
    """Say that two records belong together, whatever their revisions.

    \b
    Example:
        relatum link add $A $B supports
    """


@verb(link, "add", writes=True)
@click.argument("source_id", metavar="A", type=IDENTIFIER)
@click.argument("target_id", metavar="B", type=IDENTIFIER)
@click.argument("kind", type=Word(get_args(LinkKind)))
def add(session: Session, source_id: str, target_id: str, kind: str) -> None:
    """Link A to B, or give their link another kind and direction.

    \b
    Example:
        relatum link add $A $B supports
    """
    operation = {"type": "link", "source_id": source_id, "target_id": target_id, "kind": kind}
    session.output.one(session.command("links/commands", operation=operation)["receipt"])


@verb(link, "remove", writes=True)
@click.argument("source_id", metavar="A", type=IDENTIFIER)
@click.argument("target_id", metavar="B", type=IDENTIFIER)
def remove(session: Session, source_id: str, target_id: str) -> None:
    """Take away the link of A and B.

    \b
    Example:
        relatum link remove $A $B
    """
    operation = {"type": "unlink", "source_id": source_id, "target_id": target_id}
    session.output.one(session.command("links/commands", operation=operation)["receipt"])
