"""The oracle over HTTP: what a restarted server says, held against what clients were told before it was killed.

    look         no consumer's progress is beyond what was acknowledged and the one command in doubt
    resolve      every unknown command is wholly there or wholly absent, and sending it again settles it
    replay       every acknowledged command, sent again, is answered with the same receipt, byte for byte
    follow       the accepted commands of a partition are numbered without a gap and make sense in that order
    compare      every record and relation that is there is one that the model has, and the other way round;
                 graphs around some records are what the model's relations make of them; the change streams tell every
                 accepted command once, from where they were left before the kill, by pages and by resumed streams;
                 checkpoints and throw-away credentials are as they were acknowledged; what was saved, judged, linked
                 and changed beside a record in the scope that is tended is answered as it was; mined edges are those of
                 the last run that was finished

What always holds: nothing here looks at anything but answers.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from crash_tests import mining
from crash_tests.adjacency import check_graphs
from crash_tests.curation_workload.checks import look
from crash_tests.feeds import Feeds, check_resumption
from crash_tests.history import Command, Desk, Json
from crash_tests.progress import Progress
from crash_tests.registry import Registry
from crash_tests.store_clients import Ground
from crash_tests.timeline import Timeline
from crash_tests.violation import require, require_same
from crash_tests.witness import Witness

REVISIONS_LOOKED_UP_MAX = 60
REPLAYED_ALONE_MAX = 60


class Verdict(Struct, kw_only=True):
    """How much the oracle has compared, and what it resolved."""

    present: int = 0
    absent: int = 0
    replayed: int = 0
    objects: int = 0
    graphs: int = 0
    changes: int = 0
    resumed: int = 0
    saved: int = 0
    saves_present: int = 0
    saves_absent: int = 0
    badges: int = 0
    activated: int = 0

    @property
    def saves_in_doubt(self) -> int:
        """How many checkpoint commands had no known outcome."""
        return self.saves_present + self.saves_absent

    def add(self, other: Verdict) -> None:
        """Counts another one in."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def resolved(self, command: Command, *, present: bool) -> None:
        """A command in doubt turned out to be there or not."""
        if command.owner is not None:
            self.saves_present += present
            self.saves_absent += not present
        else:
            self.present += present
            self.absent += not present


class Oracle:
    """Judges one store from restart to restart."""

    def __init__(self, ground: Ground, random: Random) -> None:
        self._ground = ground
        self._random = random
        self._timeline = Timeline()
        self._feeds = Feeds(ground, self._timeline)
        self._progress = Progress(ground.consumers())
        self._mark = 0

    def judge(self, port: int) -> Verdict:
        """Everything that must hold after a restart; raises `Violation` with the first thing that does not."""
        ground, verdict = self._ground, Verdict()
        recent = ground.history.since(self._mark)
        with Witness(port, ground.accounts) as witness, Registry(port, ground.admin_secret) as registry:
            self._progress.look(witness)
            for command in ground.history.since(0):
                if command.unknown:
                    self._resolve(witness, command, verdict)
            verdict.replayed = self._replay(witness, recent)
            touched = self._timeline.follow(ground.history.accepted(), ground.quiet_commits())
            self._timeline.check_observed(ground.observed)
            verdict.objects = sum(self._compare(witness, desk) for desk in ground.desks)
            verdict.objects += self._look_up_revisions(witness, touched)
            verdict.graphs = sum(self._check_graphs(witness, desk) for desk in ground.desks)
            verdict.changes = self._feeds.check(witness, [command for command, _ in touched])
            verdict.activated = self._feeds.check_activated(witness)
            verdict.resumed = check_resumption(witness, ground.consumers(), self._random)
            verdict.saved = self._progress.check(witness, self._random)
            accounts = {account.credential_id for account in ground.accounts}
            looked = look(ground.tended, port, self._random)
            verdict.present += looked.present
            verdict.absent += looked.absent
            verdict.replayed += looked.replayed
            verdict.objects += mining.look(ground.mined, port)
            verdict.badges = ground.badges.check(registry, self._random, accounts)
        ground.observed.clear()
        self._mark = ground.history.mark()
        return verdict

    def _resolve(self, witness: Witness, command: Command, verdict: Verdict) -> None:
        """There with a receipt that a repetition gives too, or absent until a repetition settles it."""
        before = witness.receipt_of(command)
        answer = witness.send(command)
        if isinstance(answer, bytes):
            self._ground.accept(command, answer)
            require_same(f"the receipt of {command.name}, read", answer, witness.receipt_of(command))
        else:
            expected = self._ground.refusals_of(command)
            require(answer in expected, f"{command.name}, sent again, is answered with {answer}")
            self._ground.history.refuse(command)
        verdict.resolved(command, present=before is not None)
        if before is not None:
            require_same(f"the answer to {command.name}, which is stored", before, answer)

    def _replay(self, witness: Witness, recent: list[Command]) -> int:
        """All that was acknowledged, in batches; some of it one by one too. How many there are."""
        accepted = self._ground.history.accepted()
        for command, receipt in witness.send_all(accepted):
            require_same(f"the receipt of {command.name}, replayed", command.receipt, receipt)
        some = self._random.sample(accepted, min(REPLAYED_ALONE_MAX, len(accepted)))
        for command in some:
            require_same(f"the receipt of {command.name}, replayed alone", command.receipt, witness.send(command))
        for command in (*some, *(one for one in recent if one.receipt is not None and one.owner is None)):
            require_same(f"the receipt of {command.name}, read", command.receipt, witness.receipt_of(command))
        taken = {command.key for command in (*accepted, *self._ground.history.saved())}
        for command in recent:
            if command.refused and command.key not in taken:
                require_same(f"the receipt of {command.name}, which was refused", None, witness.receipt_of(command))
        return len(accepted)

    def _compare(self, witness: Witness, desk: Desk) -> int:
        """Every relation, and every record that is eligible; how many there are."""
        model = self._timeline.model(desk.partition)
        shown, _ = witness.all(desk, "relation")
        relations = {one["relation"]["relation_id"]: one["relation"] for one in shown}
        _require_equal("relation", {key: revisions[-1] for key, revisions in model.relations.items()}, relations)
        shown, now = witness.all(desk, "record")
        records = {record["record_id"]: record for record in shown}
        eligible = {key: revisions[-1] for key, revisions in model.records.items() if model.is_eligible(key, now)}
        _require_equal("eligible record", eligible, records)
        return len(relations) + len(records)

    def _check_graphs(self, witness: Witness, desk: Desk) -> int:
        return check_graphs(witness, desk, self._timeline.model(desk.partition), self._random)

    def _look_up_revisions(self, witness: Witness, touched: list[tuple[Command, str]]) -> int:
        """Some revisions of what was touched last: the object as it was, and the receipt that brought it there.

        Of an assertion that found a relation: what it found, which is what another command had left.
        """
        some = self._random.sample(touched, min(REVISIONS_LOOKED_UP_MAX, len(touched)))
        for command, object_id in some:
            model, revision = self._timeline.model(command.desk.partition), command.told()["revision"]
            as_it_was = model.record_at if command.family == "record" else model.relation_at
            require_same(
                f"revision {revision} of {command.family} {object_id}",
                {command.family: as_it_was(object_id, revision), "receipt": model.receipt_at(object_id, revision)},
                witness.revision(command.desk, command.family, object_id, revision),
            )
        return len(some)


def _require_equal(what: str, known: dict[str, Json], found: dict[str, Json]) -> None:
    for object_id in sorted(known.keys() | found.keys()):
        require_same(f"{what} {object_id}", known.get(object_id), found.get(object_id))
