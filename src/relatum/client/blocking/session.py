# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""A driver and the bounds under which calls go over it: what everything that asks the server is made of."""

from __future__ import annotations

from typing import TypeVar

from relatum.client.attempts import Plan
from relatum.client.blocking.driver import Driver
from relatum.client.requests import CallOptions, Request

T = TypeVar("T")


class Session:
    """Sends requests under one plan."""

    def __init__(self, driver: Driver, plan: Plan) -> None:
        self.driver = driver
        self.plan = plan

    def send(self, request: Request[T], options: CallOptions | None = None) -> T:
        """One request, repeated as its policy and the plan, or the options of the call, allow."""
        plan = self.plan
        if options:
            timeout, deadline = options.get("timeout", plan.timeout), options.get("deadline", plan.deadline)
            plan = plan._replace(timeout=timeout, deadline=deadline)
        return self.driver.run(request, plan)

    def wait(self, seconds: float) -> None:
        """Let time pass. Raises ClientClosed as soon as the client is closed."""
        self.driver.wait(seconds)
