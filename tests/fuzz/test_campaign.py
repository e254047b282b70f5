"""The short form of the campaign: a few hundred cases, the same in every run."""

from __future__ import annotations

import pytest

from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.routes import PublicRoute
from tests.fuzz import campaign
from tests.fuzz.report import Report
from tests.fuzz.world import World
from tests.http.client import IDENTITY

CASES = 750

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report(world: World) -> Report:
    return campaign.run(world, CASES, seed=0)


def test_every_answer_is_as_the_document_says(report: Report) -> None:
    assert {} == report.faults


def test_every_route_is_tried_and_none_keeps_the_fuzzer_out(report: Report) -> None:
    routes = {f"{'GET' if isinstance(one, PublicRoute) else one.method} {one.path}" for one in (*ROUTES, METRICS_ROUTE)}
    assert routes == set(report.answers)
    assert [] == report.never_accepted


def test_a_good_share_of_the_cases_is_accepted_and_refusals_are_of_many_kinds(report: Report) -> None:
    statuses = report.statuses
    assert CASES * 0.8 <= statuses.total()
    assert statuses.total() * 0.25 <= sum(number for status, number in statuses.items() if status < 400)
    assert {400, 401, 403, 404, 405, 409} <= statuses.keys()


@pytest.mark.usefixtures("report")
def test_the_fuzzer_has_not_locked_itself_out(world: World) -> None:
    answers = [person.caller.get(IDENTITY).status_code for person in world.people]
    assert [200] * (len(world.people) - 1) + [401] == answers
