"""What follows an attempt, as one table: no sockets, no clock."""

from __future__ import annotations

from typing import Any

import pytest

from relatum.client import errors
from relatum.client.attempts import Got, Lost, NotSent, Plan, Refresh, Refreshed, Result, Send, Wait, attempts, pause
from relatum.client.requests import Policy, Request, post

OK = Got(200, "application/json", 0.0, b"{}")
AGAIN = "again"
PLAN = Plan(10, 60, retry=True)


def said(status: int, code: str | None, retry_after: float = 0.0) -> Got:
    body = b"" if code is None else b'{"contract_version":1,"error":{"code":"%s","message":"m"}}' % code.encode()
    return Got(status, "application/json", retry_after, body)


NOT_SENT, LOST = NotSent(OSError()), Lost(OSError())
BUSY, UNAVAILABLE, BARE = said(503, "write_busy"), said(503, "storage_unavailable"), said(503, None)
FAILED, REFUSED = said(500, "internal_error"), said(409, "revision_conflict")
TABLE: list[tuple[Result, Any, Any, Any]] = [
    # an attempt, and what follows it for a read, a command, and what goes out once
    (NOT_SENT, AGAIN, AGAIN, AGAIN),
    (LOST, AGAIN, AGAIN, errors.OutcomeUnknown),
    (BUSY, AGAIN, AGAIN, AGAIN),
    (UNAVAILABLE, AGAIN, AGAIN, errors.OutcomeUnknown),
    (BARE, AGAIN, AGAIN, errors.OutcomeUnknown),
    (FAILED, AGAIN, AGAIN, errors.OutcomeUnknown),
    (REFUSED, errors.RevisionConflict, errors.RevisionConflict, errors.RevisionConflict),
]


def asked(policy: Policy) -> Request[Any]:
    return post("/route", {}, dict, policy, key="key", family="record")


def played(policy: Policy, results: list[Result], plan: Plan = PLAN) -> tuple[Any, list[Any]]:
    """What comes of some attempts, and the steps in between; time passes only in waits."""
    steps: list[Any] = []
    now, given = 0.0, iter(results)
    flow = attempts(asked(policy), plan, now, lambda: 1.0)
    step = next(flow)
    try:
        while True:
            steps.append(step)
            result = next(given, OK) if isinstance(step, Send) else None
            if isinstance(step, Wait):
                now += step.seconds
            step = flow.send((now, result))
    except StopIteration as stop:
        return stop.value, steps
    except errors.RelatumError as error:
        return error, steps


@pytest.mark.parametrize("column", [0, 1, 2])
def test_what_follows_an_attempt(column: int) -> None:
    policies: list[Policy] = ["read", "command", "once"]
    for result, *expected in TABLE:
        outcome, steps = played(policies[column], [result])
        if expected[column] == AGAIN:
            assert (OK, 3) == (outcome, len(steps)), result
        else:
            assert (expected[column], 1) == (type(outcome), len(steps)), result


def test_a_500_is_followed_by_two_more_attempts() -> None:
    read, steps = played("read", [FAILED] * 5)
    assert (errors.InternalError, 3) == (type(read), sum(isinstance(step, Send) for step in steps))
    command, _ = played("command", [FAILED] * 5)
    assert isinstance(command, errors.OutcomeUnknown)
    assert ("key", "record", errors.InternalError) == (command.idempotency_key, command.family, type(command.__cause__))


@pytest.mark.parametrize(
    ("results", "kind"),
    [
        ([NOT_SENT] * 99, errors.NotReached),
        ([BUSY] * 99, errors.WriteBusy),
        ([LOST, *[NOT_SENT] * 99], errors.OutcomeUnknown),
        ([LOST, *[BUSY] * 99], errors.OutcomeUnknown),
        ([LOST, REFUSED], errors.RevisionConflict),
    ],
)
def test_what_the_deadline_leaves_of_a_command(results: list[Result], kind: type[Exception]) -> None:
    outcome, steps = played("command", results)
    assert kind is type(outcome)
    assert 60 > sum(step.seconds for step in steps if isinstance(step, Wait))
    assert all(0 < step.seconds <= 10 for step in steps if isinstance(step, Send))


def test_one_attempt_is_one_attempt() -> None:
    outcome, steps = played("command", [BUSY], Plan(10, 60, retry=False))
    assert (errors.WriteBusy, 1) == (type(outcome), len(steps))


def test_pauses_grow_to_a_bound_and_heed_the_server() -> None:
    assert [0.1, 0.2, 0.4, 3.2, 3.2] == [pause(made, lambda: 1.0) for made in (1, 2, 3, 6, 60)]
    assert 0.05 == pause(1, lambda: 0.0)
    _, steps = played("read", [said(503, "write_busy", retry_after=1.0)])
    assert Wait(1.0) == steps[1]


def test_a_secret_is_refreshed_once_after_a_401() -> None:
    flow = attempts(asked("read"), Plan(10, 60, retry=True), 0.0, lambda: 1.0)
    next(flow)
    assert isinstance(flow.send((0.0, said(401, "unauthorized"))), Refresh)
    assert isinstance(flow.send((0.0, Refreshed(changed=True))), Send)
    with pytest.raises(errors.Unauthorized):
        flow.send((0.0, said(401, "unauthorized")))
