"""A running server as its operator sees it: health, memory, descriptors, connections, on a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.polling import WAIT_SECONDS, until

MIB = 1024 * 1024


class Watcher:
    """Reads `/metrics`; its own connection counts."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def healthy(self) -> bool:
        return self._client.get("/health").status_code == 200

    def sample(self, name: str, **labels: str) -> int:
        """One sample, 0 where there is none yet."""
        answer = self._client.get("/metrics")
        assert answer.status_code == 200
        for family in text_string_to_metric_families(answer.text):
            for found in family.samples:
                if found.name == name and found.labels == labels:
                    return int(found.value)
        return 0

    @property
    def connections(self) -> int:
        return self.sample("relatum_connections")

    @property
    def slots(self) -> int:
        return self.sample("relatum_slots_in_use")

    @property
    def streams(self) -> int:
        return self.sample("relatum_streams")

    @property
    def descriptors(self) -> int:
        return self.sample("process_open_fds")

    @property
    def memory_bytes(self) -> int:
        return self.sample("process_resident_memory_bytes")

    def dropped(self, cause: str) -> int:
        return self.sample("relatum_connections_dropped_total", cause=cause)


@contextmanager
def watching(url: str) -> Iterator[Watcher]:
    with httpx.Client(base_url=url, timeout=WAIT_SECONDS) as client:
        yield Watcher(client)


@contextmanager
def returning_to_base(watcher: Watcher, *, memory_bytes: int = 48 * MIB) -> Iterator[None]:
    """What happens within costs the server nothing that lasts.

    To be entered after the same has happened once before, so that what a server makes once is made.
    """
    descriptors, memory = watcher.descriptors, watcher.memory_bytes
    yield
    until(lambda: watcher.descriptors <= descriptors, "the base of open files")
    until(lambda: watcher.memory_bytes <= memory + memory_bytes, "the base of memory")
    until(lambda: (0, 0) == (watcher.slots, watcher.streams), "every slot and every stream given back")
    assert watcher.healthy()
