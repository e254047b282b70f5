"""One world for the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.seeding import running
from tests.fuzz.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("fuzz") / "store") as made:
        yield made
