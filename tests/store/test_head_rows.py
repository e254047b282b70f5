"""The head of a partition as it is stored: what could not be told to anybody is not believed."""

from __future__ import annotations

import msgspec
import pytest

from relatum.core.changes import JournalHead
from relatum.core.events import Head
from relatum.core.streams import RECORDS
from relatum.errors import StorageInconsistency
from relatum.store import rows

JOURNAL_ID = "0193a4f2-7c11-7000-8000-000000000001"
BODY = rows.HEAD.encode(
    Head(streams={RECORDS: JournalHead(journal_id=JOURNAL_ID, sequence=1, prefix_digest=bytes(32))})
)


def with_tip(**members: object) -> bytes:
    """The head with other members in the tip of its stream."""
    plain = msgspec.msgpack.decode(BODY)
    plain["streams"][RECORDS] |= members
    return msgspec.msgpack.encode(plain)


def test_a_tip_is_read_as_it_was_written() -> None:
    assert BODY == with_tip()
    assert JOURNAL_ID == rows.HEAD.decode(BODY).streams[RECORDS].journal_id


@pytest.mark.parametrize("journal_id", ["", "no id", JOURNAL_ID.upper(), JOURNAL_ID.replace("-", "")])
def test_a_tip_without_the_id_of_a_journal_contradicts_the_store(journal_id: str) -> None:
    with pytest.raises(StorageInconsistency):
        rows.HEAD.decode(with_tip(journal_id=journal_id))


def test_a_tip_before_the_beginning_contradicts_the_store() -> None:
    with pytest.raises(StorageInconsistency):
        rows.HEAD.decode(with_tip(sequence=-1))
