"""The log scanner against logs that the engine wrote, cut, flipped and littered at many places."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from struct import pack

import pytest
from google_crc32c import value as crc32c

from relatum.errors import StoreUnavailable
from relatum.store.rocks import RocksStore
from relatum.store.wal import BLOCK_BYTES, HEADER_BYTES, TornTail, Verdict, repair_logs, scan_log
from tests.store import children
from tests.store.helpers import rows_of

GROUPS = 40


@pytest.fixture(scope="module", params=[100, 5_000, 80_000], ids=["small rows", "rows of a page", "rows of many blocks"])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose owner was killed after GROUPS synced commits."""
    directory = tmp_path_factory.mktemp("killed") / "store"
    child = children.run("commit_and_die", directory, GROUPS, request.param)
    assert -9 == child.returncode, child.stderr
    return directory


@pytest.fixture
def damaged(killed: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    copytree(killed, tmp_path / "store")
    return tmp_path / "store"


def log_of(directory: Path) -> Path:
    (path,) = [path for path in directory.glob("*.log") if path.stat().st_size]
    return path


def record_ends(log: bytes) -> list[int]:
    """The ends of the whole records of an intact log, found by cutting it: a scan of a beginning never looks further."""
    ends = [0]
    while ends[-1] < len(log):
        step = BLOCK_BYTES
        end = ends[-1]
        while scan_log(log[:end]).intact_bytes == ends[-1]:
            end = min(end + step, len(log))
        low, high = end - step, end
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if scan_log(log[:middle]).intact_bytes > ends[-1] else (middle, high)
        ends.append(scan_log(log[:high]).intact_bytes)
    return ends


def reopened(directory: Path) -> tuple[dict[bytes, bytes], tuple[TornTail, ...]]:
    store = RocksStore.open(directory, create=False)
    found = rows_of(store)
    store.close()
    return found, store.torn_tails


def places(log: bytes, count: int) -> Iterator[int]:
    """Some of the offsets before the last record, the same ones on each run."""
    seeded = random.Random(20)
    *_, before_last, _ = record_ends(log)
    return (seeded.randrange(before_last) for _ in range(count))


def test_the_log_of_a_killed_process_is_clean_and_opens_whole(killed: Path, damaged: Path) -> None:
    log = log_of(killed).read_bytes()
    assert (Verdict.CLEAN, len(log)) == scan_log(log)
    found, torn_tails = reopened(damaged)
    assert GROUPS == len(found)
    assert () == torn_tails


def test_a_log_cut_anywhere_keeps_every_whole_record(killed: Path) -> None:
    log = log_of(killed).read_bytes()
    ends = record_ends(log)
    assert GROUPS + 1 == len(ends)
    for cut in sorted({*places(log, 200), *ends, *(end + 1 for end in ends[:-1]), *(end - 1 for end in ends[1:])}):
        intact = max(end for end in ends if end <= cut)
        verdict, intact_bytes = scan_log(log[:cut])
        assert intact == intact_bytes
        padding = BLOCK_BYTES - intact % BLOCK_BYTES
        at_rest = cut == intact or (padding < HEADER_BYTES and cut <= intact + padding)
        assert (Verdict.CLEAN if at_rest else Verdict.TORN) == verdict


def test_one_flipped_bit_before_the_last_record_is_damage(killed: Path) -> None:
    log = log_of(killed).read_bytes()
    for place in places(log, 60):
        flipped = bytearray(log)
        flipped[place] ^= 1 << place % 8
        verdict, intact_bytes = scan_log(bytes(flipped))
        padding = log[place : place - place % BLOCK_BYTES + BLOCK_BYTES] == bytes(BLOCK_BYTES - place % BLOCK_BYTES)
        assert verdict is Verdict.DAMAGED or padding
        assert intact_bytes <= place or padding


def test_zeroed_lost_and_random_sectors_before_the_last_record_are_damage(killed: Path) -> None:
    log = log_of(killed).read_bytes()
    seeded = random.Random(21)
    for place in places(log[:-BLOCK_BYTES], 20) if len(log) > 3 * BLOCK_BYTES else []:
        sector = place - place % 512
        for damaged in (
            log[:sector] + bytes(512) + log[sector + 512 :],
            log[:sector] + seeded.randbytes(512) + log[sector + 512 :],
            log[:sector] + log[sector + 512 :],
        ):
            assert Verdict.DAMAGED is scan_log(damaged).verdict


def test_a_torn_tail_is_cut_kept_and_reported_and_the_store_opens(killed: Path, damaged: Path) -> None:
    path = log_of(damaged)
    whole = path.read_bytes()
    *_, last, _ = record_ends(whole)
    path.write_bytes(whole[: last + 20])
    found, torn_tails = reopened(damaged)
    assert [b"%06d" % number for number in range(GROUPS - 1)] == list(found)
    (torn,) = torn_tails
    assert (path, 20) == (torn.log, torn.tail_bytes)
    assert whole[last : last + 20] == torn.kept.read_bytes()


@pytest.mark.parametrize("tail", [b"\0" * 10_000, b"junk" * 500, b"\x07"], ids=["zeros", "junk", "one byte"])
def test_a_tail_of_anything_but_a_record_is_cut(damaged: Path, tail: bytes) -> None:
    path = log_of(damaged)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    found, (torn,) = reopened(damaged)
    assert GROUPS == len(found)
    assert tail == torn.kept.read_bytes()


@pytest.mark.parametrize("kind", [5, 6, 7, 8, 11])
def test_a_tail_that_would_make_the_engine_spin_never_reaches_it(damaged: Path, kind: int) -> None:
    path = log_of(damaged)
    with path.open("ab") as file:
        file.write(pack("<IHB", 0, 5, kind) + b"spins")
    found, (torn,) = reopened(damaged)
    assert GROUPS == len(found)
    assert HEADER_BYTES + 5 == torn.tail_bytes


def test_damage_in_the_middle_refuses_to_open_and_changes_nothing(damaged: Path) -> None:
    path = log_of(damaged)
    log = bytearray(path.read_bytes())
    log[len(log) // 3] ^= 4
    path.write_bytes(log)
    before = sorted((file.name, file.read_bytes()) for file in damaged.iterdir() if file.name != "relatum.lock")
    with pytest.raises(StoreUnavailable, match="Restore|restore"):
        RocksStore.open(damaged, create=False)
    assert before == sorted((f.name, f.read_bytes()) for f in damaged.iterdir() if f.name != "relatum.lock")


def test_a_torn_log_before_another_one_is_damage(damaged: Path) -> None:
    path = log_of(damaged)
    whole = path.read_bytes()
    path.with_name("999999.log").write_bytes(whole)
    path.write_bytes(whole[:-1])
    with pytest.raises(StoreUnavailable, match="remains of one record"):
        repair_logs(damaged)


def test_an_intact_record_of_an_unknown_type_refuses_to_open(damaged: Path) -> None:
    path = log_of(damaged)
    with path.open("ab") as file:
        file.write(fragment(130, b"of a later engine"))
    with pytest.raises(StoreUnavailable, match="unknown type"):
        RocksStore.open(damaged, create=False)


def fragment(kind: int, data: bytes) -> bytes:
    body = bytes([kind]) + data
    checksum = crc32c(body)
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return pack("<IH", masked, len(data)) + body


FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@pytest.mark.parametrize(
    ("kinds", "verdict", "intact"),
    [
        ([], Verdict.CLEAN, 0),
        ([FULL], Verdict.CLEAN, 1),
        ([FIRST, MIDDLE, MIDDLE, LAST], Verdict.CLEAN, 4),
        ([FULL, FIRST], Verdict.TORN, 1),
        ([FULL, FIRST, MIDDLE], Verdict.TORN, 1),
        ([FULL, MIDDLE], Verdict.TORN, 1),
        ([FULL, LAST, LAST], Verdict.TORN, 1),
        ([FULL, FIRST, FULL], Verdict.DAMAGED, 1),
        ([FULL, FIRST, FIRST, LAST], Verdict.DAMAGED, 1),
        ([FULL, LAST, FULL], Verdict.DAMAGED, 1),
        ([FULL, LAST, FIRST], Verdict.DAMAGED, 1),
    ],
)
def test_fragments_out_of_sequence_are_judged_by_whether_a_record_begins_behind(
    kinds: list[int], verdict: Verdict, intact: int
) -> None:
    log = b"".join(fragment(kind, b"data") for kind in kinds)
    assert (verdict, intact * len(fragment(FULL, b"data"))) == scan_log(log)
