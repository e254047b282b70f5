"""`relatum relation`: typed relations."""

from __future__ import annotations

from typing import Any, get_args

import click

from relatum.cli.client.columns import JUDGED_RELATIONS, RELATION_HISTORY, RELATIONS
from relatum.cli.client.inputs import (
    evidence_option,
    evidence_sources_option,
    json_option,
    limit_of,
    limit_options,
    provenance_of,
    provenance_options,
)
from relatum.cli.client.output import Json
from relatum.cli.client.session import Session, given
from relatum.cli.client.statuses import wrong
from relatum.cli.client.targets import command_each
from relatum.cli.client.values import IDENTIFIER, MOMENT, REFERENCE, RecordAt, Word
from relatum.cli.client.verb import verb
from relatum.core.answers.records import Disposition
from relatum.core.answers.relations import Origin, RelationState
from relatum.core.kinds import REGISTRY
from relatum.core.queries import Order

target_argument = click.argument("target", type=REFERENCE)
id_argument = click.argument("relation_id", type=IDENTIFIER)
KIND = Word(list(REGISTRY), metavar="KIND")


@click.group()
def relation() -> None:
    """Assert, retire, review and read relations.

    \b
    Examples:
        relatum relation assert causal_claim $CAUSE $EFFECT@1 --evidence incident-17 --origin human_statement
        relatum relation list --kind causal_claim
    """


@verb(relation, "assert", writes=True)
@click.argument("kind", type=KIND, required=False)
@click.argument("source", type=REFERENCE, required=False)
@click.argument("target", type=REFERENCE, required=False)
@provenance_options
@click.option("--valid-from", "valid_from_millis", type=MOMENT, help="When it begins to count.")
@click.option("--valid-until", "valid_until_millis", type=MOMENT, help="When it stops counting.")
@evidence_sources_option
@json_option
def assert_(session: Session, kind: str | None, whole: Any, **members: Any) -> None:
    """Assert that SOURCE stands in a relation of KIND to TARGET. Prints the receipt.

    \b
    Examples:
        relatum relation assert causal_claim $CAUSE $EFFECT@1 --evidence incident-17 --origin human_statement
        relatum relation assert --json relation.json
    """
    operation = {"type": "assert", "relation": _input(session, kind, whole, members)}
    session.output.one(session.command("relations/commands", operation=operation)["receipt"])


def _input(session: Session, kind: str | None, whole: Any, members: Json) -> Json:
    source, target = members["source"], members["target"]
    if whole is not None:
        if kind is not None:
            raise wrong("give either --json or KIND, SOURCE and TARGET")
        if not isinstance(whole, dict):
            raise wrong("a relation input is a JSON object")
        return whole
    if kind is None or source is None or target is None:
        raise wrong("give KIND, SOURCE and TARGET, or a whole relation input by --json")
    return given(
        {
            "source": session.ref(source),
            "target": session.ref(target),
            "kind": kind,
            "provenance": provenance_of(members, members["evidence_ref"]),
            "valid_from_millis": members["valid_from_millis"],
            "valid_until_millis": members["valid_until_millis"],
            "evidence_sources": tuple(session.ref(one) for one in members["evidence_sources"]),
        }
    )


@verb(relation, "retire", writes=True)
@target_argument
@evidence_option
def retire(session: Session, target: RecordAt, evidence_ref: str) -> None:
    """Take a relation out of service.

    \b
    Example:
        relatum relation retire 0196f0a1-0000-7000-8000-000000000003@1 --evidence ticket-4
    """
    command_each(session, "relation", [target], {"type": "retire", "evidence_ref": evidence_ref})


@verb(relation, "restore", writes=True)
@target_argument
@evidence_option
def restore(session: Session, target: RecordAt, evidence_ref: str) -> None:
    """Put a retired relation back, after the checks of an assertion.

    \b
    Example:
        relatum relation restore 0196f0a1-0000-7000-8000-000000000003@2 --evidence ticket-5
    """
    command_each(session, "relation", [target], {"type": "restore", "evidence_ref": evidence_ref})


@verb(relation, "review", writes=True)
@target_argument
@click.argument("disposition", type=Word(get_args(Disposition)))
@evidence_option
def review(session: Session, target: RecordAt, disposition: str, evidence_ref: str) -> None:
    """Approve or reject a relation, or take that back.

    \b
    Example:
        relatum relation review 0196f0a1-0000-7000-8000-000000000003@1 approved --evidence ticket-4
    """
    operation = {"type": "review", "disposition": disposition, "evidence_ref": evidence_ref}
    command_each(session, "relation", [target], operation)


@verb(relation, "get")
@click.argument("relation_ids", type=IDENTIFIER, nargs=-1, required=True)
def get(session: Session, relation_ids: tuple[str, ...]) -> None:
    """Read relations. One that is not there, or no longer counts, is an error.

    \b
    Example:
        relatum relation get 0196f0a1-0000-7000-8000-000000000003
    """
    found = [session.read("relations/read", relation_id=one)["relation"] for one in dict.fromkeys(relation_ids)]
    session.output.many(found, RELATIONS)


@verb(relation, "list")
@click.option("--kind", type=KIND, help="Is of this kind.")
@click.option("--state", type=Word(get_args(RelationState)), help="Is in this state.")
@click.option("--disposition", type=Word((*get_args(Disposition), "none")), help="Was reviewed so; none: not at all.")
@click.option("--origin", type=Word(get_args(Origin)), help="Came about so.")
@click.option("--endpoint", type=IDENTIFIER, help="Has this record at either end.")
@click.option("--reporter", metavar="SUBJECT", help="Was reported by this subject.")
@click.option("--order", type=Word(get_args(Order)), help="The newest first, unless told otherwise.")
@limit_options
def list_relations(session: Session, limit: int | None, everything: bool, **members: Any) -> None:
    """List relations in any state with why they count or not, page by page.

    Without the capability to review: those that the caller's own subject reported.

    \b
    Example:
        relatum relation list --endpoint 0196f0a1-0000-7000-8000-000000000001
    """
    most = limit_of(limit, everything)
    relations = session.pages("relations/query", "filter", "relations", most, **members)
    if session.output.many(relations, JUDGED_RELATIONS) == most and limit is None:
        session.note(f"the first {most}; --all lists the rest")


@verb(relation, "inspect")
@id_argument
def inspect(session: Session, relation_id: str) -> None:
    """Look at a relation in any state, and why it counts or not. Needs the capability to review.

    \b
    Example:
        relatum relation inspect 0196f0a1-0000-7000-8000-000000000003
    """
    session.output.one(session.read("relations/inspect", relation_id=relation_id)["inspection"])


@verb(relation, "history")
@id_argument
def history(session: Session, relation_id: str) -> None:
    """Every revision of a relation with its receipt, the first one first. Needs the capability to review.

    \b
    Example:
        relatum relation history 0196f0a1-0000-7000-8000-000000000003
    """
    last = session.read("relations/inspect", relation_id=relation_id)["inspection"]["relation"]["revision"]
    revisions = (
        session.read("relations/revision", relation_id=relation_id, revision=revision)["history"]
        for revision in range(1, last + 1)
    )
    session.output.many(revisions, RELATION_HISTORY)
