"""One row of a store is damaged: what the ledger makes of it.

What must hold: every answer is what it was, or says that the rows contradict each other; verification finds the damage;
and no receipt is replayed whose object is damaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from msgspec import Struct

from crash_tests.simulation.observations import Story
from crash_tests.simulation.readers import questions, told
from crash_tests.violation import Violation, require, require_same
from relatum.errors import StorageInconsistency
from relatum.store.keys import STORE_PREFIX
from relatum.store.memory import MemoryStore
from relatum.store.replay import look_up
from relatum.store.rows import seal, unseal
from relatum.store.verify.directory import verify_rows
from relatum.store.view import LedgerView

_STEP_ROWS = (10, 40, 50_000)


class Kept(Struct, frozen=True, kw_only=True):
    """What a ledger left, and the instant to judge it at. `replaced` is what its last commit put something else for."""

    rows: Mapping[bytes, bytes]
    replaced: Mapping[bytes, bytes | None]
    store_key: bytes
    now_millis: int

    def view(self, rows: Mapping[bytes, bytes]) -> LedgerView:
        """A view of `rows` instead of its own."""
        return LedgerView(MemoryStore(rows).view(), self.now_millis, self.store_key)


class Damaged(NamedTuple):
    """Rows of which one is damaged, and how."""

    name: str
    rows: dict[bytes, bytes]


def damaged(kept: Kept, key: bytes, random: Random) -> Damaged:
    """A row is as it was before the last commit, or gone, or altered, with a checksum that says so or a right one."""
    rows, name = dict(kept.rows), f"the row {key.hex()}"
    older = kept.replaced.get(key)
    if older is not None and random.random() < 0.5:
        return Damaged(f"{name} was set back", {**rows, key: older})
    if random.random() < 0.5:
        del rows[key]
        return Damaged(f"{name} is gone", rows)
    if random.random() < 0.5 or key.startswith(STORE_PREFIX):  # whose rows only the watermark can contradict
        return Damaged(f"a bit of {name} has flipped", {**rows, key: _flipped(rows[key], random)})
    altered = seal(key, _flipped(unseal(key, rows[key]), random))
    return Damaged(f"{name} was altered, checksum and all", {**rows, key: altered})


def _flipped(whole: bytes, random: Random) -> bytes:
    found = bytearray(whole or b"\0")  # a row may say all in its key
    found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def check_answers(story: Story, kept: Kept, random: Random) -> None:
    """Everything that can be asked about a partition, with one of its rows damaged."""
    chapter = random.choice(list(story.chapters.values()))
    asked = questions(chapter)
    with kept.view(kept.rows) as view:
        prefix = view.partition(chapter.partition).keys.prefix
        before = [told(question, view) for question in asked]
    own = [key for key in sorted(kept.rows) if key.startswith(prefix)]
    if not own:
        return
    damage = damaged(kept, random.choice(own), random)
    with kept.view(damage.rows) as view:
        for question, answer in zip(asked, before, strict=True):
            try:
                found = told(question, view)
            except StorageInconsistency:
                continue
            require_same(f"an answer when {damage.name}", answer, found)


def check_replay(story: Story, kept: Kept, random: Random) -> None:
    """A command is sent again whose record or relation is damaged."""
    commands = [command for command in story.seen.values() if command.family in ("record", "relation")]
    if not commands:
        return
    command = random.choice(commands)
    assert command.family in ("record", "relation")
    receipt, partition = command.told(), command.desk.partition
    with kept.view(kept.rows) as view:
        keys = view.partition(partition).keys
    key = keys.record(receipt["record_id"]) if command.family == "record" else keys.relation(receipt["relation_id"])
    damage = damaged(kept, key, random)
    subject_id, digest = command.desk.account.subject_id, receipt["command_digest"]
    with kept.view(damage.rows) as view:
        try:
            look_up(view.partition(partition), command.family, subject_id, command.idempotency_key, digest)
        except StorageInconsistency:
            return
    raise Violation(f"{command.name} was replayed although {damage.name}")


def check_verification(kept: Kept, random: Random) -> None:
    """It finds nothing in sound rows, and something in damaged ones."""
    sound = verify_rows(MemoryStore(kept.rows).view(), step_rows=random.choice(_STEP_ROWS))
    require(sound.clean, f"the verification finds fault: {sound.findings[:1]}")
    damage = damaged(kept, random.choice(sorted(kept.rows)), random)
    found = verify_rows(MemoryStore(damage.rows).view(), step_rows=random.choice(_STEP_ROWS))
    require(not found.clean, f"the verification finds nothing when {damage.name}")
