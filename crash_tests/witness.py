"""A restarted server, asked: receipts, replays, queries, revisions, streams and graphs, as clients see them.

What always holds: whatever is asked must be answered; an answer that a healthy server does not give is a violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any, Self

from crash_tests.command_requests import activate, receipt_in, results_in, send, send_batch
from crash_tests.event_stream import Event, EventStream
from crash_tests.history import Account, Command, Desk, Json, Owner, Stream
from crash_tests.violation import require
from crash_tests.wire import Connection, Response
from relatum.limits import BATCH_BODY_BYTES_MAX, COMMAND_BATCH_MAX

_ENVELOPE_BYTES = 200


class Witness:
    """One connection for each account. A context manager."""

    def __init__(self, port: int, accounts: list[Account]) -> None:
        self._port = port
        self._connections = {account: Connection(port, account.secret) for account in accounts}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    def receipt_of(self, command: Command) -> bytes | None:
        """The receipt under a command's key, as it comes; None where there is none."""
        family, key = command.family, command.idempotency_key
        response = self._post(command.desk, "receipts/read", family=family, idempotency_key=key)
        if response.status == 404 and response.code == "record_not_found":
            return None
        return receipt_in(_require_ok(response))

    def send(self, command: Command) -> bytes | str:
        """A command, sent again by itself: its receipt, or the code of its refusal."""
        response = send(self._connection(command.desk), command)
        return receipt_in(response) if response.status == 200 else response.code

    def send_all(self, commands: Iterable[Command]) -> Iterator[tuple[Command, bytes | str]]:
        """The same for many, in few batches."""
        for batch in _batches(commands):
            results = results_in(_require_ok(send_batch(self._connection(batch[0].desk), batch)))
            require(len(results) == len(batch), f"a batch of {len(batch)} has {len(results)} results")
            for command, result in zip(batch, results, strict=True):
                yield command, result.error["code"] if result.error else bytes(result.receipt)

    def all(self, desk: Desk, family: str) -> tuple[list[Json], int]:
        """Every object that a query shows, and the instant that its last page was evaluated at."""
        found: list[Json] = []
        cursor = None
        while True:
            asked = {"limit": 100, "scan_limit": 10_000, "order": "created_asc", "cursor": cursor}
            page = self._ask(desk, f"{family}s/query", filter=asked)["page"]
            found += page[f"{family}s"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found, page["evaluated_at_millis"]

    def changes(self, desk: Desk, stream: Stream, after: Json | None) -> tuple[Json | None, list[Json]]:
        """Where a stream begins, and every change after a cursor with the cursor behind each."""
        found: list[Json] = []
        while True:
            page = self._ask(desk, f"{stream}s/changes", query={"limit": 256, "after": after})["page"]
            found += page["changes"]
            after = page["next_cursor"]
            if page["complete"]:
                return page["baseline"], found

    def events(self, desk: Desk, stream: Stream, last_event_id: str, through: Json) -> list[Event]:
        """Every event that a client which resumes is sent, up to a fence."""
        path = f"/api/v1/memory/{stream}s/changes/stream"
        body = desk.body(query={"through": through})
        with EventStream(self._port, desk.account.secret, path, body, last_event_id) as events:
            require(events.refusal is None, f"a stream that is resumed was refused with {events.refusal}")
            return events.rest()

    def activate(self, desk: Desk, stream: Stream) -> Json:
        """The baseline that an activation answers."""
        baseline: Json = _require_ok(activate(self._connection(desk), desk, stream)).json()["baseline"]
        return baseline

    def checkpoint(self, owner: Owner) -> Json | None:
        """What a consumer has saved; None if it has saved nothing."""
        response = self._post(owner.desk, f"{owner.stream}s/checkpoints/read", consumer_id=owner.consumer_id)
        if response.status == 404 and response.code == "checkpoint_not_found":
            return None
        checkpoint: Json = _require_ok(response).json()["checkpoint"]
        return checkpoint

    def checkpoint_receipt(self, owner: Owner, revision: int) -> bytes | None:
        """The receipt of one revision of a checkpoint, as it comes; None if there is none."""
        path = f"{owner.stream}s/checkpoints/revision"
        response = self._post(owner.desk, path, consumer_id=owner.consumer_id, revision=revision)
        if response.status == 404 and response.code == "checkpoint_not_found":
            return None
        return receipt_in(_require_ok(response))

    def diagnosis(self, owner: Owner, place: Json | None) -> Json:
        """Where a consumer stands, given a cursor that it holds."""
        path = f"{owner.stream}s/consumers/diagnose"
        diagnostics: Json = self._ask(owner.desk, path, consumer_id=owner.consumer_id, witness=place)["diagnostics"]
        return diagnostics

    def graph(self, desk: Desk, **query: Any) -> Json:
        """A typed graph."""
        graph: Json = self._ask(desk, "graph/typed", query=query)["graph"]
        return graph

    def revision(self, desk: Desk, family: str, object_id: str, revision: int) -> Json:
        """An object at one revision, and the receipt that brought it there."""
        target = {f"{family}_id": object_id, "revision": revision}
        history: Json = self._ask(desk, f"{family}s/revision", **target)["history"]
        return history

    def _ask(self, desk: Desk, route: str, **members: Any) -> Json:
        return _require_ok(self._post(desk, route, **members)).json()

    def _post(self, desk: Desk, route: str, **members: Any) -> Response:
        return self._connection(desk).post(f"/api/v1/memory/{route}", desk.body(**members))

    def _connection(self, desk: Desk) -> Connection:
        return self._connections[desk.account]


def _batches(commands: Iterable[Command]) -> Iterator[list[Command]]:
    """Commands by desk and family, as many at once as a batch may hold."""
    groups: dict[tuple[Desk, str], list[Command]] = {}
    for command in commands:
        groups.setdefault((command.desk, command.family), []).append(command)
    for group in groups.values():
        rest = iter(group)
        while batch := list(islice(rest, COMMAND_BATCH_MAX)):
            yield from _halved(batch)


def _halved(batch: list[Command]) -> Iterator[list[Command]]:
    """`batch`, in as many halves as make each a body of the permitted size."""
    size = sum(len(command.desk.body(operation=command.operation)) + _ENVELOPE_BYTES for command in batch)
    if size < BATCH_BODY_BYTES_MAX or len(batch) == 1:
        yield batch
        return
    middle = len(batch) // 2
    yield from _halved(batch[:middle])
    yield from _halved(batch[middle:])


def _require_ok(response: Response) -> Response:
    require(response.status == 200, f"what must succeed was answered with {response.status} {response.body[:600]!r}")
    return response
