"""The audits of all tables of one partition, and the censuses of all families of a store.

What lives here: which tables are compared by sums, and which key ranges of a partition no table covers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.core import digests
from relatum.core.ids import Partition
from relatum.core.row_counts import Tally, tally
from relatum.core.streams import Stream
from relatum.store.keys import COUNTED, STREAM_BYTE, PartitionKeys, Table, beyond
from relatum.store.verify.audit import NOTHING, Audit, Number, Share, sum_bytes
from relatum.store.verify.findings import Findings

UNKNOWN: Final = "unknown"
"""The family of rows that lie in no table."""

JUDGMENT_TABLES: Final = (
    Table.STANDING,
    Table.PINNED,
    Table.REPLACED,
    Table.CANDIDATE,
    Table.CANDIDATE_STATUS,
    Table.CANDIDATE_PAIR,
    Table.CANDIDATE_END,
    Table.VERDICT,
    Table.VERDICT_PAIR,
    Table.VERDICT_END,
    Table.SWEPT,
    Table.LINK,
    Table.SUSPICION,
    Table.PROMOTED,
)
"""Tables whose rows events imply one by one, and nothing else."""
_SUMMED: Final = {
    Table.RECORD_REVISION,
    Table.RELATION_REVISION,
    Table.OUTGOING,
    Table.INCOMING,
    Table.DEPENDENT,
    Table.RECEIPT,
    Table.CREDENTIAL,
    Table.CHECKPOINT_REVISION,
    Table.LEAF,
    Table.TILE,
    Table.INSTANT,
    Table.STANDING_REVISION,
    *JUDGMENT_TABLES,
}
"""The tables that events imply row by row. All others are compared with one of these, or with the events themselves."""


class Census:
    """The rows of one family, over all partitions: how many, and the sum of their digests."""

    def __init__(self, rows: int = 0, total: int = 0) -> None:
        self.rows = rows
        self.total = total

    def add(self, rows: int, total: int) -> None:
        """Counts more of them."""
        self.rows += rows
        self.total += total

    @property
    def total_bytes(self) -> bytes:
        """The sum modulo 2**256: two stores with the same rows have the same."""
        return sum_bytes(self.total)


Censuses = dict[str, Census]
"""By family."""


class Books:
    """The audits of one partition.

    `tables` has one for each table; `journals` has one for the rows of each stream, and `told` one for what they tell,
    which is compared with what the events say: an entry's own row depends on all entries before it. `doubted` has the
    families of which something was found.
    """

    def __init__(self, partition: Partition, findings: Findings, *, censused: bool) -> None:
        """With `censused` the digests of all rows are summed, for the report."""
        self.partition = partition
        self.workspace_id = digests.workspace_id(partition)
        self.keys = PartitionKeys(self.workspace_id)
        self.doubted: set[str] = set()
        self._findings = findings
        self._censused = censused
        self.tables = {table: self._audit(table, self.keys.table(table)) for table in Table}
        self.journals: dict[Stream, Audit] = {
            stream: self._audit(Table.JOURNAL, self.keys.journal(stream)) for stream in STREAM_BYTE
        }
        self.told: dict[Stream, Audit] = {
            stream: Audit(b"", self.tables[Table.JOURNAL].find, None, summed=True) for stream in STREAM_BYTE
        }

    @property
    def stored(self) -> int:
        """How many rows were looked at."""
        return sum(audit.stored for _, audit in self._rows())

    def find(self, family: str, message: str) -> None:
        """Something about the partition does not hold."""
        self.doubted.add(family)
        self._findings.add(family, message, self.workspace_id)

    def differing(self) -> set[Table]:
        """The tables in which the events imply other rows than were read, as far as both are known."""
        found = {table for table, audit in self.tables.items() if audit.complete and audit.differs()}
        if any(self.journals[stream].complete and audit.differs() for stream, audit in self.told.items()):
            found.add(Table.JOURNAL)
        return found

    def tally(self, events: int) -> Tally | None:
        """What a head after so many events must count; None where other rows were read than those events have left.

        That is so where something is amiss with these rows, and where they changed while they were read.
        """
        audits = {table: self.tables[table] for table in COUNTED}
        if any(table.name.lower() in self.doubted for table in COUNTED):
            return None
        if any(audit.differs() or not audit.slices.all_at(events) for audit in audits.values()):
            return None
        return tally(sum(audit.stored for audit in audits.values()), sum(audit.digest_sum for audit in audits.values()))

    def enter(self, censuses: Censuses) -> None:
        """Adds what was read to what was read of other partitions."""
        for family, audit in self._rows():
            censuses.setdefault(family, Census()).add(audit.stored, audit.digest_sum)

    def shares(self) -> dict[str, Share]:
        """All audits that anything was entered into, for other books of the same partition to take in."""
        found = {name: audit.share() for name, audit in self._named()}
        return {name: share for name, share in found.items() if share != NOTHING}

    def take_in(self, shares: dict[str, Share]) -> None:
        """Adds what was read, or implied, by others."""
        for name, audit in self._named():
            if name in shares:
                audit.take_in(shares[name])

    def uncovered(self) -> Iterator[tuple[bytes, bytes]]:
        """The key ranges of the partition that belong to no table, from and to."""
        covered = [self.keys.table(table) for table in Table if table is not Table.JOURNAL]
        covered += [self.keys.journal(stream) for stream in STREAM_BYTE]
        at = self.keys.prefix
        for prefix in sorted(covered):
            if at < prefix:
                yield at, prefix
            at = beyond(prefix)
        yield at, beyond(self.keys.prefix)

    def _audit(self, table: Table, prefix: bytes) -> Audit:
        family = table.name.lower()

        def find(message: str) -> None:
            self.find(family, message)

        return Audit(prefix, find, self._number_of(table), summed=table in _SUMMED)

    def _number_of(self, table: Table) -> Number | None:
        if table in (Table.OUTGOING, Table.INCOMING):
            return digests.adjacency_digest  # the numbers that headers sum as well
        if table is Table.DEPENDENT:
            return digests.dependent_digest  # likewise; the key is all there is to it
        return digests.row_number if self._censused or table in COUNTED else None  # as heads do of the latter

    def _named(self) -> Iterator[tuple[str, Audit]]:
        """Every audit there is, each under a name of its own."""
        yield from ((table.name, audit) for table, audit in self.tables.items())
        yield from ((f"journal of {stream}", audit) for stream, audit in self.journals.items())
        yield from ((f"told by {stream}", audit) for stream, audit in self.told.items())

    def _rows(self) -> Iterator[tuple[str, Audit]]:
        """Every audit of stored rows, and its family."""
        yield from ((table.name.lower(), audit) for table, audit in self.tables.items() if table is not Table.JOURNAL)
        yield from ((Table.JOURNAL.name.lower(), audit) for audit in self.journals.values())
