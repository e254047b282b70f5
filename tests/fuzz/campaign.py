"""The campaign: every case is dressed, sent, judged, and learnt from.

Always holds: one seed makes the same cases in the same order with the same choices. Ids and secrets differ from run to
run, since the server draws them; nothing depends on the time that anything takes.
"""

from __future__ import annotations

from collections import Counter
from math import ceil

from schemathesis import Case
from schemathesis.core.transport import Response

from tests.fuzz import cases, judging
from tests.fuzz.dice import Dice
from tests.fuzz.dressing import Attempt, dressed
from tests.fuzz.known import Json
from tests.fuzz.report import Report
from tests.fuzz.world import Place, World

WAIT_SECONDS = 30
SOUND_MAX = 200
"""So many more are tried of an operation behind whose checks none of its cases has come; one in ten does."""


def run(world: World, number: int, seed: int) -> Report:
    """About so many cases, evenly over all operations of the world's document, in a mixed order.

    What is known of the world is up to the server, and with it whether a case is accepted. An operation that has
    accepted none of its cases is tried further.
    """
    report = Report(seed)
    operations = cases.operations(cases.schema_of(world.document))
    report.answers |= {operation.label: Counter() for operation in operations}
    each = ceil(number / len(cases.KINDS) / len(operations))
    drawn = [case for operation in operations for case in cases.drawn(operation, each, seed)]
    for at, case in enumerate(Dice(seed).shuffled(drawn)):
        _try(case, world, Dice(seed, at), report)
    for operation in operations:
        if operation.label in report.never_accepted:
            for at, case in enumerate(cases.sound(operation, SOUND_MAX, seed)):
                if _try(case, world, Dice(seed, operation.label, at), report) < 400:
                    break
    return report


def _try(case: Case, world: World, dice: Dice, report: Report) -> int:
    """The status that it is answered with."""
    attempt = dressed(case, world, dice)
    response = _sent(attempt, world.url)
    operation = case.operation.label
    report.count(operation, response.status_code)
    found = judging.faults(case, response, barred=attempt.barred)
    if found:
        report.blame(operation, found, case.as_curl_command(headers=_headers(attempt)))
    _learn(attempt, response, world)
    return response.status_code


def _sent(attempt: Attempt, url: str) -> Response:
    return attempt.case.call(base_url=url, headers=_headers(attempt), timeout=WAIT_SECONDS)


def _headers(attempt: Attempt) -> dict[str, str]:
    return {} if attempt.authorization is None else {"Authorization": attempt.authorization}


def _learn(attempt: Attempt, response: Response, world: World) -> None:
    case, place = attempt.case, attempt.place
    if response.status_code not in (200, 201) or not isinstance(case.body, dict):
        return
    if cases.streams(case.operation):
        place.known.learn_events(case.path, response.text)
        return
    answer = response.json()
    world.learn_credential(answer)
    if _is_about(case.body, place):
        place.known.learn(case.path, answer)
        place.known.remember(case.operation.label, case.body, answer)


def _is_about(body: Json, place: Place) -> bool:
    return body.get("scope") == place.scope or body.get("workspace_id") == place.workspace_id
