"""A load that sends nothing: each line held against the served document and the rules that need no state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from relatum.cli.client.load.forms import Family, Operation
from relatum.cli.client.load.names import Names
from relatum.cli.client.load.plan import Planned, Rejected
from relatum.cli.client.load.schema import Schemas
from relatum.cli.client.load.sending import Batch, Settled
from relatum.cli.client.output import Json
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.limits import BODY_BYTES_MAX, RECORD_BYTES_MAX

_ITEMS: Final[dict[Family, str]] = {"record": "RecordBatchItem", "relation": "RelationBatchItem"}


class Check:
    """Takes batches in the place of a server. A name stands for an id of its own, since its record is not made."""

    def __init__(self, document: Json, names: Names) -> None:
        self._schemas = Schemas(document)
        self._names = names
        self._made = 0

    def send(self, batch: Batch) -> Iterator[Settled]:
        """What would become of each line, as far as nobody has to be asked."""
        for line in batch.lines:
            problem = None if isinstance(line, Rejected) else self._problem(line)
            if isinstance(line, Rejected):
                yield line
            elif problem is not None:
                yield Rejected(line.number, line.key, "invalid_request", problem, 400, line.input)
            else:
                yield line, self._receipt(line)

    def _problem(self, line: Planned) -> str | None:
        operation = msgspec.to_builtins(line.operation)
        if line.family == "link":
            found = self._schemas.problem(operation, "Link")
        else:
            item = {"idempotency_key": line.key, "operation": operation}
            found = self._schemas.problem(item, _ITEMS[line.family])
        return found or broken_rule(line.operation, line.key)

    def _receipt(self, line: Planned) -> Json:
        if line.name is not None:
            self._made += 1
            self._names.learn(line.name, f"00000000-0000-7000-8000-{self._made:012x}", 1)
        return {"committed_at_millis": 0}


def broken_rule(operation: Operation, key: str) -> str | None:
    """The first static rule that a command breaks, or the size that it exceeds."""
    from relatum.core.decide import links, record_rules, relation_rules

    rule: Any
    match operation:
        case _ if isinstance(operation, RecordOperation):
            rule, most = record_rules.broken_rule, RECORD_BYTES_MAX
        case _ if isinstance(operation, RelationOperation):
            rule, most = relation_rules.broken_rule, BODY_BYTES_MAX
        case _:
            rule, most = links.broken_rule, BODY_BYTES_MAX
    problem: str | None = rule(operation, key)
    if problem is None and len(msgspec.msgpack.encode(operation)) > most:
        problem = "the command is larger than what can be stored"
    return problem
