"""The load generator answers for every request it was given, and takes nothing else than success for an answer."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from relatum.cli.bench.floors.echo import Answer, write_answers
from relatum.cli.bench.load.generator import Generator, MeasurementFailed
from relatum.cli.bench.processes import echoing
from relatum.cli.bench.store_fixture import Stage

SECONDS_MAX = 60.0


@pytest.fixture(scope="module")
def generator() -> Iterator[Generator]:
    with Generator() as made:
        yield made


@contextmanager
def answering(serve: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """A server for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS_MAX)

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(SECONDS_MAX)
                serve(connection)

        thread = Thread(target=accept)
        thread.start()
        try:
            host, port = listener.getsockname()
            yield host, port
        finally:
            thread.join(SECONDS_MAX)


def test_every_request_is_answered_once_over_any_number_of_connections(generator: Generator, tmp_path: Path) -> None:
    stage = Stage.make(tmp_path / "store", 4)
    requests = [stage.single(command) for command in stage.assertions().take(10)]
    answers = write_answers(tmp_path / "answers", {"/api/v1/memory/relations/commands": Answer("command", "{}")})
    with echoing(answers) as server:
        outcome = generator.run(server.address, requests, 3, keep_answers=True)
        assert (10, (b"{}",) * 10) == (len(outcome.latencies), outcome.answers)
        again = generator.run(server.address, requests, 64, count=25)
        assert 25 == len(again.latencies)
        assert 0 < again.latency_millis(50) <= again.latency_millis(99)


def test_an_answer_that_comes_in_pieces_is_one_answer(generator: Generator) -> None:
    def in_pieces(connection: socket.socket) -> None:
        for _ in range(2):
            connection.recv(65_536)
            for piece in (b"HTTP/1.1 200 OK\r\ncontent-le", b"ngth: 5\r\n", b"\r", b"\nhel", b"lo"):
                connection.sendall(piece)

    with answering(in_pieces) as address:
        outcome = generator.run(address, [b"x"], 1, count=2, keep_answers=True)
    assert (b"hello", b"hello") == outcome.answers


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\nno", b"HTTP/1.1 200 OK\r\n\r\n", b""]
)
def test_whatever_is_no_success_fails_the_measurement(generator: Generator, answer: bytes) -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(answer)

    with answering(once) as address, pytest.raises(MeasurementFailed) as failed:
        generator.run(address, [b"x"], 1)
    assert answer.decode() in str(failed.value)


def test_a_server_that_is_not_there_fails_the_measurement(generator: Generator) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = listener.getsockname()[:2]
    with pytest.raises(MeasurementFailed, match="could not be reached"):
        generator.run(gone, [b"x"], 1)


def test_a_generator_whose_measurement_failed_measures_the_next_one(generator: Generator) -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    with answering(lambda connection: None) as address, pytest.raises(MeasurementFailed):
        generator.run(address, [b"x"], 1)
    with answering(once) as address:
        assert 1 == len(generator.run(address, [b"x"], 1).latencies)
