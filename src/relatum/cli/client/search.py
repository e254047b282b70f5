"""`relatum search`, `context`, `topic` and `receipt`: questions with one answer."""

from __future__ import annotations

from typing import Any, get_args

import click

from relatum.cli.client.columns import ANNOTATED
from relatum.cli.client.output import block
from relatum.cli.client.session import Session, body_of
from relatum.cli.client.values import IDENTIFIER, TEXT, Word
from relatum.cli.client.verb import verb
from relatum.core.kinds import RecordType
from relatum.core.receipts import Family
from relatum.limits import CONTEXT_CHARACTERS_MAX, QUEUE_LIMIT_MAX, SEARCH_LIMIT_MAX


@verb(None, "search")
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, SEARCH_LIMIT_MAX), metavar="N", help="Records, at most.")
@click.option("--relations", "relations_limit", type=click.IntRange(0, 50), metavar="N", help="So many a record.")
@click.option("--tag", metavar="TAG", help="Has this tag.")
@click.option("--type", "type", type=Word(get_args(RecordType)), help="Is a record of this type.")
@click.option("--category", metavar="ID", help="Is of this category.")
@click.option("--fact-key", metavar="ID", help="Has this fact key.")
@click.option("--topic-key", metavar="ID", help="Has this topic key.")
@click.option("--exclude-stale", is_flag=True, help="Leave out what is stale.")
def search(session: Session, words: tuple[str, ...], exclude_stale: bool, **members: Any) -> None:
    """Find records by their words, the best first, with what judgments say of them.

    \b
    Example:
        relatum search staging -o json | jq -r .record.record_id
    """
    answer = session.read("records/search", text=" ".join(words), exclude_stale=exclude_stale or None, **members)
    session.output.many(answer["records"], ANNOTATED)


@verb(None, "context")
@click.argument("prompt", type=TEXT)
@click.option(
    "--budget", "budget_characters", type=click.IntRange(1, CONTEXT_CHARACTERS_MAX), metavar="N", help="Characters."
)
@click.option("--shown", type=IDENTIFIER, multiple=True, help="A record that was shown already; may be given again.")
@click.option(
    "--judgments", "judgments_limit", type=click.IntRange(0, QUEUE_LIMIT_MAX), metavar="N", help="Pairs to judge."
)
@click.option("--due", "review_limit", type=click.IntRange(0, QUEUE_LIMIT_MAX), metavar="N", help="Records due.")
def context(session: Session, **members: Any) -> None:
    """A ranked block of records for a model's prompt; as JSON with what it is made of.

    \b
    Example:
        relatum context "deploy staging" --budget 2000 -o table
    """
    answer = body_of(session.read("context", **members))
    if session.output.is_json:
        session.output.json(answer)
    else:
        session.output.text(block(answer["block"]))


@verb(None, "topic")
@click.argument("content", metavar="TEXT", type=TEXT)
@click.option("--title", metavar="TEXT", help="The title beside it.")
def topic(session: Session, **members: Any) -> None:
    """Suggest a topic key for TEXT, and tell who holds it.

    \b
    Example:
        relatum topic "Staging is deployed by app-staging."
    """
    session.output.one(body_of(session.read("topic-keys/suggest", **members)))


@verb(None, "receipt")
@click.argument("family", type=Word(get_args(Family)))
@click.argument("idempotency_key", metavar="KEY")
def receipt(session: Session, family: str, idempotency_key: str) -> None:
    """The receipt of a key, for whoever lost an answer.

    \b
    Example:
        relatum receipt record note-1
    """
    session.output.one(session.read("receipts/read", family=family, idempotency_key=idempotency_key)["receipt"])
