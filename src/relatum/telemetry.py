"""What the process says about itself: metrics for machines, log lines for people.

Here: one `Metrics` with a registry of its own, and one `Log` that writes a JSON object a line. Not here: decisions on
what is worth telling, which the rooms take, and the time of day, which a `Log` is handed as a function.

Always holds: nothing is global, so two ledgers of one process count apart. Labels come from closed sets (a route is its
template, never a path that a client sent), so the number of series is bounded. A log message is a static text and what
varies lies in attributes beside it; an attribute named after a secret or a payload is withheld; a line that can't be
written is dropped and stops nobody.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import PurePath
from typing import Final, Generic, Literal, Protocol, TextIO, TypeVar, get_args

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics import MetricWrapperBase

Level = Literal["debug", "info", "warning", "error"]
Scalar = str | int | float | bool | None
StorageCause = Literal["disk_full", "quota_exceeded", "file_too_large", "read_only", "io_error", "other"]

METRICS_CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

_CAUSES: Final[dict[int, StorageCause]] = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "quota_exceeded",
    errno.EFBIG: "file_too_large",
    errno.EROFS: "read_only",
    errno.EIO: "io_error",
}

_ATTRIBUTE_CHARACTERS_MAX: Final = 1024
_FRAMES_MAX: Final = 12
_WITHHELD: Final = "[withheld]"
_PRIVATE: Final = ("authorization", "content", "password", "payload", "secret", "token")
_RANKS: Final[dict[str, int]] = {level: rank for rank, level in enumerate(get_args(Level))}

_SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_GROUP_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)

MetricT = TypeVar("MetricT", bound=MetricWrapperBase)


class WriteSpans(Protocol):
    """Traces what the writer does for commands; it is told nothing of what they say."""

    def queued(self) -> object:
        """A command begins to wait for the writer; what is answered stands for its wait."""

    def committing(self, queued: Sequence[object]) -> AbstractContextManager[None]:
        """A group has taken those that waited; within it, they are committed and answered."""


class Labelled(Generic[MetricT]):
    """A metric with labels whose children are looked up once: a hot increment costs a dictionary look-up more."""

    def __init__(self, metric: MetricT) -> None:
        self._metric = metric
        self._children: dict[tuple[str, ...], MetricT] = {}

    def __call__(self, *labels: str) -> MetricT:
        """The child for these label values, in the order the metric declares its labels."""
        child = self._children.get(labels)
        if child is None:
            child = self._children[labels] = self._metric.labels(*labels)
        return child


class Metrics:
    """Every metric of one ledger. Any thread may count; a count under load costs less than a microsecond.

    A gauge is set where its value changes, or given a function (`set_function`) that is asked at each `render`.
    """

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=registry)

        def histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = _SECONDS) -> Histogram:
            return Histogram(name, text, labels, buckets=buckets, registry=registry)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(name, text, registry=registry)

        self.commands = Labelled(counter("relatum_commands_total", "Accepted commands.", "family", "action"))
        self.refusals = Labelled(counter("relatum_refusals_total", "Refused commands and requests.", "code"))
        self.replays = counter("relatum_replays_total", "Commands answered from a stored receipt.")
        self.syncs = counter("relatum_syncs_total", "Completed syncs of the store.")
        self.groups = counter("relatum_groups_total", "Groups of commands committed together.")
        self.group_commands = histogram("relatum_group_commands", "Commands in a group.", buckets=_GROUP_SIZES)
        self.sync_seconds = histogram("relatum_sync_seconds", "Duration of a sync.")
        self.requests = Labelled(counter("relatum_requests_total", "Answered requests.", "route", "status"))
        self.request_seconds = Labelled(histogram("relatum_request_seconds", "Duration of a request.", "route"))
        self.loop_delay_seconds = histogram("relatum_loop_delay_seconds", "How late the event loop ran what was due.")
        self.loop_delay_longest = gauge("relatum_loop_delay_longest_seconds", "The longest delay since the start.")
        self.write_queue = gauge("relatum_write_queue", "Commands waiting for the writer.")
        self.slots_in_use = gauge("relatum_slots_in_use", "Admission slots taken.")
        self.streams = gauge("relatum_streams", "Change feeds being followed.")
        self.connections = gauge("relatum_connections", "Connections held.")
        self.connections_dropped = Labelled(
            counter("relatum_connections_dropped_total", "Connections that were ended at once.", "cause")
        )
        self.storage_failures = Labelled(
            counter("relatum_storage_failures_total", "Failures of the disk that have stopped all writes.", "cause")
        )
        self.poisoned = gauge("relatum_poisoned", "1 once a storage failure has stopped all writes, else 0.")
        self.position = gauge("relatum_position", "The published position of the store.")
        self.ballast_bytes = gauge("relatum_ballast_bytes", "Room on the disk that is held back for an orderly stop.")
        self.scrub_rows = counter("relatum_scrub_rows_total", "Stored rows that the scrub has checked.")
        self.scrub_progress = gauge("relatum_scrub_progress", "How much of its present pass is done, from 0 to 1.")
        self.scrub_passes = counter("relatum_scrub_passes_total", "Passes of the scrub over the whole store.")
        self.scrub_findings = counter("relatum_scrub_findings_total", "Findings of all passes of the scrub.")
        self.scrub_failures = counter("relatum_scrub_failures_total", "Passes that a failure cut short.")
        self.scrub_ended = gauge("relatum_scrub_end_timestamp_seconds", "When the last pass ended; 0 before the first.")
        ProcessCollector(registry=registry)  # memory, processor time, open files: under the names that everybody uses

    def render(self) -> bytes:
        """All metrics as Prometheus text of `METRICS_CONTENT_TYPE`."""
        return generate_latest(self._registry)


class Log:
    """Writes lines `{"at_millis", "level", "message", …attributes}` of at least `level` to `stream`, from any thread.

    Without a stream, as `sys.stderr` of a process that was started without it, nothing is written. `millis` answers
    the time of day; a member of that name, `level` or `message` can't be overridden by an attribute.
    """

    def __init__(self, stream: TextIO | None, millis: Callable[[], int], level: Level = "info") -> None:
        self._stream = stream
        self._millis = millis
        self._rank = _RANKS[level]
        self._writing = threading.Lock()

    def debug(self, message: str, /, **attributes: Scalar) -> None:
        """For whoever looks for a fault."""
        self._write("debug", message, attributes)

    def info(self, message: str, /, **attributes: Scalar) -> None:
        """Something an operator expects: opened, ready, draining, closed."""
        self._write("info", message, attributes)

    def warning(self, message: str, /, **attributes: Scalar) -> None:
        """Something an operator should look at, while the service goes on."""
        self._write("warning", message, attributes)

    def error(self, message: str, /, **attributes: Scalar) -> None:
        """Something that costs service until somebody acts."""
        self._write("error", message, attributes)

    def failure(self, message: str, error: BaseException, /, **attributes: Scalar) -> None:
        """An exception, by its type and the places it passed, innermost last: its own text may quote a payload."""
        self._write("error", message, attributes | describe_exception(error))

    def _write(self, level: Level, message: str, attributes: dict[str, Scalar]) -> None:
        if self._stream is None or _RANKS[level] < self._rank:
            return
        head: dict[str, Scalar] = {"at_millis": self._millis(), "level": level, "message": message}
        line = head | {name: _shown(name, value) for name, value in attributes.items()} | head
        text = json.dumps(line, separators=(",", ":"), default=lambda value: type(value).__name__)
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._stream.write(text + "\n")
            self._stream.flush()


def describe_exception(error: BaseException) -> dict[str, Scalar]:
    """`error` as attributes of a log line, without its text: its type, and its trace as `file:line function > …`.

    Where the operating system refused something, its number, its name and a word for it.
    """
    told: dict[str, Scalar] = {"error_type": type(error).__qualname__, "error_trace": _places(error)}
    cause, number = storage_cause(error)
    return told if number is None else told | {"cause": cause, "errno": number, "errno_name": errno.errorcode[number]}


def storage_cause(error: BaseException) -> tuple[StorageCause, int | None]:
    """Why the operating system refused something, in a word, and its number; `other` where it is not the one to blame.

    It is looked for in all that led to `error`; the engine tells it only in the words of the system.
    """
    each: BaseException | None = error
    while each is not None:
        number = each.errno if isinstance(each, OSError) else _errno_told(str(each))
        if number is not None and number in errno.errorcode:
            return _CAUSES.get(number, "other"), number
        each = each.__cause__ or each.__context__
    return "other", None


def _errno_told(text: str) -> int | None:
    return next((number for number in _CAUSES if os.strerror(number) in text), None)


def _places(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_MAX:]
    return " > ".join(
        f"{'/'.join(PurePath(frame.filename).parts[-3:])}:{frame.lineno} {frame.name}" for frame in frames
    )


def fault_of(error: BaseException) -> str:
    """`error` in a few words, without its text: its type, and where it was raised."""
    told = describe_exception(error)
    return f"{told['error_type']} at {str(told['error_trace']).rpartition(' > ')[2]}"


def _shown(name: str, value: Scalar) -> Scalar:
    if any(word in name.lower() for word in _PRIVATE):
        return _WITHHELD
    return value[:_ATTRIBUTE_CHARACTERS_MAX] if isinstance(value, str) else value


class LibraryLog(logging.Handler):
    """Carries what a library says through the standard `logging` into a `Log`.

    The template of a record becomes the message and its arguments are left out, since nobody here vouches for them.
    """

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record of a library."""
        failure = record.exc_info[1] if record.exc_info else None
        attributes: dict[str, Scalar] = {"logger": record.name}
        if failure:
            attributes |= describe_exception(failure)
        if record.levelno >= logging.ERROR:
            self._log.error(str(record.msg), **attributes)
        elif record.levelno >= logging.WARNING:
            self._log.warning(str(record.msg), **attributes)
        else:
            self._log.debug(str(record.msg), **attributes)
