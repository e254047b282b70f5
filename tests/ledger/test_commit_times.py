"""Commit times never run backwards, whatever the clock does; what holds now is judged by the clock alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.core.access import Credential, CredentialSpec
from relatum.core.eligibility import Evaluator
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import credentials
from tests.support import builders
from tests.support.builders import PARTITION, PRIVATE, SCOPE, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

YEAR = 365 * 86_400_000


def bootstrapped(ledger: Ledger) -> Credential:
    made = ledger.bootstrap("acme", "root")
    assert isinstance(made, IssuedCredential)
    return made.credential


def issue(ledger: Ledger, admin: Credential, expires_at_millis: int) -> IssuedCredential | Refusal:
    spec = CredentialSpec(
        subject_id="guest", capabilities=("memory_read",), grants=(SCOPE,), expires_at_millis=expires_at_millis
    )
    return asyncio.run(ledger.issue_credential(admin, spec))


def issued(ledger: Ledger, admin: Credential, expires_at_millis: int) -> IssuedCredential:
    made = issue(ledger, admin, expires_at_millis)
    assert isinstance(made, IssuedCredential)
    return made


def committed(desk: Desk) -> int:
    return desk.accept(builders.create()).committed_at_millis


def test_a_commit_carries_the_time_of_the_clock(desk: Desk, clock: ManualClock) -> None:
    assert START_MILLIS == committed(desk)
    clock.advance(5)
    assert START_MILLIS + 5 == committed(desk)


def test_a_clock_that_goes_back_holds_commits_at_the_last_time(desk: Desk, clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(desk)
    clock.set(START_MILLIS)
    assert latest == committed(desk)
    clock.set(latest + 1)
    assert latest + 1 == committed(desk)


@pytest.mark.parametrize("restarted", [False, True])
def test_one_command_while_the_clock_is_years_ahead_ends_nothing_once_the_clock_is_right(
    tmp_path: Path, clock: ManualClock, restarted: bool
) -> None:
    def opened() -> Ledger:
        return Ledger.open(tmp_path / "ledger", create=True, clock=clock, clock_ahead_max_seconds=0)

    ledger = opened()
    desk, judging = Desk(ledger), JudgingDesk(ledger)
    admin = bootstrapped(ledger)
    lasting, other = desk.create("lasts", valid_until_millis=START_MILLIS + YEAR), desk.create("for ever")
    guest = issued(ledger, admin, START_MILLIS + YEAR)
    clock.advance(10 * YEAR)
    Desk(ledger, PRIVATE).create("by a wrong clock")
    clock.set(START_MILLIS)
    if restarted:
        ledger.close()
        ledger = opened()
        desk, judging = Desk(ledger), JudgingDesk(ledger)
    with ledger.view() as view:
        assert START_MILLIS == view.now_millis
        partition = view.partition(PARTITION)
        version = partition.record(lasting.record_id)
        assert version is not None
        assert Evaluator(partition, view.now_millis).is_eligible(version)
        assert credentials.authenticate(view, guest.secret) is not None
    assert START_MILLIS + 10 * YEAR == desk.relate(lasting, other).committed_at_millis
    derived = desk.derive(lasting)
    assert not isinstance(judging.submit((derived, other)), Refusal)
    assert START_MILLIS + 1 == issued(ledger, admin, START_MILLIS + 1).credential.spec.expires_at_millis
    assert issue(ledger, admin, START_MILLIS).status == 400  # type: ignore[union-attr]  # a refusal
    clock.set(START_MILLIS + YEAR)
    assert isinstance(desk.submit(builders.assertion(lasting, other)), Refusal)
    with ledger.view() as view:
        assert credentials.authenticate(view, guest.secret) is None
    ledger.close()


def test_a_commit_in_one_partition_holds_the_others(ledger: Ledger, desk: Desk, clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(desk)
    clock.set(START_MILLIS)
    assert latest == committed(Desk(ledger, PRIVATE))


def test_a_reopened_ledger_remembers_its_last_commit(reopen: Callable[[], Ledger], clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(Desk(reopen()))
    clock.set(START_MILLIS)
    reopened = reopen()
    with reopened.view() as view:
        assert START_MILLIS == view.now_millis
    assert latest == committed(Desk(reopened))


def test_reads_alone_do_not_hold_the_clock(ledger: Ledger, desk: Desk, clock: ManualClock) -> None:
    desk.create()
    clock.advance(1_000)
    with ledger.view() as view:
        assert START_MILLIS + 1_000 == view.now_millis
    clock.advance(-500)
    assert START_MILLIS + 500 == committed(desk)


def test_one_group_has_one_time(ledger: Ledger, desk: Desk) -> None:
    class Ticking(ManualClock):
        def millis(self) -> int:
            self.advance(1)
            return super().millis()

    with Ledger.in_memory(clock=Ticking(START_MILLIS)) as ticking:
        busy = Desk(ticking)
        outcomes = ticking.submit_all([busy.command(builders.create()) for _ in range(5)])
        assert 1 == len({outcome.committed_at_millis for outcome in outcomes})  # type: ignore[union-attr]  # all are receipts
