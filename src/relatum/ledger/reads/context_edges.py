"""What ties the records of a context block together: curated links, and eligible relations of class memory.

What always holds: links are read in one bounded scan; relations are those of the best matches alone, as far as a
bounded number of index entries goes. `stops` names each bound that was met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from heapq import nlargest
from itertools import islice
from typing import Final, Literal

from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref, uuid_bytes, uuid_text
from relatum.core.kinds import kinds_of
from relatum.store import adjacency
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

LINKS_MAX: Final = 10_000
MATCHES_MAX: Final = 64
ENTRIES_MAX: Final = 1_024

TiesStop = Literal["match_limit", "scan_limit", "dependency_limit"]
_DIRECTIONS: Final[tuple[Direction, ...]] = (Table.OUTGOING, Table.INCOMING)
_KINDS: Final = frozenset(kinds_of("memory"))


class Ties:
    """Ties to the records that match a prompt, and which record stands below which by a curated link.

    `known` are the records that can be in the block: eligible but perhaps for their ancestry, and not archived.
    """

    def __init__(
        self,
        partition: PartitionReader,
        evaluator: Evaluator,
        matches: Mapping[bytes, int],
        known: Collection[bytes],
    ) -> None:
        self.links_examined = 0
        self.entries_examined = 0
        self.stops: set[TiesStop] = set()
        self.superseders: dict[bytes, set[bytes]] = defaultdict(set)
        self._partition = partition
        self._evaluator = evaluator
        self._known = known
        self._tied: dict[bytes, set[bytes]] = defaultdict(set)
        self._matches = {one: words for one, words in matches.items() if one in known}
        self._follow_links()
        self._follow_relations()

    def number(self, record_id: bytes) -> int:
        """To how many matches a record is tied."""
        return len(self._tied[record_id]) if record_id in self._tied else 0

    @property
    def tied(self) -> Collection[bytes]:
        """The records that are tied to a match."""
        return self._tied.keys()

    def _follow_links(self) -> None:
        links = self._partition.all_links()
        for link in islice(links, LINKS_MAX):
            self.links_examined += 1
            source, target = uuid_bytes(link.source_id), uuid_bytes(link.target_id)
            if source not in self._known or target not in self._known:
                continue
            self._tie(source, target)
            self._tie(target, source)
            if link.kind == "supersedes":
                self.superseders[target].add(source)
        if next(links, None) is not None:
            self.stops.add("scan_limit")

    def _follow_relations(self) -> None:
        best = nlargest(MATCHES_MAX, self._matches, key=lambda one: (self._matches[one], one))
        if len(best) < len(self._matches):
            self.stops.add("match_limit")
        try:
            for match in best:
                version = self._evaluator.record(uuid_text(match))
                if version is None or not self._evaluator.is_eligible(version):
                    continue
                content = version.meta.content
                if not all(self._follow_index(direction, content, match) for direction in _DIRECTIONS):
                    self.stops.add("scan_limit")
                    return
        except DependencyBudgetExhausted:
            self.stops.add("dependency_limit")

    def _follow_index(self, direction: Direction, content: Ref, match: bytes) -> bool:
        """Whether an index could be read to its end."""
        for neighbour in adjacency.neighbours(self._partition, direction, content):
            if self.entries_examined == ENTRIES_MAX:
                return False
            self.entries_examined += 1
            other = uuid_bytes(neighbour.ref.record_id)
            if neighbour.kind in _KINDS and other in self._known and match not in self._tied.get(other, ()):
                relation = self._partition.indexed_relation(neighbour.relation_id).relation
                if self._evaluator.relation_is_eligible(relation):
                    self._tied[other].add(match)
        return True

    def _tie(self, one: bytes, match: bytes) -> None:
        if match in self._matches:
            self._tied[one].add(match)
