"""Damage at rest: what the part notices, what it lets pass, and the checks of the product without which it fails."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from crash_tests.bugs import BUGS
from crash_tests.damage import rows
from crash_tests.damage.damage_case import CATALOGUE, Outcome
from crash_tests.damage.damages import Case
from crash_tests.damage.part import PART, done
from crash_tests.damage.scene import load
from crash_tests.damage.worker import Attempt, Prepare
from crash_tests.part import Run
from crash_tests.random_draws import seeded
from crash_tests.violation import Violation

pytestmark = pytest.mark.slow

SEED = 7
TRIES = 12
"""A kind of damage is tried on so many files or rows at most until a bug shows."""
DRAWN = {("row topic", "old"), ("row checkpoint", "old")}
"""Damages that a seed's scene may have no row for, because its dice never wrote one twice; another's has."""

SHOWN_BY: dict[str, tuple[str, str]] = {
    "checksum-not-checked": ("row dependent", "torn"),
    "preflight-skipped": ("power cut", "littered"),
    "manifest-not-checked": ("manifest", "old"),
    "scan-status-ignored": ("table data", "zeroed"),
    "digest-not-checked": ("row record", "forged"),
    "witness-not-checked": ("row receipt", "removed"),
    "index-not-counted": ("row outgoing", "removed"),
    "rows-not-counted": ("row standing", "removed"),
    "missing-row-not-missed": ("row record", "removed"),
    "newest-not-compared": ("row record_revision", "torn"),
    "trace-overlooked": ("row relation", "removed"),
    "old-credential-believed": ("row credential", "old"),
    "journal-link-not-checked": ("row journal", "misplaced"),
    "lists-not-checked": ("row workspace", "removed"),
    "tips-not-checked": ("row workspace", "removed"),
    "watermark-not-checked": ("log", "emptied"),
    "watermark-forgotten": ("log", "emptied"),
    "replay-without-history-check": ("row relation", "removed"),
}
"""By which damage each bug shows."""
OF_WRITING = ("watermark-forgotten",)
"""Bugs that the store must have been made with."""


def run(directory: Path, bug: str | None = None, control: str | None = None) -> Run:
    return Run(seed=SEED, cases=1, directory=directory, tell=print, bug=bug, control=control)


def prepared(directory: Path, bug: str | None = None) -> Path:
    place = directory / "store-0"
    assert 1 == len(list(done(run(directory, bug), iter([Prepare(str(place), f"{SEED}/0")]))))
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The undamaged store."""
    return prepared(tmp_path_factory.mktemp("damage"))


def outcomes(place: Path, given: Run, kind: str, manner: str, tries: int = 1) -> list[Outcome]:
    """What comes of so many damages of a kind. Raises Violation."""
    first = next(number for number, one in enumerate(CATALOGUE, start=1) if one[1:] == (kind, manner))
    scratch = str(given.directory)
    tasks = (Attempt(str(place), scratch, SEED, first + turn * len(CATALOGUE)) for turn in range(tries))
    return [msgspec.json.decode(text, type=Outcome) for text in done(given, tasks)]


def test_each_bug_that_the_part_is_said_to_find_has_a_damage_here() -> None:
    assert set(PART.bugs) == set(SHOWN_BY) <= set(BUGS)


def test_the_scene_has_rows_of_every_table_and_they_can_be_damaged_in_every_manner(place: Path) -> None:
    case = Case(place, place / "store", load(place), seeded(SEED))
    left_out = [
        (kind, manner)
        for kind, manner in rows.kinds()
        if all(rows.MANNERS[manner](case, key) is None for key in rows.keys_of(case, kind))
    ]
    assert DRAWN >= set(left_out)


@pytest.mark.parametrize("bug", SHOWN_BY)
def test_damage_shows(bug: str, place: Path, tmp_path: Path) -> None:
    own = prepared(tmp_path, bug) if bug in OF_WRITING else place
    with pytest.raises(Violation, match=r"case \d+"):
        outcomes(own, run(tmp_path, bug), *SHOWN_BY[bug], tries=TRIES)


@pytest.mark.parametrize(
    ("kind", "manner", "noticed"),
    [
        ("log", "emptied", {"refused"}),
        ("manifest", "old", {"refused"}),
        ("manifest", "lengthened", {"without effect"}),
        ("table data", "flipped", {"refused", "at a door", "by verify"}),
        ("watermark", "deleted", {"refused"}),
        ("identity", "deleted", {"without effect"}),
        ("row format", "forged", {"refused"}),
        ("row position", "forged", {"refused"}),
        ("row workspace", "removed", {"refused"}),
        ("row credential", "old", {"refused"}),
        ("row record", "old", {"at a door"}),
        ("row record", "removed", {"at a door"}),
        ("row relation", "old", {"at a door"}),
        ("row checkpoint", "foreign", {"at a door"}),
        ("row dependent", "removed", {"by verify"}),
        ("power cut", "littered", {"without effect"}),
    ],
)
def test_who_notices(kind: str, manner: str, noticed: set[str], place: Path, tmp_path: Path) -> None:
    assert noticed >= {one.noticed for one in outcomes(place, run(tmp_path), kind, manner, tries=3)}


def test_an_earlier_store_as_a_whole_makes_the_part_fail(place: Path, tmp_path: Path) -> None:
    with pytest.raises(Violation, match="wrong answers"):
        outcomes(place, run(tmp_path, control="rollback"), "row record", "torn")


def test_a_run_counts_its_damages_and_leaves_nothing_behind(tmp_path: Path) -> None:
    given = Run(seed=SEED, cases=4, first_case=100, directory=tmp_path, tell=print)
    assert 4 == PART.run(given).cases
    assert not list(tmp_path.glob("case-*"))
