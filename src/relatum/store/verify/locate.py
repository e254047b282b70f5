"""Which rows differ in a table whose sum says that some do."""

from __future__ import annotations

from relatum.errors import Failure, StorageInconsistency
from relatum.store.keys import Table, beyond
from relatum.store.kv import Reader
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.partition_result import Locate
from relatum.store.verify.rebuilt_rows import Difference, differences, rederive, scratch_store


def locator(view: Reader) -> Locate:
    """Finds the rows that differ as `view` shows them; none where the events don't lead there, or there is no room."""

    def locate(books: Books, tables: set[Table]) -> set[Table]:
        try:
            with scratch_store() as scratch:
                rederive(view, books.partition, scratch)
                return {table for table in sorted(tables) if _tell(books, table, scratch, view)}
        except (Failure, OSError):  # that the tables differ is certain, and told by whoever asks
            return set()

    return locate


def _tell(books: Books, table: Table, derived: Reader, stored: Reader) -> bool:
    prefix, told = books.keys.table(table), False
    try:
        for difference in differences(derived, stored, prefix, beyond(prefix)):
            books.tables[table].find(f"the row {difference.key.hex()} {_fault(difference)}")
            told = True
    except StorageInconsistency:  # damaged bytes, a finding already: what lies behind them can not be compared
        pass
    return told


def _fault(difference: Difference) -> str:
    if difference.stored is None:
        return "is missing"
    return "should not be there" if difference.derived is None else "is not the one that the events imply"
