"""`relatum record`: the verbs that read records, and what is said of them without changing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from relatum.cli.client.columns import ANNOTATED, DUE, RECORD_HISTORY, RECORDS, STATUSES
from relatum.cli.client.inputs import evidence_option, filter_options, limit_of, limit_options
from relatum.cli.client.output import ID_CELLS, TIME_CELLS, Column, Json, local
from relatum.cli.client.record_group import record
from relatum.cli.client.session import Session, given
from relatum.cli.client.statuses import not_found, wrong
from relatum.cli.client.values import IDENTIFIER
from relatum.cli.client.verb import verb
from relatum.limits import ANNOTATED_MAX, CONFIRMATIONS_MAX, NEEDS_REVIEW_LIMIT_MAX, STATUS_MAX

ids_argument = click.argument("record_ids", type=IDENTIFIER, nargs=-1, required=True)
id_argument = click.argument("record_id", type=IDENTIFIER)

_CONFIRMATIONS = (
    Column("RECORD", ID_CELLS, lambda one: one["record_id"]),
    Column("OUTCOME", 8, lambda one: one["outcome"]),
    Column("AT", TIME_CELLS, lambda one: local(one["at_millis"])),
)


@verb(record, "get")
@ids_argument
@click.option("--relations", "relations_limit", type=click.IntRange(0, 50), metavar="N", help="So many a record.")
def get(session: Session, record_ids: tuple[str, ...], relations_limit: int | None) -> None:
    """Read records with what judgments say of them. One that is not there, or no longer counts, is an error.

    \b
    Example:
        relatum record get 0196f0a1-0000-7000-8000-000000000001
    """
    distinct = list(dict.fromkeys(record_ids))
    found: list[Json] = []
    for some in chunks(distinct, ANNOTATED_MAX):
        answer = session.read("records/annotated", record_ids=some, relations_limit=relations_limit)
        for record_id, one in zip(some, answer["records"], strict=True):
            if one is None:
                raise not_found(f"no such record: {record_id}")
            found.append(one)
    session.output.many(found, ANNOTATED)


@verb(record, "list")
@filter_options
@limit_options
def list_records(session: Session, limit: int | None, everything: bool, **members: Any) -> None:
    """List the records that count now and agree with every option, page by page.

    \b
    Examples:
        relatum record list --tag rack-4
        relatum record list --all -o json | jq -r .input.content
    """
    most = limit_of(limit, everything)
    records = session.pages("records/query", "filter", "records", most, **members)
    if session.output.many(records, RECORDS) == most and limit is None:
        session.note(f"the first {most}; --all lists the rest")


@verb(record, "inspect")
@id_argument
def inspect(session: Session, record_id: str) -> None:
    """Look at a record in any state, and why it counts or not. Needs the capability to review.

    \b
    Example:
        relatum record inspect 0196f0a1-0000-7000-8000-000000000001
    """
    session.output.one(session.read("records/inspect", record_id=record_id)["inspection"])


@verb(record, "history")
@id_argument
def history(session: Session, record_id: str) -> None:
    """Every revision of a record with its receipt, the first one first. Needs the capability to review.

    \b
    Example:
        relatum record history 0196f0a1-0000-7000-8000-000000000001
    """
    last = session.read("records/inspect", record_id=record_id)["inspection"]["record"]["revision"]
    revisions = (
        session.read("records/revision", record_id=record_id, revision=revision)["history"]
        for revision in range(1, last + 1)
    )
    session.output.many(revisions, RECORD_HISTORY)


@verb(record, "status")
@click.argument("record_ids", type=IDENTIFIER, nargs=-1)
@click.option("--filter", "filtered", is_flag=True, help="Of all records that agree with the options below.")
@filter_options
@click.option(
    "--current-source", "sources", multiple=True, metavar="SOURCE=HASH", help="The hash that a source has now."
)
def status(
    session: Session, record_ids: tuple[str, ...], filtered: bool, sources: tuple[str, ...], **members: Any
) -> None:
    """Whether what records say can be relied upon, and what speaks against it.

    \b
    Examples:
        relatum record status 0196f0a1-0000-7000-8000-000000000001
        relatum record status --filter --tag rack-4
    """
    chosen = given(members)
    if bool(record_ids) == bool(filtered or chosen):
        raise wrong("give either ids or --filter with its options")
    current = [_source(one) for one in sources] or None
    statuses = _of_ids(session, record_ids, current) if record_ids else _of_filter(session, chosen, current)
    session.output.many(statuses, STATUSES)


def _source(text: str) -> Json:
    name, equals, digest = text.partition("=")
    if not equals:
        raise wrong("--current-source takes SOURCE=HASH")
    return {"source_id": name, "source_hash": digest or None}


def _of_ids(session: Session, record_ids: tuple[str, ...], current: list[Json] | None) -> Iterator[Json]:
    for some in chunks(list(dict.fromkeys(record_ids)), STATUS_MAX):
        yield from session.read("records/status", record_ids=some, current_sources=current)["statuses"]


def _of_filter(session: Session, chosen: Json, current: list[Json] | None) -> Iterator[Json]:
    cursor: str | None = None
    while True:
        asked = chosen | given({"cursor": cursor})
        answer = session.read("records/status", filter=asked, current_sources=current)
        yield from answer["statuses"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return


@verb(record, "due")
@click.option("--limit", type=click.IntRange(1, NEEDS_REVIEW_LIMIT_MAX), metavar="N", help="So many in all.")
def due(session: Session, limit: int | None) -> None:
    """Records that should be looked at again, the most urgent first.

    \b
    Example:
        relatum record due --limit 5
    """
    answer = session.read("records/needs-review", limit=limit)
    count = session.output.many(answer["records"], DUE)
    if answer["total"] > count:
        session.note(f"{count} of {answer['total']}")


@verb(record, "confirm", writes=True)
@ids_argument
@evidence_option
@click.option("--refute", is_flag=True, help="They are false.")
def confirm(session: Session, record_ids: tuple[str, ...], evidence_ref: str, refute: bool) -> None:
    """Say of up to 20 records that they are true, or false; all of them or none.

    \b
    Example:
        relatum record confirm 0196f0a1-0000-7000-8000-000000000001 --evidence "asked the operator"
    """
    if len(record_ids) > CONFIRMATIONS_MAX:
        raise wrong(f"at most {CONFIRMATIONS_MAX} records can be confirmed at once")
    outcome = "refuted" if refute else "affirmed"
    confirmations = [{"record_id": one, "outcome": outcome, "evidence_ref": evidence_ref} for one in record_ids]
    answer = session.command("records/confirm", confirmations=confirmations)
    session.output.many(answer["confirmations"], _CONFIRMATIONS)


def chunks(ids: list[str], size: int) -> Iterator[list[str]]:
    """`ids` in stretches of at most `size`."""
    return (ids[start : start + size] for start in range(0, len(ids), size))
