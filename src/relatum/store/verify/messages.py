"""How tasks and answers travel through a pipe: MessagePack behind its length."""

from __future__ import annotations

from struct import Struct as Packed
from typing import IO, Final

import msgspec
from msgspec import Struct

from relatum.store.verify.tasks import Result, Task

_LENGTH: Final = Packed(">I")
_ENCODER: Final = msgspec.msgpack.Encoder()


class Failed(Struct, frozen=True, tag=True):
    """The store could not be read, or there is a `fault` in the program itself; the message is for the operator."""

    message: str
    fault: bool = False


class Done(Struct, frozen=True, tag=True):
    """A task was done."""

    result: Result


_TASK: Final = msgspec.msgpack.Decoder(Task)
_ANSWER: Final = msgspec.msgpack.Decoder(Done | Failed)


def write_task(pipe: IO[bytes], task: Task) -> None:
    """Sends a task. Raises OSError where nobody reads any more."""
    _write(pipe, _ENCODER.encode(task))


def read_task(pipe: IO[bytes]) -> Task | None:
    """The next task; None at the end."""
    message = _read(pipe)
    return None if message is None else _TASK.decode(message)


def write_answer(pipe: IO[bytes], answer: Done | Failed) -> None:
    """Sends an answer."""
    _write(pipe, _ENCODER.encode(answer))


def read_answer(pipe: IO[bytes]) -> Done | Failed | None:
    """The next answer; None at the end."""
    message = _read(pipe)
    return None if message is None else _ANSWER.decode(message)


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None
