"""Probes of the judged scene: what a client can ask and command where judgments have left rows, each as one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from relatum.core.answers.judgments import Status
from relatum.core.context_records import Outline, Surroundings
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref, uuid_bytes
from relatum.core.judgment_queries import JudgmentsQuery, SearchQuery
from relatum.core.judgments import JudgmentOperation
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.reads import health, judgments, needs_review, overview, receipts, records, validate
from relatum.ledger.reads.context import context
from relatum.ledger.reads.search import search
from relatum.limits import DAY_MILLIS
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView
from tests.integrity.judged_scene import JudgedScene
from tests.integrity.probes import INCONSISTENT, Answer
from tests.integrity.scene import Rows, opened
from tests.support import builders
from tests.support.builders import ADA, PARTITION, SCOPE
from tests.support.desk import Desk
from tests.support.tending import TendingDesk

Read = Callable[[JudgedScene, PartitionReader, LedgerView], Answer]
Command = Callable[[JudgedScene, "Fresh"], Answer]
LONG = 400 * DAY_MILLIS


class Fresh(TendingDesk):
    """A desk under keys that the scene has not used, in whose answers an inconsistency is raised."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.plain = Desk(ledger)

    def key(self) -> str:
        return f"fresh {super().key()}"

    def command(self, operation: JudgmentOperation, key: str | None = None) -> list[JudgmentEvent] | Refusal:
        outcomes = self.ledger.judgments.submit(self.partition, self.author, key or self.key(), operation)
        if isinstance(outcomes, Refusal):
            return outcomes
        for outcome in outcomes:
            if not isinstance(outcome, JudgmentEvent):
                raise outcome
        return [outcome for outcome in outcomes if isinstance(outcome, JudgmentEvent)]


def answers(scene: JudgedScene, rows: Rows) -> dict[str, Answer]:
    """What every probe gets from a ledger on `rows`; each command from one of its own, since it changes it."""
    found: dict[str, Answer] = {}
    with opened(rows) as ledger:
        for name, read in READS.items():
            found[name] = _read(read, scene, ledger)
    for name, command in COMMANDS.items():
        with opened(rows) as ledger:
            found[name] = _commanded(command, scene, ledger)
    return found


def _read(read: Read, scene: JudgedScene, ledger: Ledger) -> Answer:
    try:
        with ledger.view() as view:
            return read(scene, view.partition(PARTITION), view)
    except StorageInconsistency:
        return INCONSISTENT


def _commanded(command: Command, scene: JudgedScene, ledger: Ledger) -> Answer:
    try:
        return command(scene, Fresh(ledger))
    except StorageInconsistency:
        return INCONSISTENT


def _all(scene: JudgedScene) -> dict[str, Ref]:
    return {
        "old": scene.old,
        "current": scene.current,
        "rival": scene.rival,
        "archived": scene.archived,
        "pinned": scene.pinned,
        "waiting": scene.waiting,
        "stale": scene.stale,
        "gone": scene.gone,
    }


NAMES: Final = ("old", "current", "rival", "archived", "pinned", "waiting", "stale", "gone")


def _inspect(name: str) -> Read:
    return lambda scene, partition, view: records.inspect(partition, view.now_millis, _all(scene)[name].record_id)


def _annotated(name: str) -> Read:
    return lambda scene, partition, view: judgments.annotated(
        partition, view.now_millis, (_all(scene)[name].record_id,), 50
    )


def _queue(status: Status) -> Read:
    wanted = JudgmentsQuery(contract_version=1, scope=SCOPE, status=status, min_age_millis=0)
    return lambda _, partition, view: judgments.query(partition, view.now_millis, wanted, 0, LONG)


def _status(name: str) -> Read:
    def read(scene: JudgedScene, partition: PartitionReader, view: LedgerView) -> Answer:
        wanted = StatusQuery(contract_version=1, scope=SCOPE, record_ids=(_all(scene)[name].record_id,))
        return validate.statuses(partition, view.now_millis, view.store_key, wanted)

    return read


def _share(title: str | None, content: str) -> float:
    return 1.0


