"""One store as its clients see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from crash_tests.command_requests import REFUSALS
from crash_tests.consumers.consumer import Consumer
from crash_tests.consumers.stream_history import Heard
from crash_tests.curation_workload.outcomes import Tended
from crash_tests.history import STREAMS, Account, Command, Desk, History, Json, Owner, Stream
from crash_tests.inspection.claims import Claim
from crash_tests.mining import Mined
from crash_tests.operations import Sight
from crash_tests.throwaway_credentials import Badges
from relatum.core.ids import Partition

CONSUMER_IDS = ("pager", "follower")
"""How a consumer reads; each stream of each desk has one of either kind."""


@dataclass
class Ground:
    """Who the clients are, what they know, what they did, and what they have read. For any thread."""

    accounts: list[Account]
    desks: list[Desk]
    admin_secret: str = field(default="", repr=False)
    history: History = field(default_factory=History)
    sights: dict[Partition, Sight] = field(default_factory=dict)
    observed: list[tuple[Desk, Json]] = field(default_factory=list)
    """Records that a read has shown, and from where."""
    streams: dict[tuple[Partition, Stream], Heard] = field(default_factory=dict)
    opened: list[Partition] = field(default_factory=list)
    """A partition for each of its streams that was activated before there was anything to tell."""
    activated: list[tuple[Desk, Stream]] = field(default_factory=list)
    """Streams that were asked to be activated where nothing else goes on, whether or not that was answered."""
    badges: Badges = field(default_factory=Badges)

    def __post_init__(self) -> None:
        owners = [Owner(desk, stream, name) for name in CONSUMER_IDS for desk in self.desks for stream in STREAMS]
        self.tended = Tended(self.accounts[0])
        self.mined = Mined(self.accounts[0])
        self._consumers = {owner: Consumer(owner, self.heard(owner.desk, owner.stream)) for owner in owners}

    def claims(self) -> Iterator[Claim]:
        """What a store must agree with, key by key."""
        yield from self.history.claims()
        yield from self.tended.claims()

    def sight(self, desk: Desk) -> Sight:
        """What is known of a desk's partition."""
        return self.sights.setdefault(desk.partition, Sight())

    def heard(self, desk: Desk, stream: Stream) -> Heard:
        """What was heard of a stream of a desk's partition."""
        return self.streams.setdefault((desk.partition, stream), Heard())

    def consumers(self, consumer_id: str | None = None) -> list[Consumer]:
        """All consumers, or those of a kind."""
        return [one for owner, one in self._consumers.items() if consumer_id in (None, owner.consumer_id)]

    def quiet_commits(self) -> dict[Partition, list[int]]:
        """When each accepted command that no receipt numbers was committed: checkpoints, and openings at time 0."""
        found: dict[Partition, list[int]] = {}
        for partition in self.opened:
            found.setdefault(partition, []).append(0)
        for command in self.history.saved():
            found.setdefault(command.desk.partition, []).append(command.told()["checkpoint"]["updated_at_millis"])
        return found

    def accept(self, command: Command, receipt: bytes) -> None:
        """A command was answered with a receipt."""
        self.history.accept(command, receipt)
        if command.owner is not None:
            self._consumers[command.owner].learn(command)
            return
        self.sight(command.desk).learn(command)
        if command.changed:
            self.heard(command.desk, "record" if command.family == "record" else "relation").acknowledge()

    def refusals_of(self, command: Command) -> set[str]:
        """With which codes a command of unknown outcome may be refused when it is sent again."""
        if command.owner is None:
            return REFUSALS[command.family]
        refusal = self._consumers[command.owner].refusal_of(command)
        return set() if refusal is None else {refusal}
