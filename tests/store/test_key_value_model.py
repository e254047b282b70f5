"""A state machine that drives each store beside a plain dict, through crashes and reopenings."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
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
    """Subclasses say how a store is opened, and how it is found again after the power went."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Rows = {}
        self.synced: Rows = {}
        self.published: Rows = {}
        self.position: object = None
        self.views: list[tuple[View, Rows, object]] = []

    def opened(self) -> Store:
        raise NotImplementedError

    def after_power_cut(self) -> Store:
        raise NotImplementedError

    @initialize()
    def open(self) -> None:
        self.store = self.opened()

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
    def lose_power(self) -> None:
        self.store, before = self.after_power_cut(), self.store
        found = rows_of(self.store)
        assert found in (self.synced, self.written)
        self.written = self.synced = self.published = found
        self.position = None
        self.abandon(before)

    @invariant()
    def views_stay_as_they_were_taken(self) -> None:
        for view, rows, position in self.views:
            assert rows == rows_of(view)
            assert list(rows_of(view).items())[::-1] == list(view.scan(*EVERYTHING, reverse=True))
            assert position == view.position

    def abandon(self, store: Store) -> None:
        for view, _, _ in self.views:
            view.close()
        self.views.clear()
        store.close(wait_seconds=0)

    def teardown(self) -> None:
        with suppress(AttributeError):
            self.abandon(self.store)


class MemoryMachine(StoreMachine):
    def opened(self) -> Store:
        return MemoryStore()

    def after_power_cut(self) -> Store:
        assert isinstance(self.store, MemoryStore)
        return self.store.crash()


class RocksMachine(StoreMachine):
    """A copy of the files of a running store is what a kill leaves: all that was written, as far as it was written."""

    def __init__(self) -> None:
        super().__init__()
        self.temporary = TemporaryDirectory()
        self.generation = 0

    @property
    def directory(self) -> Path:
        return Path(self.temporary.name) / str(self.generation)

    def opened(self) -> Store:
        return RocksStore.open(self.directory, create=True)

    def after_power_cut(self) -> Store:
        before = self.directory
        self.generation += 1
        copytree(before, self.directory)
        return RocksStore.open(self.directory, create=False)

    def teardown(self) -> None:
        super().teardown()
        self.temporary.cleanup()


@pytest.mark.parametrize(("machine", "examples"), [(MemoryMachine, 100), (RocksMachine, 20)])
def test_each_store_behaves_like_a_dict(machine: type[StoreMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=min(examples, settings().max_examples), stateful_step_count=30, deadline=None),
    )
