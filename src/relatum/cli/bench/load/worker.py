"""The process of the load generator: jobs come in on standard input, outcomes go out on standard output.

    python -m relatum.cli.bench.load.worker

A message is four bytes of length, big endian, and a struct in MessagePack.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from itertools import cycle, islice
from time import perf_counter, process_time
from typing import IO

import msgspec
import uvloop

from relatum.cli.bench.load.connection import Connection, UnexpectedAnswer
from relatum.cli.bench.load.job import Failed, Job, Outcome

LENGTH_BYTES = 4


def main() -> None:
    """Do one job after another until the input ends."""
    decoder = msgspec.msgpack.Decoder(Job)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        while (message := read_message(sys.stdin.buffer)) is not None:
            write_message(sys.stdout.buffer, msgspec.msgpack.encode(runner.run(_done(decoder.decode(message)))))


def read_message(stream: IO[bytes]) -> bytes | None:
    """The next message; None where the stream has ended."""
    length = stream.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    return stream.read(int.from_bytes(length, "big"))


def write_message(stream: IO[bytes], message: bytes) -> None:
    """One message, at once."""
    stream.write(len(message).to_bytes(LENGTH_BYTES, "big") + message)
    stream.flush()


async def _done(job: Job) -> Outcome | Failed:
    try:
        return await _outcome(job)
    except UnexpectedAnswer as error:
        return Failed(str(error), error.answer)
    except OSError:
        return Failed("the server could not be reached, or ended a connection")


async def _outcome(job: Job) -> Outcome:
    loop = asyncio.get_running_loop()
    requests = islice(cycle(job.requests), job.count)
    latencies: list[float] = []
    answers: list[bytes] | None = [] if job.keep_answers else None
    connections: list[Connection] = []
    for _ in range(job.connections):
        _, connection = await loop.create_connection(
            lambda: Connection(requests, latencies, answers), job.host, job.port
        )
        connections.append(connection)
    gc.collect()
    gc.disable()  # no pause of the generator's own may look like one of the server
    try:
        started, processor_started = perf_counter(), process_time()
        for connection in connections:
            connection.begin()
        await asyncio.gather(*(connection.finished for connection in connections))
        seconds, processor_seconds = perf_counter() - started, process_time() - processor_started
    finally:
        gc.enable()
        for connection in connections:
            connection.close()
    return Outcome(
        seconds=seconds,
        processor_seconds=processor_seconds,
        latencies=tuple(latencies),
        answers=tuple(answers or ()),
    )


if __name__ == "__main__":
    main()
