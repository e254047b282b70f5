"""By which instant a quiet server judges, and at which it commits, while its clock is put forward and back.

What must hold: a commit is stamped with the clock, or with the last commit before it where that is later; what is read
is judged at the clock, whatever was committed. So going back makes valid again what had expired while the clock was
ahead, and a commit by a clock that was ahead ends nothing for good.
"""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from crash_tests.clocks.wrong_clock import WrongClock
from crash_tests.command_requests import receipt_in, send
from crash_tests.event_stream import EventStream
from crash_tests.history import Command, Desk, Json
from crash_tests.registry import Registry
from crash_tests.store_clients import Ground
from crash_tests.violation import Violation, require, require_same
from crash_tests.wire import Connection

HOUR_MILLIS = 3_600_000


class Look(NamedTuple):
    """A read: the instant it was judged by, and whether it showed a record."""

    at_millis: int
    shown: bool


class Instants:
    """Asks a server that nobody else uses. Every command is entered into the ground's history."""

    def __init__(self, ground: Ground, port: int, clock: WrongClock) -> None:
        self._ground = ground
        self._port = port
        self._clock = clock
        self._desk: Desk = ground.desks[0]
        self._connection = Connection(port, self._desk.account.secret)
        told = (command.told() for command in ground.history.accepted())
        self._floor = max((receipt["committed_at_millis"] for receipt in told), default=0)
        self._latest = clock.latest()
        """The latest that the last commit can have been: exactly the floor, once a command of ours was the last."""

    def check(self) -> None:
        """Everything that must hold. Leaves the clock as it found it."""
        offset = self._clock.offset_millis
        with closing(self._connection), Registry(self._port, self._ground.admin_secret) as registry:
            expiry = self._look(self._create(None)).at_millis + HOUR_MILLIS
            record_id = self._create(expiry)
            credential_id, secret = self._issue(registry, expiry)
            self._require_usable(record_id, secret, usable=True, when="before it expires")
            self._clock.put_to(expiry + HOUR_MILLIS)
            self._require_usable(record_id, secret, usable=False, when="when the clock is put past its end")
            self._clock.put_off(offset)
            self._require_usable(record_id, secret, usable=True, when="when the clock is put back before any commit")
            with self._stream(secret) as events:
                self._clock.put_to(expiry + HOUR_MILLIS)
                self._require_cut(events, self._create(None))
                self._clock.put_off(offset)
            self._require_usable(record_id, secret, usable=True, when="when the clock is put back behind a commit")
            self._create(None)
            self._revoke(registry, credential_id)
        check_order(self._ground.history.accepted())

    # Steps

    def _create(self, valid_until_millis: int | None) -> str:
        """A record's id; when it was committed is judged, and is the floor from now on."""
        record = {"content": "kept", "valid_until_millis": valid_until_millis}
        history = self._ground.history
        command = Command(self._desk, "record", history.fresh_key(), {"type": "create", "record": record})
        history.enter(command)
        asked_at = self._clock.millis()
        answer = send(self._connection, command)
        require(answer.status == 200, f"a record could not be made under a wrong clock: {answer.body!r}")
        self._ground.accept(command, receipt_in(answer))
        told: Json = command.told()
        self._require_instant("a commit", told["committed_at_millis"], asked_at)
        self._floor = self._latest = told["committed_at_millis"]
        return str(told["record_id"])

    def _issue(self, registry: Registry, expiry: int) -> tuple[str, str]:
        """A credential that ends at an instant: its id and secret."""
        spec: Json = {"subject_id": "guest", "capabilities": ["memory_read"], "grants": [self._desk.scope]}
        self._ground.badges.in_doubt += 1
        answer = registry.issue(spec | {"expires_at_millis": expiry})
        require(answer.status == 201, f"a credential could not be issued under a wrong clock: {answer.body!r}")
        told = answer.json()
        badge = self._ground.badges.issued(told)
        assert badge.secret is not None
        self._floor = self._latest = told["credential"]["history"][-1]["at_millis"]
        return badge.credential_id, badge.secret

    def _revoke(self, registry: Registry, credential_id: str) -> None:
        answer = registry.change(credential_id, "revoke", 1)
        require(answer.status == 200, f"an expired credential could not be revoked: {answer.body!r}")
        badge = next(one for one in self._ground.badges.known if one.credential_id == credential_id)
        badge.changed("revoke", None)

    def _look(self, record_id: str) -> Look:
        """What a read shows of a record; by which instant is judged."""
        asked_at = self._clock.millis()
        path = "/api/v1/memory/records/batch"
        answer = self._connection.post(path, self._desk.body(record_ids=[record_id]))
        require(answer.status == 200, f"a read under a wrong clock was answered with {answer.body!r}")
        batch = answer.json()["batch"]
        at_millis = batch["evaluated_at_millis"]
        require(asked_at <= at_millis <= self._clock.millis(), f"a read under a clock at {asked_at} was at {at_millis}")
        return Look(batch["evaluated_at_millis"], batch["entries"][0]["record"] is not None)

    def _stream(self, secret: str) -> EventStream:
        """All changes, told to the holder of a secret."""
        return EventStream(self._port, secret, "/api/v1/memory/records/changes/stream", self._desk.body())

    # Judgements

    def _require_instant(self, what: str, millis: int, asked_at: int) -> None:
        """Between the clock when it was asked for and now, or the last commit where that is later."""
        require(
            max(self._floor, asked_at) <= millis <= max(self._latest, self._clock.millis()),
            f"{what} under a clock at {asked_at}, after a commit at {self._floor}, has the time {millis}",
        )

    def _require_usable(self, record_id: str, secret: str, *, usable: bool, when: str) -> None:
        require_same(f"whether a record is shown {when}", usable, self._look(record_id).shown)
        with closing(Connection(self._port, secret)) as connection:
            status = connection.get("/api/v1/identity").status
        require_same(f"the answer to a credential {when}", 200 if usable else 401, status)

    def _require_cut(self, events: EventStream, record_id: str) -> None:
        """The stream of a credential that has expired says so, and does not tell of what was committed then."""
        require(events.refusal is None, f"a credential that is valid again was refused a stream: {events.refusal}")
        while (event := events.next()) is not None:
            if event.name == "":
                require(
                    event.data["change"]["record_id"] != record_id, "an expired credential was told of a later commit"
                )
            if event.name == "resync":
                require_same("why a stream ends whose credential expired", {"code": "unauthorized"}, event.data)
                return
        raise Violation("the stream of a credential that expired ended without a word")


def check_order(accepted: list[Command]) -> None:
    """No two objects have one id, and ids begin with the time of the commit that made them."""
    made: dict[str, Command] = {}
    for command in accepted:
        receipt = command.told()
        if receipt["revision"] != 1 or not command.changed:
            continue
        object_id = receipt[f"{command.family}_id"]
        other = made.setdefault(object_id, command)
        require(other is command, f"{command.name} and {other.name} made objects of one id, {object_id}")
        began = int(object_id.replace("-", "")[:12], 16)
        require_same(f"the time in the id that {command.name} made", receipt["committed_at_millis"], began)
