"""The work that makes the store: seeded commands of every family, on a clock and with a chance of its own.

What always holds: the same seed makes the same rows, byte for byte.
"""

from __future__ import annotations

import asyncio
from random import Random

import msgspec
from msgspec import Struct

from crash_tests.company import COMPANY, SHARED
from crash_tests.damage.judgment_scene import Judge
from crash_tests.embedded.accounts import DESKS, author_of
from crash_tests.history import Command, Desk
from crash_tests.operations import Author, Sight
from crash_tests.violation import require
from relatum.clock import ManualClock
from relatum.core import digests
from relatum.core.access import Authority, CredentialSpec
from relatum.core.commands import CreateRecord, RecordOperation, RelationOperation
from relatum.core.cursors import Advance, CheckpointCommand, CheckpointReceipt
from relatum.core.feeds import Window
from relatum.core.ids import Partition, Scope, memory_partition
from relatum.core.receipts import Family, RecordReceipt
from relatum.core.records import RecordInput
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import changes, credentials
from relatum.ledger.writer.submission import MemorySubmission

START_MILLIS = 1_700_000_000_000
OTHER_COMPANY = "birch"
BATCH_MAX = 8
IDLE = memory_partition(COMPANY, "extractor", Scope(project_id="idle", agent_id="scout", visibility="shared"))
"""Its streams are activated, and nothing is ever written."""
ELSEWHERE = memory_partition(OTHER_COMPANY, "root", SHARED)
"""The other company's only workspace."""
CONSUMERS = ("mirror", "index")


class Taken(Struct, frozen=True, kw_only=True):
    """A command that was accepted, and what it was answered with."""

    partition: Partition
    family: Family
    subject_id: str
    idempotency_key: str
    command_digest: str
    receipt: bytes
    object_id: str
    revision: int
    commit_sequence: int


class Saved(Struct, frozen=True, kw_only=True):
    """A checkpoint command that was accepted."""

    partition: Partition
    stream: Stream
    subject_id: str
    idempotency_key: str
    command_digest: str
    receipt: CheckpointReceipt


class Told(Struct, kw_only=True):
    """Everything that clients were told by now."""

    taken: list[Taken] = []
    saved: list[Saved] = []
    refused: list[tuple[Partition, Family, str, str]] = []
    """Partition, family, subject and key of commands that were refused, under keys that were never accepted."""
    secrets: list[str] = []
    """Of credentials, present ones and old ones."""


