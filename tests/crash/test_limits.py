"""The real server on a full disk and within limits of the system: one case of each kind, and the controls."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.limits import full_disk, scarce
from crash_tests.limits.limited_process import main as become
from crash_tests.part import Unavailable
from crash_tests.processes import crew
from crash_tests.template import Template
from relatum.limits import KIB, MIB
from tests.crash.noticing import noticed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template"))


def fill_up(directory: Path, template: Template, bug: str | None = None, control: str | None = None) -> object:
    """What comes of a disk that others fill, on which the server is killed and started again."""
    case = full_disk.Case(
        directory=str(directory),
        seed=7,
        number=1,
        kind="tmpfs",
        ballast_mib=4,
        left_bytes=None,
        accepted=20,
        killed=True,
        restarted_full=control is None,
        template=template,
        launch=() if bug is None else ("--bug", bug),
        control=control,
    )
    try:
        with crew(full_disk.try_case, size=1) as workers:
            (outcome,) = workers.results([case])
    except Unavailable as lacking:
        pytest.skip(str(lacking))
    return outcome


def test_a_disk_that_fills_up_costs_commands_and_nothing_else(tmp_path: Path, template: Template) -> None:
    outcome = fill_up(tmp_path, template)
    assert isinstance(outcome, full_disk.Outcome)
    assert outcome.unavailable >= full_disk.UNAVAILABLE_MIN
    assert outcome.reads > 0


def test_a_store_that_is_set_back_while_the_disk_is_full_is_noticed(tmp_path: Path, template: Template) -> None:
    with noticed():
        fill_up(tmp_path, template, control="rollback")


def test_a_failed_commit_that_is_answered_with_success_is_noticed(tmp_path: Path, template: Template) -> None:
    with noticed():
        fill_up(tmp_path, template, bug="failed-commit-answered")


WITHIN: dict[scarce.Kind, int] = {
    "descriptors at start": 20,
    "descriptors": 2,
    "address space": 300 * MIB,
    "size of a file": 60 * KIB,
}


def within(
    directory: Path, template: Template, kind: scarce.Kind, control: str | None = None, bug: str | None = None
) -> scarce.Outcome:
    return scarce.try_case(
        scarce.Case(
            directory=directory,
            seed=7,
            number=1,
            kind=kind,
            value=WITHIN[kind],
            killed=False,
            template=template,
            launch=() if bug is None else ("--bug", bug),
            control=control,
        )
    )


@pytest.mark.parametrize("kind", WITHIN)
def test_a_server_within_a_limit_loses_nothing(kind: scarce.Kind, tmp_path: Path, template: Template) -> None:
    outcome = within(tmp_path, template, kind)
    assert outcome.rows > 0
    if kind == "size of a file":
        assert outcome.unavailable > 0


def test_a_store_that_is_set_back_behind_a_limit_is_noticed(tmp_path: Path, template: Template) -> None:
    with noticed():
        within(tmp_path, template, "size of a file", control="rollback")


def test_a_commit_that_a_limit_lets_fail_and_that_is_answered_with_success_is_noticed(
    tmp_path: Path, template: Template
) -> None:
    with noticed():
        within(tmp_path, template, "size of a file", bug="failed-commit-answered")


def test_a_limit_of_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        become(["colour", "3", "--", "true"])
