"""Cases of schemathesis for every operation of a document, of three kinds.

Sound ones are drawn from the schemas at random; faulty ones break a schema somewhere; boundary ones walk the limits and
the obligations of the schemas one by one, and try methods and types of bodies that the operation does not take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import BaseSchema

from tests.fuzz.dice import Dice

REJECTED = ["400", "401", "403", "405", "409", "413"]
"""What a request that breaks its schema may be answered with. 409: a key that is taken counts before some rules do."""
CONFIG = {
    "generation": {"with-security-parameters": False},  # callers come with credentials of their own
    "checks": {
        "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "503"]},
        "negative_data_rejection": {"expected-statuses": REJECTED},
    },
    "output": {"sanitization": {"keys-to-sanitize": ["authorization"], "sensitive-markers": ["authorization"]}},
}
KINDS = ("sound", "faulty", "boundary")
STREAM = "text/event-stream"

Operation = APIOperation[Any, Any, Any, Any]
"""Generic over parts of schemathesis that are of no interest here."""


def schema_of(document: dict[str, Any]) -> BaseSchema:
    """The schema of a document as schemathesis reads it."""
    return schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_dict(CONFIG))


def operations(schema: BaseSchema) -> list[Operation]:
    """Every operation; there must be none that schemathesis can't read."""
    found: list[Operation] = []
    for read in schema.get_all_operations():
        assert isinstance(read, Ok), read
        found.append(read.ok())
    return found


def drawn(operation: Operation, number: int, seed: int) -> list[Case]:
    """So many cases of each kind; fewer where there are no more."""
    faulty = _generated(operation, GenerationMode.NEGATIVE, number, seed) if _negatable(operation) else []
    boundaries = _spread(list(_boundaries(operation)), number, Dice(seed, operation.label))
    return [*sound(operation, number, seed), *faulty, *boundaries]


def sound(operation: Operation, number: int, seed: int) -> list[Case]:
    """So many cases of the first kind; fewer where there are no more."""
    return _generated(operation, GenerationMode.POSITIVE, number, seed)


def declared(operation: Operation) -> dict[str, Any]:
    """The operation as the document has it."""
    raw: dict[str, Any] = operation.definition.raw
    return raw


def secured(operation: Operation) -> bool:
    """Whether it needs a credential."""
    return declared(operation).get("security") != []


def names_a_scope(operation: Operation) -> bool:
    """Whether it is for those who hold a scope; what is not is for administrators."""
    content = declared(operation).get("requestBody", {}).get("content", {})
    names = [media["schema"]["$ref"].rpartition("/")[2] for media in content.values()]
    schemas = operation.schema.raw_schema["components"]["schemas"]
    return any("scope" in schemas[name]["properties"] for name in names)


def streams(operation: Operation) -> bool:
    """Whether its answer may go on for ever."""
    return STREAM in declared(operation)["responses"].get("200", {}).get("content", {})


def _negatable(operation: Operation) -> bool:
    return bool(operation.body or operation.query or operation.path_parameters)


def _generated(operation: Operation, mode: GenerationMode, number: int, seed: int) -> list[Case]:
    cases: list[Case] = []

    @hypothesis.seed(f"{seed}/{operation.label}/{mode.value}")
    @hypothesis.settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return cases


def _boundaries(operation: Operation) -> Iterator[Case]:
    generation = operation.schema.config.generation_for(operation=operation, phase="coverage")
    return operation.schema.iter_coverage_cases(
        operation, generation_modes=list(GenerationMode), generation_config=generation
    )


def _spread(cases: Sequence[Case], number: int, dice: Dice) -> list[Case]:
    """So many of them, evenly from everywhere; which ones differs from seed to seed."""
    if len(cases) <= number:
        return list(cases)
    start = dice.below(len(cases))
    return [cases[(start + at * len(cases) // number) % len(cases)] for at in range(number)]