class Seeded:
    """Randomness of a seed, in place of the operating system's."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self, size: int) -> bytes:
        """`size` bytes."""
        return self._random.randbytes(size)


class Workload:
    """Clients at work on one ledger after another, each of which goes on with what the one before it left."""

    def __init__(self, random: Random) -> None:
        self.told = Told()
        self.clock = ManualClock(START_MILLIS)
        self.entropy = Seeded(random)
        self._random = random
        self._sights = {desk.partition: Sight() for desk in DESKS}
        self._saved: dict[tuple[Desk, Stream, str], CheckpointReceipt] = {}
        self._keys = 0
        self._judge = Judge(self.clock, author_of(DESKS[0]))

    def begin(self, ledger: Ledger) -> None:
        """Companies, credentials, and streams that are active before the first command."""
        admin = ledger.bootstrap(COMPANY, "root")
        assert isinstance(admin, IssuedCredential)
        self.told.secrets.append(admin.secret)
        other = ledger.bootstrap(OTHER_COMPANY, "root")
        assert isinstance(other, IssuedCredential)
        self.told.secrets.append(other.secret)
        asyncio.run(self._issue(ledger, admin))
        idle = author_of(DESKS[0])
        ledger.activate(IDLE, idle, RECORDS)
        self._create(ledger, ELSEWHERE)

    async def change_credentials(self, ledger: Ledger) -> None:
        """One is rotated, one revoked, one given other scopes; what was told of each stays as it was."""
        with ledger.view() as view:
            admin, *others = (credentials.authenticate(view, secret) for secret in self.told.secrets)
        assert admin is not None
        members = [one for one in others if one is not None and one.company_id == COMPANY]
        rotated, revoked, moved = members[:3]
        fresh = await ledger.rotate_credential(admin, rotated.id, rotated.revision)
        assert isinstance(fresh, IssuedCredential)
        self.told.secrets.append(fresh.secret)
        await ledger.revoke_credential(admin, revoked.id, revoked.revision)
        await ledger.change_scope_authority(admin, moved.id, moved.revision, Authority(grants=()))

    def work(self, ledger: Ledger, commands: int) -> None:
        """So many commands on records and relations, alone and in batches, with checkpoints in between."""
        left = commands
        while left > 0:
            size = min(left, self._random.choice((1, 1, 1, 2, BATCH_MAX)))
            self._submit(ledger, self._random.choice(DESKS), size)
            left -= size
            self.clock.advance(self._random.randrange(1, 2_000))
            if self._random.random() < 0.15:
                self._save(ledger, self._random.choice(DESKS))

    def work_everywhere(self, ledger: Ledger) -> None:
        """A command that is accepted in each partition."""
        for desk in DESKS:
            taken = len(self.told.taken)
            while len(self.told.taken) == taken:
                self._submit(ledger, desk, 1)

    def judge(self, ledger: Ledger) -> None:
        """A round of judgments, in a partition where nobody does anything else."""
        self._judge.round(ledger)

    def fill_tile(self, ledger: Ledger) -> None:
        """Events for a tile of a log, in a partition where nobody does anything else."""
        self._judge.fill_tile(ledger)

    def submissions(self, ledger: Ledger, size: int) -> list[MemorySubmission]:
        """Commands that would be accepted, to be submitted by somebody else."""
        desk = DESKS[0]
        operation = CreateRecord(record=RecordInput(content="x" * self._random.randrange(200, 4_000)))
        return [ledger.command(desk.partition, author_of(desk), self._fresh_key(), operation) for _ in range(size)]

    # Parts

    async def _issue(self, ledger: Ledger, admin: IssuedCredential) -> None:
        for number in range(5):
            spec = CredentialSpec(
                subject_id=f"member-{number}",
                capabilities=("memory_read", "memory_write"),
                grants=(SHARED,),
                expires_at_millis=START_MILLIS + 1 if number == 4 else None,
            )
            issued = await ledger.issue_credential(admin.credential, spec)
            assert isinstance(issued, IssuedCredential)
            self.told.secrets.append(issued.secret)

    def _create(self, ledger: Ledger, partition: Partition) -> None:
        author = author_of(DESKS[0])
        receipt = ledger.submit(
            ledger.command(partition, author, self._fresh_key(), CreateRecord(record=RecordInput(content="alone")))
        )
        assert isinstance(receipt, RecordReceipt)

    def _submit(self, ledger: Ledger, desk: Desk, size: int) -> None:
        commands = [self._command(desk) for _ in range(size)]
        submissions = [_submission(ledger, command) for command in commands]
        for command, submission, outcome in zip(commands, submissions, ledger.submit_all(submissions), strict=True):
            require(not isinstance(outcome, Failure), f"the ledger failed while the store was made: {outcome}")
            if isinstance(outcome, Refusal):
                self._refused(command)
            else:
                self._taken(command, submission.command_digest, msgspec.json.encode(outcome))

    def _command(self, desk: Desk) -> Command:
        family, operation = Author(self._random, self._sights[desk.partition]).operation()
        return Command(desk, family, self._fresh_key(), operation)

    def _fresh_key(self) -> str:
        self._keys += 1
        return f"key {self._keys}"

    def _taken(self, command: Command, digest: str, receipt: bytes) -> None:
        command.receipt = receipt
        self._sights[command.desk.partition].learn(command)
        told = command.told()
        self.told.taken.append(
            Taken(
                partition=command.desk.partition,
                family=command.family,
                subject_id=command.desk.account.subject_id,
                idempotency_key=command.idempotency_key,
                command_digest=digest,
                receipt=receipt,
                object_id=told["record_id" if command.family == "record" else "relation_id"],
                revision=told["revision"],
                commit_sequence=told["commit_sequence"],
            )
        )

    def _refused(self, command: Command) -> None:
        desk = command.desk
        self.told.refused.append((desk.partition, command.family, desk.account.subject_id, command.idempotency_key))

    def _save(self, ledger: Ledger, desk: Desk) -> None:
        stream = self._random.choice((RECORDS, RELATIONS))
        consumer_id = self._random.choice(CONSUMERS)
        before = self._saved.get((desk, stream, consumer_id))
        cursor = self._further(ledger, desk, stream, before)
        if cursor is None:
            return
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=self._fresh_key(),
            consumer_id=consumer_id,
            expected_revision=before.checkpoint.revision if before else 0,
            expected_checkpoint_digest=before.checkpoint.checkpoint_digest if before else None,
            operation=Advance(cursor=cursor),
        )
        receipt = ledger.save_checkpoint(desk.partition, author_of(desk), stream, command)
        require(isinstance(receipt, CheckpointReceipt), f"a sound checkpoint was refused: {receipt}")
        assert isinstance(receipt, CheckpointReceipt)
        self._saved[desk, stream, consumer_id] = receipt
        self.told.saved.append(
            Saved(
                partition=desk.partition,
                stream=stream,
                subject_id=desk.account.subject_id,
                idempotency_key=command.idempotency_key,
                command_digest=digests.checkpoint_command_digest(stream, command),
                receipt=receipt,
            )
        )

    def _further(self, ledger: Ledger, desk: Desk, stream: Stream, before: CheckpointReceipt | None) -> Cursor | None:
        """A place a few changes behind the saved one; None where the stream is not active yet."""
        window = Window(after=before.checkpoint.cursor if before else None)
        with ledger.view() as view:
            page = changes.page(view.partition(desk.partition), stream, window, self._random.randrange(1, 20))
        assert not isinstance(page, Refusal)
        return page.next_cursor


def _submission(ledger: Ledger, command: Command) -> MemorySubmission:
    operation: RecordOperation | RelationOperation
    if command.family == "record":
        operation = msgspec.convert(command.operation, RecordOperation)
    else:
        operation = msgspec.convert(command.operation, RelationOperation)
    author = author_of(command.desk)
    return ledger.command(command.desk.partition, author, command.idempotency_key, operation)
