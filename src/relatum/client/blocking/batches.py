# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""Many commands in requests of up to 256: in order, each with its own outcome (client.md, batches)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from relatum.client.attempts import pause
from relatum.client.blocking.scoped import Scoped
from relatum.client.errors import OutcomeUnknown, RelatumError
from relatum.client.packing import Batch, Item, item_of
from relatum.client.requests import CallOptions, Request, draw, fresh_key
from relatum.client.results import Accepted, Refused
from relatum.core.ids import Scope

OperationT = TypeVar("OperationT")


class Door(NamedTuple):
    """The batch route of a family of commands."""

    path: str
    family: str
    answers: Any
    """Its answer has `results`, each with a `receipt` or an `error`."""


class Batches(Generic[OperationT]):
    """Sends the commands of one family in batches."""

    def __init__(self, scoped: Scoped, door: Door) -> None:
        self._scoped = scoped
        self._door = door

    def each(
        self, operations: Iterable[OperationT], keys: Iterable[str] | None, options: CallOptions
    ) -> Iterator[Accepted | Refused]:
        """The outcomes in order; no more than one request's commands are held at a time."""
        scope = self._scoped.scope()
        batch = Batch(scope)
        given = None if keys is None else iter(keys)
        told = False
        for operation in operations:
            item = item_of(fresh_key() if given is None else _next(given), operation)
            if not batch.takes(item):
                for outcome in self._settled(scope, batch.taken(), options, told):
                    yield outcome
                told = True
            batch.add(item)
        for outcome in self._settled(scope, batch.taken(), options, told):
            yield outcome

    def all(
        self, operations: Iterable[OperationT], keys: Iterable[str] | None, options: CallOptions
    ) -> list[Accepted | Refused]:
        """The outcomes of all of them. OutcomeUnknown carries those of earlier requests too."""
        outcomes: list[Accepted | Refused] = []
        try:
            for outcome in self.each(operations, keys, options):
                outcomes.append(outcome)  # noqa: PERF401 - what came before a failure counts
        except OutcomeUnknown as error:
            error.outcomes = (*outcomes, *error.outcomes)
            raise
        return outcomes

    def _settled(
        self, scope: Scope, items: Sequence[Item], options: CallOptions, told: bool
    ) -> list[Accepted | Refused]:
        """The outcomes of one request's items. Those answered with 503 go out again before anything later.

        Once anything was `told` or answered, whatever ends it is an OutcomeUnknown, which has the outcomes and the
        keys: nobody could tell otherwise which commands were accepted.
        """
        found: dict[int, Accepted | Refused] = {
            place: _too_large(item.key) for place, item in enumerate(items) if item.too_large
        }
        rest = [(place, item) for place, item in enumerate(items) if not item.too_large]
        ends = monotonic() + (options.get("deadline") or self._scoped.session.plan.deadline)
        rounds = 0
        while rest:
            try:
                results = self._sent(scope, [item for _, item in rest], options)
            except RelatumError as error:
                if told or rounds or isinstance(error, OutcomeUnknown):
                    raise self._unsettled(items, found) from error
                raise
            again = []
            for (place, item), result in zip(rest, results, strict=True):
                if isinstance(result, Refused) and result.status == 503 and self._scoped.session.plan.retry:
                    again.append((place, item))
                else:
                    found[place] = result
            rest, rounds = again, rounds + 1
            if rest:
                seconds = pause(rounds, draw)
                if monotonic() + seconds > ends:
                    raise self._unsettled(items, found)
                self._scoped.session.wait(seconds)
        return [found[place] for place in range(len(items))]

    def _sent(self, scope: Scope, items: Sequence[Item], options: CallOptions) -> list[Accepted | Refused]:
        content = Batch.body(scope, items)
        path, family, answers = self._door
        request: Request[Any] = Request("POST", path, path, content, answers, "command", None, family)
        answer = self._scoped.session.send(request, options)
        return [_outcome(item.key, result) for item, result in zip(items, answer.results, strict=True)]

    def _unsettled(self, items: Sequence[Item], found: dict[int, Accepted | Refused]) -> OutcomeUnknown:
        """What is left where it ends early: the outcomes before the first open one, and the keys from there on."""
        settled = []
        for place in range(len(items)):
            if place not in found:
                break
            settled.append(found[place])
        error = OutcomeUnknown(f"{self._door.path} ended early", None, self._door.family)
        error.outcomes = tuple(settled)
        error.unsettled = tuple(item.key for item in items[len(settled) :])
        return error


def _outcome(key: str, result: Any) -> Accepted | Refused:
    if result.error is msgspec.UNSET:
        return Accepted(result.receipt, key)
    return Refused(result.error.code, result.error.message, result.error.status, key)


def _too_large(key: str) -> Refused:
    return Refused("invalid_request", "the command is larger than a request may be", 413, key)


def _next(keys: Any) -> str:
    try:
        key: str = next(keys)
    except StopIteration:
        raise ValueError("there are fewer keys than operations") from None
    return key
