"""`relatum api`: any route."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import click
import msgspec

from relatum.cli.client.output import Json
from relatum.cli.client.session import Retry, Session
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import JSON_FILE, strict
from relatum.cli.client.verb import verb
from relatum.limits import CONTRACT_VERSION

_ROOT: Final = "/api/v1/"
_PLACES: Final = (("filter", "cursor"), ("query", "cursor"), ("query", "after"))
_AFTERS: Final = {"next_after": "after", "next_after_workspace_id": "after_workspace_id"}


@verb(None, "api", writes=True)
@click.argument("path")
@click.argument("given", metavar="[MEMBER=TEXT | MEMBER:=JSON]...", nargs=-1)
@click.option("--get", "is_get", is_flag=True, help="GET, with the members in the query.")
@click.option("--no-scope", is_flag=True, help="Fill in the version alone.")
@click.option("--input", "whole", type=JSON_FILE, help="The members as a JSON object; - reads standard input.")
@click.option("--paginate", is_flag=True, help="Ask for the following pages too, an answer a line.")
def api(
    session: Session, path: str, given: tuple[str, ...], is_get: bool, no_scope: bool, whole: Any, paginate: bool
) -> None:
    """Ask any route below /api/v1, and print the answer as it came.

    Version and scope are filled in, and the idempotency key where --key gives one. What has no key is sent again only
    where it can't have been taken, unless it is a GET or one of the reads that this program knows.

    \b
    Examples:
        relatum api memory/graph/health
        relatum api memory/records/query filter:='{"tag": "rack-4"}' --paginate
        relatum api identity --get
    """
    place = path.removeprefix(_ROOT).lstrip("/")
    body = _body(given, whole)
    if is_get:
        query = {"contract_version": CONTRACT_VERSION} | body if not no_scope or body else body
        _get(session, place, query, paginate)
        return
    if session.options.key is not None:
        body = {"idempotency_key": session.options.key} | body
    body = {"contract_version": CONTRACT_VERSION} | body if no_scope else session.scoped({}) | body
    if session.options.dry_run:
        session.print_request("POST", _ROOT + place, body)
    _post(session, place, body, paginate)


def _post(session: Session, place: str, body: Json, paginate: bool) -> None:
    retry: Retry = "command" if "idempotency_key" in body else "read" if is_read(place) else "once"
    while True:
        answer = _shown(session, session.send(place, body, retry))
        following = next_page(answer, body) if paginate else None
        if following is None:
            return
        body = following


def _get(session: Session, place: str, query: Json, paginate: bool) -> None:
    if session.options.dry_run:
        session.print_request("GET", f"{_ROOT}{place}?{_encoded(query)}", None)
    while True:
        answer = _shown(session, session.get(f"{place}?{_encoded(query)}" if query else place))
        following = next_query(answer, query) if paginate else None
        if following is None:
            return
        query = following


def _shown(session: Session, answer: Json) -> Json:
    session.output.one(answer)
    return answer


def _encoded(query: Json) -> str:
    return urlencode(
        {name: value if isinstance(value, str) else msgspec.json.encode(value) for name, value in query.items()}
    )


def _body(given: tuple[str, ...], whole: Any) -> Json:
    if whole is not None and not isinstance(whole, dict):
        raise wrong("--input takes a JSON object")
    body: Json = dict(whole or {})
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.rstrip(":"):
            raise wrong(f"{one!r} is neither MEMBER=TEXT nor MEMBER:=JSON")
        if not name.endswith(":"):
            body[name] = value
            continue
        try:
            body[name[:-1]] = strict(value.encode("utf-8", "surrogateescape"))
        except ValueError as error:
            raise wrong(f"what stands behind {name}= is not JSON: {error}") from error
    return body


_READS: Final = frozenset(
    (
        *("read", "batch", "query", "inspect", "revision", "annotated", "search", "needs-review", "suggest"),
        *(
            "typed",
            "evidence",
            "health",
            "overview",
            "context",
            "status",
            "validate",
            "dangling",
            "changes",
            "diagnose",
        ),
    )
)


def is_read(place: str) -> bool:
    """Whether a route without a key is one that reads, and can be asked again whatever became of it."""
    last = place.rsplit("/", 1)[-1]
    return last in _READS and not place.endswith(("commands/batch", "judgments/batch"))


def next_page(answer: Json, body: Json) -> Json | None:
    """The body that asks for the page behind this one; None behind the last."""
    page = answer.get("page", answer)
    cursor = page.get("next_cursor")
    if cursor is None or page.get("complete") is True:
        return None
    for part, member in _PLACES:
        inside = body.get(part)
        if isinstance(inside, dict) and isinstance(cursor, dict) == (member == "after"):
            return body | {part: inside | {member: cursor}}
    return body | {"filter": {"cursor": cursor}}


def next_query(answer: Json, query: Json) -> Json | None:
    """The query of the page behind this one; None behind the last."""
    page = answer.get("page", answer)
    for member, parameter in _AFTERS.items():
        if page.get(member) is not None:
            return query | {parameter: page[member]}
    return None
