"""The log scanner against logs that the engine wrote, cut, flipped and littered at many places."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shutil import copytree
from struct import pack
from typing import NamedTuple

import pytest
from google_crc32c import value as crc32c

from relatum.errors import StoreUnavailable
from relatum.limits import MIB
from relatum.store import log_format
from relatum.store.log_format import BLOCK_BYTES, HEADER_BYTES, Verdict
from relatum.store.preflight import TornTail, repair_logs
from relatum.store.rocks import RocksStore
from relatum.store.wal import scan_log
from tests.store import children
from tests.store.helpers import commit, rows_of
from tests.store.log_bytes import FIRST, FULL, LAST, MIDDLE, UNKNOWN, batch, fragment

GROUPS = 40


class Killed(NamedTuple):
    """A store whose owner was killed after GROUPS synced commits, and what its log held then."""

    directory: Path
    log: bytes
    record_ends: list[int]  # as the file grew, commit by commit


@pytest.fixture(
    scope="module", params=[100, 5_000, 80_000], ids=["small rows", "rows of a page", "rows of many blocks"]
)
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    directory = tmp_path_factory.mktemp("killed") / "store"
    child = children.run("commit_and_die", directory, GROUPS, request.param)
    assert -9 == child.returncode, child.stderr
    return Killed(directory, log_of(directory).read_bytes(), [0, *map(int, child.stdout.split())])


@pytest.fixture
def damaged(killed: Killed, tmp_path: Path) -> Path:
    """A copy of that store to damage."""
    copytree(killed.directory, tmp_path / "store")
    return tmp_path / "store"


def log_of(directory: Path) -> Path:
    (path,) = [path for path in directory.glob("*.log") if path.stat().st_size]
    return path


def reopened(directory: Path) -> tuple[dict[bytes, bytes], tuple[TornTail, ...]]:
    store = RocksStore.open(directory, create=False)
    found = rows_of(store)
    store.close()
    return found, store.torn_tails


def places(killed: Killed, count: int) -> Iterator[int]:
    """Offsets of bytes that matter before the last record, the same ones on each run."""
    seeded = random.Random(20)
    found = (seeded.randrange(killed.record_ends[-2]) for _ in range(2 * count))
    return islice((place for place in found if not in_padding(killed, place)), count)


def in_padding(killed: Killed, place: int) -> bool:
    """Whether no fragment covers the byte: less than a header fits between the record before it and the next block."""
    before = max(end for end in killed.record_ends if end <= place)
    return before // BLOCK_BYTES == place // BLOCK_BYTES and BLOCK_BYTES - before % BLOCK_BYTES < HEADER_BYTES


def test_the_log_of_a_killed_process_is_clean_and_opens_whole(killed: Killed, damaged: Path) -> None:
    assert (Verdict.CLEAN, len(killed.log)) == scan_log(killed.log)[0]
    found, torn_tails = reopened(damaged)
    assert GROUPS == len(found)
    assert () == torn_tails


def test_a_log_cut_anywhere_keeps_every_whole_record(killed: Killed) -> None:
    ends = killed.record_ends
    assert GROUPS + 1 == len(ends)
    assert len(killed.log) == ends[-1]
    for cut in {*places(killed, 100), *ends, *(end + 1 for end in ends[:-1]), *(end - 1 for end in ends[1:])}:
        intact = max(end for end in ends if end <= cut)
        verdict = Verdict.CLEAN if cut == intact or in_padding(killed, cut - 1) else Verdict.TORN
        assert (verdict, intact) == scan_log(killed.log[:cut])[0]


def test_one_flipped_bit_before_the_last_record_is_damage(killed: Killed) -> None:
    for place in places(killed, 60):
        flipped = bytearray(killed.log)
        flipped[place] ^= 1 << place % 8
        intact = max(end for end in killed.record_ends if end <= place)
        assert (Verdict.DAMAGED, intact) == scan_log(bytes(flipped))[0]


@pytest.mark.parametrize("kind", ["zeroed", "random", "lost"])
def test_a_bad_sector_before_the_last_records_is_damage(killed: Killed, kind: str) -> None:
    bad = {"zeroed": bytes(512), "random": random.Random(21).randbytes(512), "lost": b""}[kind]
    for place in places(killed, 20):
        sector = place // 512 * 512
        if 0 < sector <= killed.record_ends[-2] - 512:  # that the first records of a log are lost, no log can tell
            assert Verdict.DAMAGED is scan_log(killed.log[:sector] + bad + killed.log[sector + 512 :])[0].verdict


def test_a_torn_tail_is_cut_kept_and_reported_and_the_store_opens(killed: Killed, damaged: Path) -> None:
    path, last = log_of(damaged), killed.record_ends[-2]
    path.write_bytes(killed.log[: last + 20])
    found, torn_tails = reopened(damaged)
    assert [b"%06d" % number for number in range(GROUPS - 1)] == list(found)
    (torn,) = torn_tails
    assert (path, 20) == (torn.log, torn.tail_bytes)
    assert killed.log[last : last + 20] == torn.kept.read_bytes()


@pytest.mark.parametrize("tail", [b"\0" * 10_000, b"junk" * 500, b"\x07"], ids=["zeros", "junk", "one byte"])
def test_a_tail_of_anything_but_a_record_is_cut(damaged: Path, tail: bytes) -> None:
    path = log_of(damaged)
    path.write_bytes(path.read_bytes() + tail)
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
    with pytest.raises(StoreUnavailable, match="restore a backup"):
        RocksStore.open(damaged, create=False)
    assert before == sorted((f.name, f.read_bytes()) for f in damaged.iterdir() if f.name != "relatum.lock")


@pytest.mark.parametrize("later", ["999999.log", "1000000.log"])
def test_a_torn_log_before_another_one_is_damage(damaged: Path, later: str) -> None:
    path = log_of(damaged)
    whole = path.read_bytes()
    path.with_name(later).write_bytes(whole)
    path.write_bytes(whole[:-1])
    with pytest.raises(StoreUnavailable, match="remains of one record"):
        repair_logs(damaged)


def test_a_log_that_can_not_be_read_refuses_to_open(damaged: Path) -> None:
    (damaged / "999999.log").mkdir()
    with pytest.raises(StoreUnavailable, match=r"can't read .*999999\.log"):
        RocksStore.open(damaged, create=False)


def test_an_intact_record_of_an_unknown_kind_refuses_to_open(damaged: Path) -> None:
    path = log_of(damaged)
    with path.open("ab") as file:
        file.write(fragment(UNKNOWN, b"of a later engine"))
    with pytest.raises(StoreUnavailable, match="unknown kind"):
        RocksStore.open(damaged, create=False)


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
    log = b"".join(fragment(kind, batch(number=7, rows=0)) for kind in kinds)
    assert (verdict, intact * len(fragment(FULL, batch(7)))) == scan_log(log)[0]


@pytest.mark.parametrize(
    ("batches", "verdict"),
    [
        ([batch(5, 3), batch(8, 0), batch(8, 1), batch(9, 1)], Verdict.CLEAN),
        ([batch(5, 3), batch(9, 1)], Verdict.DAMAGED),
        ([batch(5, 3), batch(7, 1)], Verdict.DAMAGED),
        ([batch(5, 3), batch(5, 3)], Verdict.DAMAGED),
        ([batch(5, 3), b"too short"], Verdict.DAMAGED),
    ],
)
def test_batches_are_numbered_without_gaps(batches: list[bytes], verdict: Verdict) -> None:
    log = b"".join(fragment(FULL, data) for data in batches)
    assert verdict is scan_log(log)[0].verdict


HEAD = fragment(FULL, batch(0x0300_0000, 5))
"""A log's first record. The next batch has a number whose high bytes are 03 00 00 00 00."""
TAIL_BYTES = 8 * MIB


