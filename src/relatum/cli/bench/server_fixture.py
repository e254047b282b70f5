"""Where measurements over HTTP are made: a store, its server, a load generator, and the echo beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from relatum.cli.bench.floors.echo import Answer, Decoded, write_answers
from relatum.cli.bench.load.generator import Generator, MeasurementFailed
from relatum.cli.bench.load.job import Outcome
from relatum.cli.bench.processes import Served, echoing, serving
from relatum.cli.bench.store_fixture import Stage

BATCH: Final = 256
BATCH_CONNECTIONS: Final = 4
"""Batches come over few connections: enough that one is decided while another is decoded."""
FILLED_TOGETHER: Final = 64
"""Batches of a step: the requests that make a large store are never all in memory."""

_REFUSED: Final = b'"error":{'


class Desk:
    """One server on one store. Commands come by in an order that is the same on every run."""

    def __init__(self, stage: Stage, served: Served, generator: Generator, keys: str) -> None:
        self.stage = stage
        self.served = served
        self.assertions = stage.assertions(keys)
        self._generator = generator

    def load(self, requests: Sequence[bytes], connections: int, *, count: int | None = None) -> Outcome:
        """Sends requests to the ledger's server."""
        return self.load_elsewhere(self.served, requests, connections, count)

    def load_elsewhere(
        self, served: Served, requests: Sequence[bytes], connections: int, count: int | None = None
    ) -> Outcome:
        """Sends requests to another server."""
        before = served.processor_seconds
        outcome = self._generator.run(served.address, requests, connections, count=count)
        return replace(outcome, server_processor_seconds=served.processor_seconds - before)

    def answers(self, requests: Sequence[bytes], connections: int = 1) -> list[bytes]:
        """The bodies of the answers; over more than one connection in any order."""
        outcome = self._generator.run(self.served.address, requests, connections, keep_answers=True)
        return list(outcome.answers)

    def singles(self, count: int) -> list[bytes]:
        """Requests of one relation command each."""
        return [self.stage.single(command) for command in self.assertions.take(count)]

    def batches(self, count: int, size: int) -> list[bytes]:
        """Requests of `size` relation commands each."""
        return [self.stage.batch(self.assertions.take(size)) for _ in range(count)]

    def relate(self, count: int) -> list[str]:
        """Relations that exist from now on: their ids."""
        return [
            result["receipt"]["relation_id"] for answer in self._related(count) for result in decoded(answer)["results"]
        ]

    def fill(self, count: int, told: Callable[[int], None]) -> None:
        """The same, for a store so large that nobody wants to know all ids; `told` hears now and then how many."""
        batches = -(-count // BATCH)
        for number, _ in enumerate(self._related(count), 1):
            if number % FILLED_TOGETHER == 0 or number == batches:
                told(min(number * BATCH, count))

    def _related(self, count: int) -> Iterator[bytes]:
        """The answers to batches of commands, in any order, all of which were accepted."""
        sizes = [min(BATCH, count - start) for start in range(0, count, BATCH)]
        for step in range(0, len(sizes), FILLED_TOGETHER):
            requests = [self.stage.batch(self.assertions.take(size)) for size in sizes[step : step + FILLED_TOGETHER]]
            for answer in self.answers(requests, BATCH_CONNECTIONS):
                if _REFUSED in answer:
                    raise MeasurementFailed("the ledger refused a command of the benchmark")
                yield answer

    @contextmanager
    def echo(self, scratch: Path, *asked: tuple[Decoded, str, bytes]) -> Iterator[Served]:
        """The echo of what this server answers, each by the kind of its body, its path and a request for it."""
        answers = {
            f"/api/v1/memory/{path}": Answer(kind, self.answers([request])[0].decode()) for kind, path, request in asked
        }
        with echoing(write_answers(scratch / f"{self.stage.directory.name}-echo.json", answers)) as served:
            yield served


@contextmanager
def desk(directory: Path, *options: str) -> Iterator[Desk]:
    """A new store, and everything that is needed to put load on its server, which is given `options`."""
    with served_desk(Stage.make(directory), options=options) as made:
        yield made


@contextmanager
def served_desk(stage: Stage, keys: str = "bench", options: Sequence[str] = ()) -> Iterator[Desk]:
    """The same on a store that exists, which nobody serves. `keys` begins the keys of commands, which must be new."""
    with ExitStack() as stack:
        served = stack.enter_context(serving(stage.directory, *options))
        yield Desk(stage, served, stack.enter_context(Generator()), keys)


def decoded(body: bytes) -> Any:
    """The body of an answer."""
    return msgspec.json.decode(body)
