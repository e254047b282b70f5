"""How often each store makes a commit durable, as the operating system sees it: what docs/performance-peers.md says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from relatum.cli.bench.peers import available
from relatum.cli.bench.peers.seed import plant
from relatum.ledger import Ledger
from tests.architecture.project import ROOT

COMMITS = 20

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed; apt-get install strace"),
]


@pytest.fixture(scope="module")
def seed_file(scratch: Path) -> Path:
    file = scratch / "seed"
    with Ledger.in_memory() as ledger:
        file.write_bytes(msgspec.msgpack.encode(plant(ledger, partitions=1, records=8)))
    return file


def synced(key: str, scratch: Path, seed_file: Path) -> Counter[str]:
    """What made something durable between the marks: syncs, and writes to files that were opened to be synchronous."""
    reason = available().missing.get(key)
    if reason is not None:
        pytest.skip(reason)
    directory, trace = scratch / f"traced-{key}", scratch / f"{key}.trace"
    directory.mkdir()
    program = [sys.executable, "-m", "tests.bench.syncing", key, str(COMMITS), str(directory), str(seed_file)]
    calls = "openat,fsync,fdatasync,sync_file_range,syncfs,sync,msync,pwrite64,getsid"
    subprocess.run(
        ["strace", "-f", "-e", f"trace={calls}", "-o", str(trace), *program], cwd=ROOT, check=True, timeout=150
    )
    before, between, _ = re.split(r"^.*getsid\(.*\n", trace.read_text(), flags=re.MULTILINE)
    synchronous = set(re.findall(r"openat\(.*O_D?SYNC.*= (\d+)", before))
    found = Counter(re.findall(r"\b(fsync|fdatasync|sync_file_range|syncfs|sync|msync)\(", between))
    found["synchronous write"] = sum(number in synchronous for number in re.findall(r"pwrite64\((\d+)", between))
    return +found


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("relatum", {"fdatasync": 2}),  # the log, then the watermark
        ("replay", {}),  # the same command again: there is nothing to make durable
        ("sqlite", {"fdatasync": 1}),
        ("lmdb", {"fdatasync": 1, "synchronous write": 1}),  # the pages, then the one that makes them count
        ("cozo", {}),
        ("rocksdb-committer", {"fdatasync": 1}),
    ],
)
def test_a_commit_is_synced_as_often_as_the_page_says(
    key: str, expected: dict[str, int], scratch: Path, seed_file: Path
) -> None:
    assert {call: COMMITS * times for call, times in expected.items()} == synced(key, scratch, seed_file)


@pytest.mark.parametrize("key", ["postgresql", "postgresql-rows"])
def test_a_server_syncs_each_commit_once(key: str, scratch: Path, seed_file: Path) -> None:
    found = synced(key, scratch, seed_file)
    # Those of its own processes fall in between, more of them the longer the commits take; twice for each it is not.
    assert COMMITS <= found["fdatasync"] < 2 * COMMITS
