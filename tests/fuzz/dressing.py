"""Dresses a generated case for the server: a caller that may well do it, and known values in place of random ones."""

from __future__ import annotations

from typing import NamedTuple

from schemathesis import Case

from tests.fuzz import cases
from tests.fuzz.dice import Dice
from tests.fuzz.known import Json, family, recent
from tests.fuzz.splicing import MOSTLY, Splicer, is_digest, is_number, is_uuid
from tests.fuzz.world import Person, Place, World

NOBODY = (None, "", "Bearer", "Bearer ", "Bearer nobody", "Basic bm9ib2R5", "Bearer rtm1_" + 32 * "0" + "_" + 43 * "A")
NO_EVENTS = ("0", "A" * 78, "_" * 78, "=" * 78, "A" * 2000)


class Attempt(NamedTuple):
    """A case with a caller. `barred`: the caller is nobody, whatever else is wrong with the request."""

    case: Case
    place: Place
    authorization: str | None
    barred: bool


def dressed(case: Case, world: World, dice: Dice) -> Attempt:
    """The case as it is to be sent."""
    person = _person(case, world, dice)
    place = dice.one_of(person.places)
    if isinstance(case.body, dict):
        case.body = _body(case, place, dice)
    if case.path_parameters or case.query:
        _point(case, place, world, dice)
    if cases.streams(case.operation) and dice.often(25):
        _resume(case, place, dice)
    nobody = dice.often(2)
    return Attempt(
        case,
        place,
        dice.one_of(NOBODY) if nobody else f"Bearer {person.caller.secret}",
        barred=cases.secured(case.operation) and (nobody or person is world.revoked),
    )


def _person(case: Case, world: World, dice: Dice) -> Person:
    right = world.workers if cases.names_a_scope(case.operation) else [world.admin]
    return dice.one_of(right if dice.often(MOSTLY) else world.people)


def _body(case: Case, place: Place, dice: Dice) -> Json:
    kind = family(case.path)
    again = place.known.bodies[case.operation.label]
    if again and dice.often(10):
        return dice.one_of(again)
    body: Json = Splicer(place, kind, dice).spliced(case.body)
    return fenced(body, place.known.newest_cursor(kind)) if cases.streams(case.operation) else body


def fenced(body: Json, tip: Json | None) -> Json:
    """The body with a fence: a stream that has come to it ends."""
    query = body.get("query") or {}
    unfenced = isinstance(query, dict) and query.get("through") is None
    return body | {"query": query | {"through": tip}} if unfenced else body


def _point(case: Case, place: Place, world: World, dice: Dice) -> None:
    """Names a credential that there is, or the workspace of the place, in the path or the query string."""
    credential_id, revision = dice.one_of(recent(world.credentials))
    if is_uuid(case.path_parameters.get("id")) and dice.often(MOSTLY):
        case.path_parameters = {**case.path_parameters, "id": credential_id}
        if isinstance(case.body, dict) and is_number(case.body.get("expected_revision")) and dice.often(MOSTLY):
            case.body = {**case.body, "expected_revision": revision}
    if is_uuid(case.query.get("after")) and dice.often(MOSTLY):
        case.query = {**case.query, "after": credential_id}
    if is_digest(case.query.get("after_workspace_id")) and dice.often(MOSTLY):
        case.query = {**case.query, "after_workspace_id": place.workspace_id}


def _resume(case: Case, place: Place, dice: Dice) -> None:
    """Asks for what follows an event, a real one for the most part."""
    known = place.known.events[family(case.path)]
    headers = case.headers.copy()
    headers["Last-Event-ID"] = dice.one_of(known) if known and dice.often(MOSTLY) else dice.one_of(NO_EVENTS)
    case.headers = headers
