"""What the libraries have to say, in the words that may be said.

Always holds: while a server runs, nothing of a library or of the interpreter writes to the log or to standard error by
itself. Of an exception its type and the places it passed are told, never its text, which may quote what a client sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from relatum.telemetry import LibraryLog, Log

_LIBRARIES: Final = ("uvicorn", "asyncio", "mcp")


@contextlib.contextmanager
def told_in(log: Log) -> Iterator[None]:
    """What the libraries and the interpreter say goes into `log`."""
    with _loggers(log), _hooks(log):
        yield


def unhandled_in(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """What an event loop does with an exception that nobody took; by itself it would print what was at hand."""

    def tell(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        _tell(log, "an exception was not taken by anybody", context.get("exception"))

    return tell


@contextlib.contextmanager
def _loggers(log: Log) -> Iterator[None]:
    handler = LibraryLog(log)
    for name in _LIBRARIES:
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name in _LIBRARIES:
            logging.getLogger(name).removeHandler(handler)


@contextlib.contextmanager
def _hooks(log: Log) -> Iterator[None]:
    threads, unraisable = threading.excepthook, sys.unraisablehook
    threading.excepthook = lambda found: _tell(log, "a thread has ended by an exception", found.exc_value)
    sys.unraisablehook = lambda found: _tell(log, "an exception could not be raised", found.exc_value)
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = threads, unraisable


def _tell(log: Log, message: str, error: BaseException | None) -> None:
    if error is None:
        log.error(message)
    else:
        log.failure(message, error)
