"""The scrub of a store that is being served: it goes round and round, tells what it finds, and stops nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from threading import Event, Semaphore
from threading import enumerate as threads

import pytest

from relatum.errors import StorageFailure
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.store.verify.scrub import LOGGED_MAX, Pace, Scrub, scrubbing
from relatum.store.verify.throttle import ROWS_BETWEEN_RESTS, Stopped, Unhurried
from relatum.store.view import LedgerView
from relatum.telemetry import Level, Log
from tests.fuzz.dice import Dice
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import database_on
from tests.verify.restless import Restless

Rows = dict[bytes, bytes]

HURRIED = Pace(pass_seconds=0.0, step_rows=50, rest_factor=0.0, retry_seconds=0.0)


class PassClock:
    """A clock that a scrub asks at the end of each pass, and so tells when that is."""

    def __init__(self) -> None:
        self._passes = Semaphore(0)

    def millis(self) -> int:
        self._passes.release()
        return START_MILLIS

    def wait_for_pass(self) -> None:
        assert self._passes.acquire(timeout=WAIT_SECONDS), "the scrub did not come to the end of a pass"


class Scrubbed:
    """A ledger under a scrub, and what the scrub has logged."""

    def __init__(self, ledger: Ledger, pace: Pace, level: Level = "warning") -> None:
        self.ledger = ledger
        self.clock = PassClock()
        self.told = Event()
        self.reading = Event()
        self._written = StringIO()
        log = Log(self._written, self._line, level)
        self.scrub = Scrub(self.view, ledger.metrics, log, self.clock, pace)
        self.views = 0
        self.broken = False

    def view(self) -> LedgerView:
        self.views += 1
        if self.broken:
            raise StorageFailure("the disk is gone")
        self.reading.set()
        return self.ledger.view()

    def _line(self) -> int:
        self.told.set()
        return START_MILLIS

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._written.getvalue().splitlines()]


@contextmanager
def scrubbed(ledger: Ledger, pace: Pace = HURRIED) -> Iterator[Scrubbed]:
    under = Scrubbed(ledger, pace)
    under.scrub.start()
    try:
        yield under
    finally:
        under.scrub.stop()


@contextmanager
def ledger_on(found: Rows) -> Iterator[Ledger]:
    with Ledger(database_on(MemoryStore(found)), log=Log(StringIO(), lambda: START_MILLIS)) as ledger:
        yield ledger


def test_it_goes_over_every_row_again_and_again(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        with scrubbed(ledger) as under:
            for _ in range(3):
                under.clock.wait_for_pass()
        assert measured(ledger, "relatum_scrub_passes_total") >= 2
        assert measured(ledger, "relatum_scrub_rows_total") >= 3 * len(sound_rows)
        assert 0 == measured(ledger, "relatum_scrub_findings_total")
        assert START_MILLIS // 1000 == measured(ledger, "relatum_scrub_end_timestamp_seconds")
        assert [] == under.lines()


def test_the_end_of_a_pass_is_told(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        under = Scrubbed(ledger, HURRIED, "info")
        under.scrub.start()
        assert under.told.wait(WAIT_SECONDS)
        under.scrub.stop()
    line = under.lines()[0]
    assert ("the scrub has gone through the store", len(sound_rows), 0) == (
        line["message"],
        line["rows"],
        line["findings"],
    )


def test_a_finding_is_logged_and_counted_and_the_server_goes_on(sound_rows: Rows) -> None:
    key = next(key for key in sound_rows if key[PREFIX_BYTES] == Table.DEPENDENT and any(key[:PREFIX_BYTES]))
    with ledger_on({**sound_rows, key: rows.seal(key, rows.pack_u64(9))}) as ledger:
        with scrubbed(ledger) as under:
            under.clock.wait_for_pass()
            under.clock.wait_for_pass()
            under.clock.wait_for_pass()
            Desk(ledger).create("written meanwhile")
        passes = measured(ledger, "relatum_scrub_passes_total")
        assert 2 * passes <= measured(ledger, "relatum_scrub_findings_total") <= 2 * (passes + 1)
        assert "ready" == ledger.readiness()
        line = under.lines()[1]
        assert "header" == under.lines()[0]["family"], "which counts the row"
        assert ("error", "dependent") == (line["level"], line["family"])
        assert "dependent" not in str(line["workspace_id"])
        assert "rows are not those that the events imply" in str(line["finding"])


def test_of_many_findings_some_are_logged_and_all_are_counted(sound_rows: Rows) -> None:
    found = {key: row for key, row in sound_rows.items() if key[PREFIX_BYTES] != Table.HEADER}
    lost = len(sound_rows) - len(found)
    assert lost > LOGGED_MAX
    with ledger_on(found) as ledger, scrubbed(ledger) as under:
        under.clock.wait_for_pass()
    assert measured(ledger, "relatum_scrub_findings_total") >= lost
    begun = measured(ledger, "relatum_scrub_passes_total") + 1
    assert LOGGED_MAX + 1 <= len(under.lines()) <= begun * (LOGGED_MAX + 1)
    assert "not logged" in str(under.lines()[LOGGED_MAX]["message"])


@pytest.mark.slow
def test_nothing_is_made_up_while_four_clients_write(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "store", create=True) as ledger, scrubbed(ledger) as under:

        def work(client: Restless) -> None:
            while client.accepted < 50 or measured(ledger, "relatum_scrub_passes_total") < 3:
                client.give(5)

        clients = [Restless(ledger, Dice("client", number)) for number in range(4)]
        with ThreadPoolExecutor(len(clients)) as pool:
            for future in [pool.submit(work, client) for client in clients]:
                future.result(3 * WAIT_SECONDS)
        under.clock.wait_for_pass()
    assert 0 == measured(ledger, "relatum_scrub_findings_total"), under.lines()


def test_a_view_is_taken_for_each_step_and_none_is_held_between_two(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        with scrubbed(ledger, HURRIED._replace(step_rows=10)) as under:
            under.clock.wait_for_pass()
        assert under.views > len(sound_rows) // 20
        ledger.close()  # which raises while a view is open


def test_it_stops_where_it_is_however_slow_its_pace(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        under = Scrubbed(ledger, Pace(pass_seconds=1e6, step_rows=10))
        under.scrub.start()
        under.scrub.stop()
        assert not any(thread.name == "relatum-scrub" for thread in threads())
        assert 0 == measured(ledger, "relatum_scrub_passes_total")


def test_a_store_that_can_not_be_read_is_logged_and_tried_again(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger, scrubbed(ledger) as under:
        under.clock.wait_for_pass()
        under.broken = True
        assert under.told.wait(WAIT_SECONDS)
        under.broken = False
        under.clock.wait_for_pass()
        under.clock.wait_for_pass()
    failures = measured(ledger, "relatum_scrub_failures_total")
    assert failures >= 1
    assert failures == len(under.lines())
    assert "the scrub could not read the store and begins again soon" == under.lines()[0]["message"]


def test_a_failure_is_not_slept_over_for_as_long_as_a_pass_may_take(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        under = Scrubbed(ledger, Pace(pass_seconds=1e6, step_rows=10, retry_seconds=0.0))
        under.broken = True
        under.scrub.start()
        for _ in range(3):
            assert under.told.wait(WAIT_SECONDS)
            under.told.clear()
        under.broken = False
        assert under.reading.wait(WAIT_SECONDS)
        under.scrub.stop()
        assert measured(ledger, "relatum_scrub_failures_total") >= 3


def test_a_failure_that_lasts_is_met_less_and_less_often() -> None:
    pace = Pace(pass_seconds=24 * 3600.0)
    waits = [pace.retry_after(failures) for failures in range(1, 1_000)]
    assert [60.0, 120.0, 240.0] == waits[:3]
    assert {3_600.0} == set(waits[7:])
    assert waits == sorted(waits)


def test_stopping_is_no_failure(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        with scrubbed(ledger) as under:
            under.clock.wait_for_pass()
        assert 0 == measured(ledger, "relatum_scrub_failures_total")
        assert [] == under.lines()


def test_with_no_hours_there_is_no_scrub(sound_rows: Rows) -> None:
    with ledger_on(sound_rows) as ledger:
        log = Log(StringIO(), lambda: START_MILLIS)
        with scrubbing(ledger.view, ledger.metrics, log, ledger.clock, 0):
            assert not any(thread.name == "relatum-scrub" for thread in threads())
        with scrubbing(ledger.view, ledger.metrics, log, ledger.clock, 1):
            assert any(thread.name == "relatum-scrub" for thread in threads())
        assert not any(thread.name == "relatum-scrub" for thread in threads())


def test_a_long_step_is_left_where_it_is_once_it_is_time_to_stop() -> None:
    many = MemoryStore({number.to_bytes(4, "big"): b"" for number in range(2 * ROWS_BETWEEN_RESTS)})
    stopping = Event()
    reader = Unhurried(many, stopping)
    assert 2 * ROWS_BETWEEN_RESTS == sum(1 for _ in reader.scan(b"", b"\xff"))
    stopping.set()
    with pytest.raises(Stopped):
        sum(1 for _ in reader.scan(b"", b"\xff"))
