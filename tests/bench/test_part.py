"""The part as a run of the benchmarks calls it, with the one peer that is always there."""

from __future__ import annotations

from pathlib import Path

import pytest

from relatum.cli.bench import peers
from relatum.cli.bench.peers import Available, over_http, part
from relatum.cli.bench.samples import Setting

ROUNDS = 2


@pytest.mark.slow
def test_it_tells_of_every_load_in_every_round(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = peers.available()
    alone = Available({"sqlite": found.peers["sqlite"]}, {"elsewhere": "not installed"})
    monkeypatch.setattr(part, "available", lambda: alone)
    monkeypatch.setattr(over_http, "available", lambda: alone)
    told: list[str] = []
    directory = scratch / "part"
    directory.mkdir()
    setting = Setting(rounds=ROUNDS, scale="tiny", scratch=directory, progress=told.append)
    series = {one.name: one for one in part.measure(setting)}
    assert "peers: without elsewhere: not installed" in told
    names = [
        f"peers/{store}/{load}/{what}"
        for store in ("relatum", "sqlite")
        for load in ("1", "16", "64", "one-partition", "group")
        for what in ("rate", "p99", "processor")
    ]
    names += ["peers/relatum/two-hop/p50", "peers/sqlite/two-hop/p50"]
    served = ("relatum", "relatum-bare", "sqlite-pool", "sqlite-committer", "sqlite")
    names += [f"peers/http/{store}/64/{what}" for store in served for what in ("rate", "p99", "load")]
    assert set(names) == series.keys()
    for name, one in series.items():
        assert ROUNDS == len(one.samples)
        assert min(one.samples) > 0
        compared = "/relatum/" not in name and not name.endswith("/load")
        assert "relatum" in one.floor if compared else "" == one.floor
        assert not one.floor or one.floor in series
    best = max(series[f"peers/http/sqlite-{form}/64/rate"].median for form in ("pool", "committer"))
    assert best == series["peers/http/sqlite/64/rate"].median
