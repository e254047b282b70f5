"""The format row: a store without it, or with another key in it, is refused and left as it was."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from relatum.errors import StorageInconsistency, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import keys, rows
from relatum.store.database import ENGINE_NAME, FORMAT_VERSION, Database
from relatum.store.rocks import RocksStore

KEY = bytes(range(rows.STORE_KEY_BYTES))
OTHER_KEY = bytes(reversed(KEY))
SOUND = rows.Format.of(FORMAT_VERSION, KEY)
FIRST = msgspec.msgpack.encode({"version": 1, "store_key": KEY}, order="sorted")
"""The row of a store of format 1, whose credentials have no digests either."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A store in which something was accepted."""
    with Ledger.open(tmp_path / "store", create=True) as ledger:
        ledger.bootstrap("acme", "root")
    return tmp_path / "store"


def replace_format(directory: Path, body: bytes | None) -> None:
    store = RocksStore.open(directory / ENGINE_NAME, create=False)
    store.write({keys.FORMAT: None if body is None else rows.seal(keys.FORMAT, body)})
    store.sync()
    store.close()


def tables(directory: Path) -> dict[str, bytes]:
    """What holds rows: the files that an engine would have moved had it been let at them."""
    engine = directory / ENGINE_NAME
    return {path.name: path.read_bytes() for suffix in ("sst", "log") for path in engine.glob(f"*.{suffix}")}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, "format row is missing"),
        (rows.FORMAT.encode(SOUND)[:-1], "format row is damaged"),
        (rows.FORMAT.encode(rows.Format.of(FORMAT_VERSION + 1, KEY)), f"has format {FORMAT_VERSION + 1}"),
        (FIRST, f"has format 1, this version of relatum reads format {FORMAT_VERSION}"),
    ],
    ids=["missing", "torn", "of a later version", "of the first version"],
)
def test_a_store_with_a_bad_format_row_is_refused_and_left_as_it_was(
    directory: Path, body: bytes | None, reason: str, create: bool
) -> None:
    replace_format(directory, body)
    before = tables(directory)
    with pytest.raises(StoreUnavailable, match=reason):
        Database.open(directory, create=create)
    assert before == tables(directory)


@pytest.mark.parametrize("bit", range(0, 8 * rows.STORE_KEY_BYTES, 37))
def test_a_key_of_which_one_bit_is_another_is_noticed(bit: int) -> None:
    altered = bytearray(KEY)
    altered[bit // 8] ^= 1 << bit % 8
    body = msgspec.msgpack.encode({"version": 1, "store_key": bytes(altered), "key_digest": SOUND.key_digest})
    with pytest.raises(StorageInconsistency):
        rows.FORMAT.decode(body)
    assert SOUND == rows.FORMAT.decode(rows.FORMAT.encode(SOUND))


def test_the_key_of_another_store_is_not_that_of_this_one() -> None:
    with pytest.raises(ValueError, match="does not match its digest"):
        rows.Format(FORMAT_VERSION, OTHER_KEY, SOUND.key_digest)
