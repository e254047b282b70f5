"""Real corpora, loaded over a real server that scrubs meanwhile, and verified after it has stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from relatum.store.verify.directory import verify_directory
from tests.corpora.loading import load
from tests.corpora.mapping import ATTACK_ICS, BIPS, PEPS
from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise


@pytest.mark.slow
def test_stores_of_real_corpora_are_clean(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    secret = initialise(directory)
    with Server(directory, "--scrub-hours", "1") as server, Api(server.url) as api:
        for corpus in (PEPS, BIPS, ATTACK_ICS):
            load(issue(Caller(api, secret)), corpus)
        metrics = api.send("GET", "/metrics").text
        assert 0 == server.stop()
    report = verify_directory(directory)
    assert report.clean, report.findings
    assert report.rows > 20_000
    assert "relatum_scrub_findings_total 0.0" in metrics
