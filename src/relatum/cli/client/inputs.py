"""Options that make a record input, a filter of records, or how an assertion came about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, get_args

import click

from relatum.cli.client.output import Json
from relatum.cli.client.session import given
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import DOCUMENT, JSON_FILE, MOMENT, REFERENCE, Word
from relatum.core.answers.relations import Origin
from relatum.core.kinds import RecordType
from relatum.core.queries import Order

Function = TypeVar("Function", bound=Callable[..., Any])

METHOD: Final = "relatum command line"
METHOD_REVISION: Final = "1"
LISTED: Final = 40

_SOURCE: Final = {"source_id", "source_hash"}


def options(*made: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Several options as one decorator, in the order given."""

    def add(function: Function) -> Function:
        for option in reversed(made):
            function = option(function)
        return function

    return add


record_options = options(
    click.option("--title", metavar="TEXT", help="A title."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be given again."),
    click.option(
        "--category", metavar="ID", help="user, feedback, project, reference, procedural, or one of your own."
    ),
    click.option("--topic-key", metavar="ID", help="The slot that it takes; one record holds it at a time."),
    click.option("--fact-key", metavar="ID", help="What it is compared by with others."),
    click.option("--confidence", type=click.FloatRange(0, 1), metavar="X", help="0 to 1."),
    click.option("--source-id", metavar="REF", help="Where it came from."),
    click.option("--source-hash", metavar="REF", help="The hash that source had."),
    click.option("--event-time", "event_time_millis", type=MOMENT, help="When what it tells of happened."),
    click.option("--valid-until", "valid_until_millis", type=MOMENT, help="When it stops counting."),
    click.option("--type", "type", type=Word(get_args(RecordType)), help="What it is a record of."),
    click.option("--data", type=DOCUMENT, help="An object of your own."),
    click.option("--json", "whole", type=JSON_FILE, help="The whole record input, instead of text and options."),
)

filter_options = options(
    click.option("--text", metavar="TEXT", help="Stands in title or content, whatever the case."),
    click.option("--tag", metavar="TAG", help="Has this tag."),
    click.option("--type", "type", type=Word(get_args(RecordType)), help="Is a record of this type."),
    click.option("--category", metavar="ID", help="Is of this category."),
    click.option("--fact-key", metavar="ID", help="Has this fact key."),
    click.option("--topic-key", metavar="ID", help="Has this topic key."),
    click.option("--source-id", metavar="REF", help="Came from this source."),
    click.option("--order", type=Word(get_args(Order)), help="The newest first, unless told otherwise."),
)

limit_options = options(
    click.option("--limit", type=click.IntRange(1), metavar="N", help=f"So many in all; {LISTED} without."),
    click.option("--all", "everything", is_flag=True, help="All there are."),
)

provenance_options = options(
    click.option("--evidence", "evidence_ref", metavar="REF", help="What it rests on; an identifier, never fetched."),
    click.option("--origin", type=Word(get_args(Origin)), help="How it came about."),
    click.option("--method", metavar="NAME", default=METHOD, show_default=True, help="By which method."),
    click.option(
        "--method-revision", metavar="REV", default=METHOD_REVISION, show_default=True, help="And of which revision."
    ),
    click.option("--model", metavar="PROVIDER/MODEL/REVISION", help="The model that inferred it."),
)

evidence_option = click.option(
    "--evidence", "evidence_ref", required=True, metavar="REF", help="What it rests on; an identifier, never fetched."
)
json_option = click.option(
    "--json", "whole", type=JSON_FILE, help="The whole member, instead of arguments and options."
)
evidence_sources_option = click.option(
    "--evidence-source",
    "evidence_sources",
    type=REFERENCE,
    multiple=True,
    help="A record that the reporter had before it; may be given again.",
)


def limit_of(limit: int | None, everything: bool) -> int | None:
    """How many a list has at most; None for all."""
    if everything and limit is not None:
        raise wrong("give either --limit or --all")
    return None if everything else limit or LISTED


def record_input(text: str | None, members: Json, kept: Json | None = None) -> Json:
    """The record input that a text and the options make, on what is `kept` of an earlier one."""
    members = dict(members)
    whole = members.pop("whole")
    chosen = given(members)
    if whole is not None:
        if text is not None or chosen:
            raise wrong("give either --json or a text with options")
        if not isinstance(whole, dict):
            raise wrong("a record input is a JSON object")
        return whole
    if text is None:
        raise wrong("give a text, or a whole record input by --json")
    if not isinstance(chosen.get("data", {}), dict):
        raise wrong("--data takes a JSON object")
    kept = dict(kept or {})
    source = {name: chosen.pop(name) for name in _SOURCE & chosen.keys()}
    if source:
        source = (kept.get("provenance") or {}) | source
        if "source_id" not in source:
            raise wrong("--source-hash goes with --source-id")
        chosen["provenance"] = source
    return kept | {"content": text} | chosen


def provenance_of(members: Json, evidence_ref: str | None) -> Json:
    """The provenance that the options make; origin and evidence have no default."""
    origin, model = members["origin"], members["model"]
    if evidence_ref is None or origin is None:
        raise wrong("say what it rests on and how it came about: --evidence REF --origin ORIGIN")
    return given(
        {
            "origin": origin,
            "method": members["method"],
            "method_revision": members["method_revision"],
            "evidence_ref": evidence_ref,
            "model": None if model is None else _model(model),
        }
    )


def _model(text: str) -> Json:
    provider, _, rest = text.partition("/")
    model, _, revision = rest.rpartition("/")
    if not (provider and model and revision):
        raise wrong("--model takes PROVIDER/MODEL/REVISION")
    return {"provider": provider, "model": model, "revision": revision}