def _search(scene: JudgedScene, partition: PartitionReader, view: LedgerView) -> Answer:
    wanted = SearchQuery(contract_version=1, scope=SCOPE, text="ferry", limit=20, relations_limit=20)
    return search(partition, view.now_millis, wanted, [ref.record_id for ref in _all(scene).values()], _share)


def _around(scene: JudgedScene) -> Surroundings:
    """What the search index knows of the scene: what is active and current, as it was before any damage."""
    current = [ref for name, ref in _all(scene).items() if name not in ("old", "archived", "gone")]
    ids = sorted((uuid_bytes(ref.record_id) for ref in current), reverse=True)
    outlines = [Outline(one, builders.START_MILLIS, None, None, rejected=False) for one in ids]
    return Surroundings(outlines, {uuid_bytes(scene.current.record_id): 2}, complete=True)


def _needs_review(_: JudgedScene, partition: PartitionReader, view: LedgerView) -> Answer:
    return needs_review.needs_review(partition, view.now_millis, 100)


READS: Final[dict[str, Read]] = {
    **{f"inspect {name}": _inspect(name) for name in NAMES},
    **{f"annotated {name}": _annotated(name) for name in NAMES},
    **{f"status of {name}": _status(name) for name in NAMES},
    "queue of pending": _queue("pending"),
    "queue of judged": _queue("judged"),
    "queue of orphaned": _queue("orphaned"),
    "search": _search,
    "validate": lambda _, partition, __: validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE)),
    "health": lambda _, partition, view: health.health(partition, view.now_millis),
    "overview": lambda _, partition, view: overview.overview(partition, view.now_millis, 20),
    "context": lambda scene, partition, view: context(partition, view.now_millis, _around(scene), 4_000),
    "needs review": _needs_review,
    "receipt of a verdict": lambda scene, partition, _: receipts.read(
        partition, ADA.subject_id, "judgment", scene.verdict.idempotency_key
    ),
}

COMMANDS: Final[dict[str, Command]] = {
    "save": lambda scene, desk: desk.try_save("the ferry is late", like=(scene.current, scene.rival)),
    "save onto the topic": lambda scene, desk: desk.try_save("late", like=(scene.rival,), topic_key="ferry"),
    "archive": lambda scene, desk: desk.archive(scene.rival),
    "unarchive": lambda scene, desk: desk.unarchive(scene.archived),
    "pin": lambda scene, desk: desk.pin(scene.rival),
    "unpin": lambda scene, desk: desk.unpin(scene.pinned),
    "mark stale": lambda scene, desk: desk.mark_stale(scene.rival, scene.pinned),
    "supersede": lambda scene, desk: desk.compare(scene.current, scene.pinned, "supersedes"),
    "supersede what is superseded": lambda scene, desk: desk.compare(scene.pinned, scene.stale, "supersedes"),
    "repeat a verdict": lambda scene, desk: desk.compare(scene.waiting, scene.stale, "supersedes"),
    "replace a verdict": lambda scene, desk: desk.compare(scene.rival, scene.current, "scoped"),
    "submit": lambda scene, desk: desk.submit((scene.waiting, scene.current), (scene.waiting, scene.pinned)),
    "sweep": lambda _, desk: desk.sweep(),
    "undo a run": lambda scene, desk: desk.undo(run_id=scene.run_id),
    "undo an operation": lambda scene, desk: desk.undo(operation_id=scene.operation_id),
    "confirm": lambda scene, desk: desk.confirm(scene.rival),
    "link": lambda scene, desk: desk.link(scene.current, scene.rival, "supports"),
    "unlink": lambda scene, desk: desk.unlink(scene.pinned, scene.current),
    "promote": lambda scene, desk: desk.promote("2023-11-15", (scene.pinned, scene.current, "contradicts")),
    "retire a verdict": lambda scene, desk: desk.plain.submit(builders.retire(scene.verdict.relation_id, 1), "fresh"),
    "reject a verdict": lambda scene, desk: desk.plain.submit(
        builders.judge(scene.verdict.relation_id, 1, "rejected"), "fresh"
    ),
    "revise": lambda scene, desk: desk.plain.submit(builders.revise(scene.current, topic_key="ferry"), "fresh"),
    "delete": lambda scene, desk: desk.plain.submit(builders.delete(scene.rival), "fresh"),
}