@pytest.mark.parametrize("pattern", [b"\x01", b"\x02", b"\x01\x00", b"\x00\x02\x01", b"\x01\x03", b"a\x01"])
def test_a_long_tail_of_bytes_that_could_be_kinds_is_torn_and_few_checksums_are_computed(
    pattern: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []

    def counted(data: bytes) -> int:
        computed.append(len(data))
        return int(crc32c(data))

    monkeypatch.setattr(log_format, "crc32c", counted)
    tail = pattern * (TAIL_BYTES // len(pattern))
    assert (Verdict.TORN, len(HEAD)) == scan_log(HEAD + tail)[0]
    assert len(computed) < TAIL_BYTES / 1_000


@pytest.mark.parametrize("pattern", [b"\x01", b"\x00", b"\x01" + bytes(8)])
@pytest.mark.parametrize("kind", [FULL, FIRST])
@pytest.mark.parametrize("number", [0x0300_0005, 0x0300_1234, 0x0400_0000])
def test_a_later_record_within_such_a_tail_is_damage(pattern: bytes, kind: int, number: int) -> None:
    filler = pattern * (100_000 // len(pattern))
    tail = filler + fragment(kind, batch(number)) + filler
    log = HEAD + tail + bytes(TAIL_BYTES * 3)  # which is why the number may be as high as that
    assert (Verdict.DAMAGED, len(HEAD)) == scan_log(log)[0]


@pytest.mark.parametrize("room", range(HEADER_BYTES, HEADER_BYTES + 14))
def test_a_later_record_that_begins_right_before_the_end_of_a_block_is_found(room: int) -> None:
    first = fragment(FIRST, batch(0x0300_0007)[: room - HEADER_BYTES])
    log = (HEAD + b"\x01" * BLOCK_BYTES)[: BLOCK_BYTES - room] + first + b"\x01" * 100
    assert (Verdict.DAMAGED, len(HEAD)) == scan_log(log)[0]


def test_a_record_from_before_is_none_that_followed() -> None:
    log = HEAD + b"torn" + fragment(FULL, batch(7))
    assert (Verdict.TORN, len(HEAD)) == scan_log(log)[0]


def test_the_number_of_a_batch_is_found_though_its_fragments_be_tiny() -> None:
    def log(second: bytes) -> bytes:
        return fragment(FULL, batch(5, 3)) + b"".join(
            fragment(kind, data) for kind, data in ((FIRST, second[:1]), (MIDDLE, second[1:9]), (LAST, second[9:]))
        )

    assert Verdict.CLEAN is scan_log(log(batch(8) + b"rows"))[0].verdict
    assert Verdict.DAMAGED is scan_log(log(batch(9) + b"rows"))[0].verdict


def test_the_engine_numbers_batches_without_gaps_whatever_they_hold(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path, create=True)
    for rows in ({b"a": b"1", b"b": None}, {}, {b"a": None}, {b"c": b"x" * 100_000, b"d": b""}, {}, {b"e": b""}):
        commit(store, rows)
    log = log_of(tmp_path).read_bytes()
    assert (Verdict.CLEAN, len(log)) == scan_log(log)[0]
    store.close()
