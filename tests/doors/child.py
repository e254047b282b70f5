"""The program with faults of its own, in a process of its own: `python -m tests.doors.child serve DIRECTORY …`.

Where a text that a client sent holds `FAULT:NAME`, something goes wrong, and the exception quotes that text, as many a
real one does.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, NoReturn

from relatum.cli import main
from relatum.errors import StorageFailure
from relatum.http import decoding
from relatum.ledger.reads import credentials, record_query
from relatum.ledger.writer.group import Group
from relatum.store.database import Database


class Unlucky:
    """An object whose end is an exception."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __del__(self) -> None:
        fail(self._text)


def fail(text: str) -> NoReturn:
    raise RuntimeError(text)


async def fail_later(text: str) -> None:
    fail(text)


def fail_in_task(text: str) -> None:
    asyncio.get_running_loop().create_task(fail_later(text), name=text)


AT_DECODING: Final[dict[str, Callable[[str], object]]] = {
    "decoder": fail,
    "task": fail_in_task,
    "callback": lambda text: asyncio.get_running_loop().call_soon(fail, text),
    "thread": lambda text: threading.Thread(target=fail, args=(text,), name=text).start(),
    "end": Unlucky,
}
DEEPER: Final = ("authentication", "scan", "command", "storage")
FAULTS: Final = (*AT_DECODING, *DEEPER)


def before(where: type | Any, name: str, look: Callable[..., None]) -> None:
    """Call `look` with the arguments of a function before the function itself."""
    function = getattr(where, name)

    def both(*arguments: Any, **options: Any) -> Any:
        look(*arguments)
        return function(*arguments, **options)

    setattr(where, name, both)


def at_decoding(_decoder: object, body: bytes) -> None:
    text = body.decode(errors="replace")
    for name, fault in AT_DECODING.items():
        if f"FAULT:{name}" in text:
            fault(text)


def look_for(name: str, kind: Callable[[str], Exception] = RuntimeError) -> Callable[..., None]:
    def look(*arguments: object) -> None:
        text = repr(arguments[1:])
        if f"FAULT:{name}" in text:
            raise kind(text)

    return look


def plant() -> None:
    before(decoding.BodyDecoder, "decode", at_decoding)
    before(record_query, "query", look_for("scan"))
    before(credentials, "authenticate", look_for("authentication"))
    before(Group, "_decide", look_for("command"))
    before(Database, "commit", look_for("storage", StorageFailure))


if __name__ == "__main__":
    plant()
    main(sys.argv[1:], prog_name="relatum")
