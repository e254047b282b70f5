"""What a request reads: the store as it was last published, and what the ledger derives beside the store.

Here: the view that `Ledger.view` gives. Not here: anything that changes what is read; nothing is made for a view before
somebody asks for it.

Always holds: the search index answers for the very state that it is asked with. Mined edges are in no history and
follow no view: within one of their cuts they are one finished run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relatum.core.context_records import Surroundings
from relatum.core.decide.saves import Detected
from relatum.core.mined import MinedEdges
from relatum.errors import JournalBroken, SearchUnavailable
from relatum.ledger.judgments import Ages
from relatum.ledger.search.bm25 import Found
from relatum.ledger.search.index import Searched, SearchIndex
from relatum.ledger.search.index_sync import outlined
from relatum.ledger.search.tokenizer import Share
from relatum.store.counts import Counting
from relatum.store.credential_cache import CredentialMemory
from relatum.store.kv import View
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView
from relatum.telemetry import Log


class Beside(NamedTuple):
    """What a ledger reads beside its store, the same for all views."""

    words: SearchIndex
    mined: MinedEdges
    ages: Ages
    log: Log


class RequestView(LedgerView):
    """A view of the store, with the search index and the mined edges. What asks them reads many rows: no event loop."""

    __slots__ = ("_beside",)

    def __init__(
        self,
        view: View,
        now_millis: int,
        store_key: bytes,
        remembered: CredentialMemory,
        recounts: Counting,
        report: Callable[[JournalBroken], None],
        beside: Beside,
    ) -> None:
        super().__init__(view, now_millis, store_key, remembered, recounts, report)
        self._beside = beside

    def search(self, partition: PartitionReader, text: str) -> list[Found]:
        """The active, current records of a partition that have words of a text, the best first.

        Raises SearchUnavailable.
        """
        return self.searched(partition, text).found

    def searched(self, partition: PartitionReader, text: str) -> Searched:
        """The same, with how much of the partition was indexed: an index that is behind is not waited for for long."""
        return self._beside.words.searched(partition, text)

    def share(self, text: str) -> Callable[[str | None, str], float]:
        """Which share of the distinct words of a text a record has, from its title and its content."""
        return Share(text)

    def resembling(self, partition: PartitionReader, text: str) -> Detected:
        """The active, current records of a partition that resemble a text, the most similar first.

        Raises SearchUnavailable.
        """
        return self._beside.words.detect(partition, text)

    def surroundings(self, partition: PartitionReader, text: str) -> Surroundings:
        """The active, current records of a partition in outline, and which of them have words of a text.

        Without the index they are outlined from the ledger, and none of them has any word.
        """
        try:
            return self._beside.words.surroundings(partition, text)
        except SearchUnavailable as failure:
            self._beside.log.failure("records are outlined without the search index", failure)
            return outlined(partition)

    @property
    def mined(self) -> MinedEdges:
        """The mined edges of all partitions, to be read. Each read raises MinedEdgesUnavailable where they can't be."""
        return self._beside.mined

    @property
    def ages(self) -> Ages:
        """From when on a pending candidate is offered again, and after which age it is orphaned."""
        return self._beside.ages
