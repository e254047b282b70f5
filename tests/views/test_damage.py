"""Damage to what views scan is noticed by whoever scans it, and by nobody told as an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.core.ids import Ref
from relatum.core.links import Link
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.reads import context, health, overview, validate
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.support.builders import PARTITION, SCOPE
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.stores import published_rows

Rows = dict[bytes, bytes]
Damage = Callable[[Rows, bytes], None]


def removed(found: Rows, key: bytes) -> None:
    del found[key]


def torn(found: Rows, key: bytes) -> None:
    found[key] = found[key][:-1]


def changed(found: Rows, key: bytes) -> None:
    """The body of another row of the table under a checksum that fits."""
    table = key[: PREFIX_BYTES + 1]
    others = [other for other in sorted(found) if other.startswith(table) and found[other][5:] != found[key][5:]]
    found[key] = rows.seal(key, rows.unseal(others[0], found[others[0]]))


@pytest.fixture
def scene(ledger: Ledger, desk: Desk) -> tuple[Ledger, list[Ref]]:
    """Records of one fact, linked, pinned, waiting, one superseded."""
    judging = JudgingDesk(ledger)
    refs = [desk.create(f"the ferry leaves at {hour}", fact_key="departure") for hour in range(6)]
    for one, other in ((0, 1), (2, 3)):
        link = Link(source_id=refs[one].record_id, target_id=refs[other].record_id, kind="related")
        ledger.submit(ledger.command(PARTITION, desk.author, f"link {one}", link))
        judging.submit((refs[one], refs[other]))
    judging.pin(refs[4])
    judging.pin(refs[3])
    judging.compare(refs[5], refs[1], "supersedes")
    judging.compare(refs[5], refs[0], "supersedes")
    return ledger, refs


def asked(name: str, ledger: Ledger, found: Rows, refs: list[Ref]) -> object:
    partition = PartitionReader(MemoryStore(found), PARTITION)
    with ledger.view() as view:
        now, key = view.now_millis, view.store_key
        around = view.surroundings(view.partition(PARTITION), "ferry")
    wanted = StatusQuery(contract_version=1, scope=SCOPE, record_ids=tuple(one.record_id for one in refs))
    reads: dict[str, Callable[[], object]] = {
        "health": lambda: health.health(partition, now),
        "overview": lambda: overview.overview(partition, now, 200),
        "context": lambda: context.context(partition, now, around),
        "status": lambda: validate.statuses(partition, now, key, wanted),
        "validate": lambda: validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE)),
    }
    return reads[name]()


NOTICED = {
    Table.LINK: ("health", "overview", "context"),
    Table.PINNED: ("health", "overview", "context", "validate"),
    Table.STANDING: ("health", "overview", "context", "validate"),
    Table.REPLACED: ("health", "overview", "context", "validate"),
    Table.CANDIDATE_PAIR: ("health", "context"),
    Table.CANDIDATE_STATUS: ("health", "context"),
    Table.FACT: ("status", "validate"),
}
EXCHANGED = {Table.LINK, Table.CANDIDATE_PAIR, Table.FACT}
"""Whose rows say by themselves what they are about."""

UNNOTICED = (Table.FACT, "validate", removed)
"""A check holds those that are listed against what they say; a row that is not there is noticed by `relatum verify`."""

CASES = [(table, name) for table, names in NOTICED.items() for name in names]


@pytest.mark.parametrize(("table", "name"), CASES, ids=str)
def test_a_row_that_is_gone_torn_or_another_is_noticed(
    scene: tuple[Ledger, list[Ref]], table: Table, name: str
) -> None:
    ledger, refs = scene
    sound = published_rows(ledger)
    asked(name, ledger, sound, refs)
    keys = [key for key in sorted(sound) if any(key[:PREFIX_BYTES]) and key[PREFIX_BYTES] == table]
    assert keys
    for key in keys:
        for damage in (removed, torn, changed) if table in EXCHANGED else (removed, torn):
            found = dict(sound)
            damage(found, key)
            if (table, name, damage) == UNNOTICED:
                assert asked(name, ledger, found, refs)
                continue
            with pytest.raises(StorageInconsistency):
                asked(name, ledger, found, refs)


def test_a_fact_with_one_voice_is_not_read_again(ledger: Ledger, desk: Desk) -> None:
    desk.create("alone", fact_key="departure")
    found = published_rows(ledger)
    assert isinstance(asked("validate", ledger, found, []), validate.Validation)
