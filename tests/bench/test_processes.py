"""What a server that was started tells of itself."""

from __future__ import annotations

from pathlib import Path

from relatum.cli.bench.processes import serving
from relatum.cli.bench.store_fixture import Stage


def test_the_peak_of_a_server_s_memory_is_about_what_it_has_while_nothing_is_asked_of_it(tmp_path: Path) -> None:
    with serving(Stage.make(tmp_path / "store", 4).directory) as served:
        resident = served.metrics()["process_resident_memory_bytes"]
        # The kernel counts pages by threads before it sums them up, so the two may differ a little.
        assert 0.95 * resident < served.resident_peak_bytes < 2 * resident


def test_a_server_that_nobody_asks_tells_of_a_stall_that_only_grows(tmp_path: Path) -> None:
    with serving(Stage.make(tmp_path / "store", 4).directory) as served:
        assert 0 < served.idle_stall_millis() <= served.stall_millis
