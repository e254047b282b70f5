"""A state machine that drives each store beside a plain dict, through reopenings and crashes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from relatum.store.kv import Reader, View
from relatum.store.memory import MemoryStore
from relatum.store.rocks import RocksStore
from tests.store.conftest import Store
from tests.store.helpers import EVERYTHING, rows_of

keys = st.binary(max_size=2) | st.sampled_from([b"k%d" % number for number in range(8)])
changes = st.dictionaries(keys, st.none() | st.binary(max_size=4), max_size=8)
Rows = dict[bytes, bytes]


class StoreMachine(RuleBasedStateMachine):
    """Subclasses say how a store is opened, and how it comes to be opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.store = self.opened()
        self.written: Rows = {}
        self.synced: Rows = {}
        self.published: Rows = {}
        self.position: object = None
        self.views: list[tuple[View, Rows, object]] = []

    def opened(self) -> Store:
        raise NotImplementedError

    def opened_again(self) -> Store:
        raise NotImplementedError

    @rule(rows=changes)
    def write(self, rows: dict[bytes, bytes | None]) -> None:
        self.store.write(rows)
        self.synced = self.written
        self.written = {key: value for key, value in {**self.written, **rows}.items() if value is not None}

    @rule()
    def sync(self) -> None:
        self.store.sync()
        self.synced = self.written

    @precondition(lambda self: self.synced is self.written)
    @rule(position=st.integers())
    def publish(self, position: int) -> None:
        self.store.publish(position)
        self.published, self.position = self.written, position

    @precondition(lambda self: len(self.views) < 4)
    @rule()
    def take_view(self) -> None:
        self.views.append((self.store.view(), self.published, self.position))

    @precondition(lambda self: self.views)
    @rule(data=st.data())
    def close_view(self, data: st.DataObject) -> None:
        view, _, _ = self.views.pop(data.draw(st.integers(0, len(self.views) - 1)))
        view.close()

    @rule(start=keys, stop=keys, reverse=st.booleans())
    def scan_everywhere(self, start: bytes, stop: bytes, reverse: bool) -> None:
        readers: list[tuple[Reader, Rows]] = [(self.store, self.written)]
        readers += [(view, rows) for view, rows, _ in self.views]
        for reader, rows in readers:
            expected = sorted((item for item in rows.items() if start <= item[0] < stop), reverse=reverse)
            assert expected == list(reader.scan(start, stop, reverse=reverse))
            assert rows.get(start) == reader.get(start)

    @rule()
    def open_again(self) -> None:
        self.close_views()
        self.store = self.opened_again()
        found = rows_of(self.store)
        assert found in (self.synced, self.written)
        self.written = self.synced = self.published = found
        self.position = None

    @invariant()
    def views_stay_as_they_were_taken(self) -> None:
        for view, rows, position in self.views:
            assert rows == rows_of(view)
            assert list(rows_of(view).items())[::-1] == list(view.scan(*EVERYTHING, reverse=True))
            assert position == view.position

    def close_views(self) -> None:
        for view, _, _ in self.views:
            view.close()
        self.views.clear()

    def teardown(self) -> None:
        self.close_views()
        self.store.close(wait_seconds=0)


class MemoryMachine(StoreMachine):
    def opened(self) -> Store:
        return MemoryStore()

    def opened_again(self) -> Store:
        assert isinstance(self.store, MemoryStore)
        return self.store.crash()


class RocksMachine(StoreMachine):
    """Closed and opened again. What a real kill leaves is shown by test_opening, with real processes."""

    def __init__(self) -> None:
        self.temporary = TemporaryDirectory()
        super().__init__()

    def opened(self) -> Store:
        return RocksStore.open(Path(self.temporary.name), create=True)

    def opened_again(self) -> Store:
        self.store.close(wait_seconds=0)
        return self.opened()

    def teardown(self) -> None:
        super().teardown()
        self.temporary.cleanup()


@pytest.mark.parametrize(("machine", "examples"), [(MemoryMachine, 100), (RocksMachine, 10)])
def test_each_store_behaves_like_a_dict(machine: type[StoreMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=min(examples, settings().max_examples),
            stateful_step_count=30,
            deadline=None,  # opening a store is slow beside everything else, and disks are what they are
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
