"""`relatum record`: the verbs that change records."""

from __future__ import annotations

from typing import Any, get_args

import click

from relatum.cli.client.columns import ref, text_of
from relatum.cli.client.inputs import METHOD, METHOD_REVISION, evidence_option, record_input, record_options
from relatum.cli.client.output import Json, visible
from relatum.cli.client.record_group import record
from relatum.cli.client.session import Session, body_of, given
from relatum.cli.client.statuses import wrong
from relatum.cli.client.targets import command_each
from relatum.cli.client.values import IDENTIFIER, REFERENCE, TEXT, RecordAt, Word, interactive
from relatum.cli.client.verb import verb
from relatum.core.answers.records import Disposition
from relatum.limits import CANDIDATES_MAX

text_argument = click.argument("text", type=TEXT, required=False)
target_argument = click.argument("target", type=REFERENCE)
targets_argument = click.argument("targets", type=REFERENCE, nargs=-1, required=True)


@verb(record, "create", writes=True)
@text_argument
@record_options
def create(session: Session, text: str | None, **members: Any) -> None:
    """Create a record of TEXT; - reads it from standard input. Prints the receipt.

    \b
    Example:
        relatum record create "The cable of rack 4 was pulled out." --tag rack-4
    """
    operation = {"type": "create", "record": record_input(text, members)}
    session.output.one(session.command("records/commands", operation=operation)["receipt"])


@verb(record, "save", writes=True)
@text_argument
@record_options
@click.option(
    "--candidates",
    "candidates_max",
    type=click.IntRange(0, CANDIDATES_MAX),
    metavar="N",
    help="How many pairs to judge it may surface.",
)
def save(session: Session, text: str | None, candidates_max: int | None, **members: Any) -> None:
    """Create a record that takes its topic slot, and surface what it may contradict or replace.

    Prints the receipt and the candidates; `relatum judgment give` judges them.

    \b
    Example:
        relatum record save "Staging is deployed by app-staging." --topic-key deploy/staging
    """
    operation = {"type": "save", "record": record_input(text, members)} | given({"candidates_max": candidates_max})
    answer = session.command("records/commands", operation=operation)
    session.output.one(body_of(answer))


@verb(record, "revise", writes=True)
@target_argument
@text_argument
@record_options
@click.option("--replace", is_flag=True, help="Keep nothing of what is there.")
def revise(session: Session, target: RecordAt, text: str | None, replace: bool, **members: Any) -> None:
    """Give a record another content. What no option names is kept from what is there.

    \b
    Examples:
        relatum record revise 0196f0a1-0000-7000-8000-000000000001@1 "The cable of rack 5 was pulled out."
        echo "All anew." | relatum record revise 0196f0a1-0000-7000-8000-000000000001@2 - --replace
    """
    kept: Json = {}
    revision = target.revision
    if not replace and members["whole"] is None:
        session.no_reads_when_dry("with --replace, or --json, nothing has to be read")
        there = session.current(target.id, "record")
        kept = {name: value for name, value in (there["input"] or {}).items() if value is not None}
        if revision is None:
            revision = there["revision"]
            session.note(f"{target.id} is at revision {revision}")
    operation = {
        "type": "revise",
        "record_id": target.id,
        "expected_revision": session.revision_of(RecordAt(target.id, revision)),
        "record": record_input(text, members, kept),
    }
    session.output.one(session.command("records/commands", operation=operation)["receipt"])


@verb(record, "derive", writes=True)
@text_argument
@click.option("--from", "sources", type=REFERENCE, multiple=True, required=True, help="A source; may be given again.")
@click.option("--method", default=METHOD, show_default=True, metavar="NAME", help="How it was derived.")
@click.option(
    "--method-revision", default=METHOD_REVISION, show_default=True, metavar="REV", help="And in which revision."
)
@evidence_option
@record_options
def derive(session: Session, text: str | None, sources: tuple[RecordAt, ...], **members: Any) -> None:
    """Create a record made from others, at exactly the revisions they have.

    \b
    Example:
        relatum record derive "Both racks lost power." --from $CAUSE@1 --from $EFFECT@1 --evidence incident-17
    """
    derivation = {name: members.pop(name) for name in ("method", "method_revision", "evidence_ref")}
    operation = {
        "type": "derive",
        "record": record_input(text, members),
        "derivation": {"sources": [session.ref(source) for source in sources]} | derivation,
    }
    session.output.one(session.command("records/commands", operation=operation)["receipt"])


@verb(record, "delete", writes=True)
@targets_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(session: Session, targets: tuple[RecordAt, ...], yes: bool) -> None:
    """Erase the text of records, of every revision. A tombstone and the receipts stay.

    \b
    Example:
        relatum record delete 0196f0a1-0000-7000-8000-000000000001@2 --yes
    """
    if not yes and not session.options.dry_run:
        if not interactive():
            raise wrong("nobody can be asked here; give --yes to delete")
        found = [session.current(target.id, "record") for target in targets]
        for one in found:
            click.echo(f"{ref(one)}  {visible(text_of(one))}", err=True)
        click.confirm("Erase this, with every earlier revision?", abort=True, err=True)
        targets = tuple(
            RecordAt(target.id, one["revision"] if target.revision is None else target.revision)
            for target, one in zip(targets, found, strict=True)
        )
    command_each(session, "record", targets, {"type": "delete"})


@verb(record, "review", writes=True)
@target_argument
@click.argument("disposition", type=Word(get_args(Disposition)))
@evidence_option
def review(session: Session, target: RecordAt, disposition: str, evidence_ref: str) -> None:
    """Approve or reject a record, or take that back.

    \b
    Example:
        relatum record review 0196f0a1-0000-7000-8000-000000000001@1 approved --evidence ticket-4
    """
    operation = {"type": "review", "disposition": disposition, "evidence_ref": evidence_ref}
    command_each(session, "record", [target], operation)


@verb(record, "stale", writes=True)
@click.argument("record_id", type=IDENTIFIER)
@click.option("--because", type=REFERENCE, required=True, help="The later record that says so.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="X", help="How much of it still holds, 0 to 1.")
def stale(session: Session, record_id: str, because: RecordAt, confidence: float | None) -> None:
    """Mark a record as out of date because of a later one.

    \b
    Example:
        relatum record stale 0196f0a1-0000-7000-8000-000000000001 --because 0196f0a1-0000-7000-8000-000000000002@1
    """
    operation = given(
        {"type": "mark_stale", "record_id": record_id, "because": session.ref(because), "confidence": confidence}
    )
    session.output.one(session.command("records/commands", operation=operation)["receipt"])


def _standing(name: str, does: str) -> None:
    def change(session: Session, targets: tuple[RecordAt, ...]) -> None:
        command_each(session, "record", targets, {"type": name})

    change.__doc__ = f"""{does}

    \b
    Example:
        relatum record {name} 0196f0a1-0000-7000-8000-000000000001@1
    """
    verb(record, name, writes=True)(targets_argument(change))


_standing("archive", "Put records away: they stay, and are no longer current.")
_standing("unarchive", "Take records out of the archive.")
_standing("pin", "Mark records as always worth showing.")
_standing("unpin", "Take that mark away.")
