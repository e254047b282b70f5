"""A thread that does the rare things: it issues and changes throw-away credentials, and activates streams.

What always holds: whatever may be done by a request is entered before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from crash_tests.command_requests import activate, require_unavailable
from crash_tests.event_stream import Event, EventStream
from crash_tests.history import STREAMS, Desk, Json, Stream
from crash_tests.registry import Change, Registry
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.throwaway_credentials import Badge
from crash_tests.violation import require, require_same
from crash_tests.wire import Connection, Response
from crash_tests.worker import until_gone
from relatum.core.ids import Scope


class Clerk:
    """One thread's work. `pace` waits until it is time for the next step, and says False when there is none."""

    def __init__(self, ground: Ground, server: Server, random: Random, pace: Callable[[], bool]) -> None:
        self._ground = ground
        self._server = server
        self._random = random
        self._pace = pace
        self._registry = Registry(server.port, ground.admin_secret)
        self._connections = {account: Connection(server.port, account.secret) for account in ground.accounts}

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        with until_gone(self._server, self._connections.values()), self._registry:
            while self._pace() and not is_over():
                self._step()

    def _step(self) -> None:
        chosen, badge = self._random.random(), self._some_badge()
        if chosen < 0.30 or badge is None:
            self._issue()
        elif chosen < 0.45:
            self._change(badge, "rotate")
        elif chosen < 0.52:
            self._change(badge, "scope-authority")
        elif chosen < 0.60:
            self._change(badge, "revoke")
        elif chosen < 0.70:
            self._revoke_while_it_follows(badge)
        elif chosen < 0.90 or not self._ground.activated:
            self._activate(self._fresh_desk(), self._random.choice(STREAMS))
        else:
            self._activate(*self._random.choice(self._ground.activated))

    # Credentials

    def _some_badge(self) -> Badge | None:
        some = [badge for badge in self._ground.badges.known if not badge.revoked and badge.doubt is None]
        return self._random.choice(some) if some else None

    def _issue(self) -> None:
        badges = self._ground.badges
        scope = self._ground.desks[0].scope
        subject_id = f"visitor {len(badges.known)}"
        badges.in_doubt += 1
        answer = self._registry.issue({"subject_id": subject_id, "capabilities": ["memory_read"], "grants": [scope]})
        if self._was_answered("the issue of a credential", answer, 201):
            badges.issued(answer.json())

    def _change(self, badge: Badge, change: Change) -> Json | None:
        """The credential as it is then; None while that is in doubt."""
        badge.doubt = change
        answer = self._registry.change(badge.credential_id, change, len(badge.actions))
        if not self._was_answered(f"the {change} of credential {badge.credential_id}", answer, 200):
            return None
        told = answer.json()
        badge.changed(change, told.get("secret"))
        credential: Json = told["credential"]
        return credential

    def _revoke_while_it_follows(self, badge: Badge) -> None:
        if badge.secret is None:
            return
        path, body = "/api/v1/memory/relations/changes/stream", self._ground.desks[0].body()
        with EventStream(self._server.port, badge.secret, path, body) as events:
            if events.refusal is not None:
                self._was_answered("a stream of a credential", events.refusal, 200)
                return
            credential = self._change(badge, "revoke")
            if credential is not None:
                check_end(iter(events.next, None), credential["revoked_at_millis"], self._server)

    # Streams

    def _fresh_desk(self) -> Desk:
        """A scope that nobody has used."""
        scope = Scope(project_id="drafts", agent_id=f"agent {len(self._ground.activated)}", visibility="shared")
        return Desk(self._random.choice(self._ground.accounts), scope)

    def _activate(self, desk: Desk, stream: Stream) -> None:
        if (desk, stream) not in self._ground.activated:
            self._ground.activated.append((desk, stream))
        answer = activate(self._connections[desk.account], desk, stream)
        if self._was_answered("an activation", answer, 200):
            self._ground.heard(desk, stream).begin(answer.json()["baseline"])

    def _was_answered(self, name: str, answer: Response, status: int) -> bool:
        """Whether it was, as it must be; a violation for an answer that no healthy server gives."""
        if answer.status != status:
            require_unavailable(self._server, name, answer.status, answer.code)
        return answer.status == status


def check_end(events: Iterable[Event], revoked_at_millis: int, server: Server) -> None:
    """A stream tells nothing that was committed after its credential was revoked, and says why it ends.

    IMPORTANT: as the events come, so that a stream that never ends is noticed as soon as it tells too much.
    """
    last: tuple[str, Json] | None = None
    for event in events:
        last = event.name, event.data
        if event.name == "":
            told = event.data["change"]["committed_at_millis"]
            require(told <= revoked_at_millis, f"a credential revoked at {revoked_at_millis} was told of {told}")
    if not server.stopping:
        resync = "resync", {"code": "unauthorized"}
        require_same("the last event of a stream whose credential is revoked", resync, last)
