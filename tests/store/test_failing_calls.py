"""A write or a sync of the log that fails once: what is in doubt is there on reopening, or not; nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.part import Unavailable
from crash_tests.system_calls.native import compiled
from relatum.store.rocks import RocksStore
from tests.store import children


@pytest.fixture(scope="module")
def injector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return compiled("injector", tmp_path_factory.mktemp("compiled"))
    except Unavailable as lacking:
        pytest.skip(str(lacking))


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize(("call", "there"), [("SYNC", True), ("WRITE", False)])
def test_a_batch_whose_call_has_failed_is_invisible_and_reopening_tells(
    call: str, error: str, there: bool, injector: Path, tmp_path: Path
) -> None:
    """Every later sync would succeed: the store must not try one. After the sync that failed the log has the batch."""
    child = children.run("fail_call", call, error, tmp_path / "store", library=injector)
    assert (0, "as promised\n") == (child.returncode, child.stdout), child.stderr
    store = RocksStore.open(tmp_path / "store", create=False)
    assert (b"1", None) == (store.get(b"kept"), store.get(b"later"))
    assert there == (store.get(b"doubtful") is not None)
    store.close()
