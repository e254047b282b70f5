"""A store to measure on: a company, a partition with records, and somebody who may do everything in it.

Here: making it in process, before whoever is measured opens it, and the bodies and requests that address it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from relatum.cli.bench.dataset import Assertions, records
from relatum.core.access import CredentialSpec
from relatum.core.commands import RelationBatchItem
from relatum.core.ids import Author, Partition, Ref, Scope, memory_partition
from relatum.core.receipts import RecordReceipt
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.writer.submission import MemorySubmission
from relatum.limits import CONTRACT_VERSION

COMPANY: Final = "bench"
SCOPE: Final = Scope(project_id="peps", agent_id="bench", visibility="shared")
RECORDS: Final = 736
"""As many as there are PEPs."""
SUBMITTED_TOGETHER: Final = 128

_ITEM: Final = msgspec.json.Decoder(RelationBatchItem)


class Stage(NamedTuple):
    """A store at rest, or one whose ledger is open in this process."""

    directory: Path
    token: str
    author: Author
    partition: Partition
    ends: list[Ref]

    @classmethod
    def make(cls, directory: Path, count: int = RECORDS) -> Stage:
        """A new store with `count` records."""
        with Ledger.open(directory, create=True) as ledger:
            return cls.on(ledger, directory, count)

    @classmethod
    def on(cls, ledger: Ledger, directory: Path, count: int = RECORDS) -> Stage:
        """The same in a ledger that is open already."""
        issued = asyncio.run(_issued(ledger))
        author = issued.credential.author
        stage = cls(directory, issued.secret, author, memory_partition(COMPANY, author.subject_id, SCOPE), [])
        commands = [
            ledger.command(stage.partition, author, f"record-{number}", operation)
            for number, operation in enumerate(records(count))
        ]
        for receipt in submitted(ledger, commands):
            assert isinstance(receipt, RecordReceipt)
            stage.ends.append(Ref(record_id=receipt.record_id, revision=receipt.revision))
        return stage

    def assertions(self, keys: str = "bench") -> Assertions:
        """Commands that relate the records of this store; `keys` begins their keys."""
        return Assertions(self.ends, keys)

    def submission(self, ledger: Ledger, command: bytes) -> MemorySubmission:
        """A command as the ledger takes it: decoded, and with its digest."""
        item = _ITEM.decode(command)
        return ledger.command(self.partition, self.author, item.idempotency_key, item.operation)

    # Requests

    def post(self, path: str, body: bytes) -> bytes:
        """One request of the API, to the last byte."""
        return (
            b"POST /api/v1/memory/%s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        ) % (path.encode(), self.token.encode(), len(body), body)

    def single(self, command: bytes) -> bytes:
        """The request for one relation command."""
        return self.post("relations/commands", b"%s,%s" % (_SCOPED, command[1:]))

    def batch(self, commands: Sequence[bytes]) -> bytes:
        """The request for a batch of relation commands."""
        return self.post("relations/commands/batch", b'%s,"commands":[%s]}' % (_SCOPED, b",".join(commands)))

    def ask(self, path: str, **members: Any) -> bytes:
        """Any other request about the partition."""
        return self.post(path, b"%s,%s" % (_SCOPED, msgspec.json.encode(members)[1:]) if members else _SCOPED + b"}")


_SCOPED: Final = msgspec.json.encode({"contract_version": CONTRACT_VERSION, "scope": SCOPE})[:-1]
"""How the body of a memory route begins."""


def submitted(ledger: Ledger, commands: Sequence[MemorySubmission]) -> list[object]:
    """The receipts of commands, all of which must be accepted."""
    found: list[object] = []
    for start in range(0, len(commands), SUBMITTED_TOGETHER):
        found += ledger.submit_all(commands[start : start + SUBMITTED_TOGETHER])
    return found


async def _issued(ledger: Ledger) -> IssuedCredential:
    administrator = ledger.bootstrap(COMPANY, "root")
    assert isinstance(administrator, IssuedCredential)
    spec = CredentialSpec(
        subject_id="worker", capabilities=("memory_read", "memory_write", "memory_review"), grants=(SCOPE,)
    )
    issued = await ledger.issue_credential(administrator.credential, spec)
    assert isinstance(issued, IssuedCredential)
    return issued
