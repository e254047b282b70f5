"""What is wrong with an answer: by the document, as schemathesis holds answers to it, and by two rules of our own."""

from __future__ import annotations

from typing import NamedTuple

from schemathesis import Case, checks
from schemathesis.core.failures import AcceptedNegativeData, Failure, FailureGroup
from schemathesis.core.transport import Response

from tests.feeds import wire
from tests.fuzz import cases

CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
    checks.allow_header_conformance,
]
UNDOCUMENTED = (404, 405)
"""What is answered for a path or a method that is no operation, before a caller is looked at."""


class Fault(NamedTuple):
    """Something that must not be; `title` is the same for faults of one kind."""

    title: str
    words: str


def faults(case: Case, response: Response, *, barred: bool) -> list[Fault]:
    """Everything that is wrong. `barred`: the caller is nobody, and must be told that and nothing else."""
    found = [Fault(each.title, each.message) for each in _conformance(case, response)]
    status = response.status_code
    if barred and status != 401 and status not in UNDOCUMENTED:
        found.append(Fault("Nobody was let in", f"The status is {status}"))
    if status == 200 and cases.streams(case.operation):
        found += _faults_of_events(response)
    return found


def _conformance(case: Case, response: Response) -> list[Failure]:
    # To schemathesis the schema of a stream is that of each event; to OpenAPI 3.1, and here, of all the text.
    excluded = [checks.response_schema_conformance] if cases.streams(case.operation) else []
    try:
        case.validate_response(response, checks=CHECKS, excluded_checks=excluded)
    except FailureGroup as found:
        refused = _refuses_an_item(response)
        return [each for each in found.exceptions if not (refused and isinstance(each, AcceptedNegativeData))]
    return []


def _refuses_an_item(response: Response) -> bool:
    """Whether it answers a batch, which is accepted although an item of it is not."""
    if response.status_code != 200:
        return False
    answer = response.json()
    return any("error" in result or result.get("ok") is False for result in answer.get("results", ()))


def _faults_of_events(response: Response) -> list[Fault]:
    try:
        wire.parsed(response.text)
    except (AssertionError, KeyError, ValueError) as error:
        return [Fault("An event is not whole", str(error))]
    return []
