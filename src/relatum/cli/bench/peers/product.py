"""relatum itself, asked as its peers are: the ledger in process, from the bytes of a command to those of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from relatum.cli.bench.peers.seed import Seed, plant
from relatum.cli.bench.peers.shared_command import told
from relatum.core.commands import RelationCommand
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Partition, memory_partition
from relatum.core.receipts import RelationReceipt
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.ledger.writer.submission import MemorySubmission

_decode = msgspec.json.Decoder(RelationCommand).decode


class Peer:
    """The product."""

    name = "relatum"

    def start(self, directory: Path) -> None:
        """Opens a new ledger."""
        self.ledger = Ledger.open(directory / "ledger", create=True)

    def plant(self, *, partitions: int = 16, records: int = 256) -> Seed:
        """The seed that all peers begin with. It is made here."""
        return plant(self.ledger, partitions=partitions, records=records)

    def load(self, seed: Seed) -> None:
        """Holds the seed already, since it was planted here."""
        self._seed = seed

    def client(self) -> Client:
        """Any thread may submit."""
        return Client(self.ledger, self._seed)

    def stop(self) -> None:
        """Closes the ledger."""
        self.ledger.close()


class Client:
    """One client."""

    def __init__(self, ledger: Ledger, seed: Seed) -> None:
        self._ledger = ledger
        self._seed = seed

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """Submits all; they share a group with whatever else has arrived."""
        submissions = [submission(self._ledger, self._seed, body) for body in commands]
        return list(map(answered, self._ledger.submit_all(submissions)))

    def two_hop(self, record_id: str) -> int:
        """A typed graph with its verdicts and its checks of every row."""
        partition: Partition = self._seed.partitions[0]
        query = TypedGraphQuery(root_record_ids=(record_id,), direction="outgoing", max_depth=2)
        with self._ledger.view() as view:
            graph = typed_graph(view.partition(partition), view.now_millis, query)
        assert not isinstance(graph, Refusal), graph.message
        return len(graph.edges)

    def close(self) -> None:
        """Holds nothing."""


def submission(ledger: Ledger, seed: Seed, body: bytes) -> MemorySubmission:
    """A command from its body."""
    given = _decode(body)
    partition = memory_partition(seed.company_id, seed.author.subject_id, given.scope)
    return ledger.command(partition, seed.author, given.idempotency_key, given.operation)


def answered(outcome: object) -> bytes:
    """The body of an answer. Raises the failure that leaves a command's outcome unknown."""
    if isinstance(outcome, Failure):
        raise outcome
    assert isinstance(outcome, RelationReceipt | Refusal)
    return told(outcome)
