"""The judgments of a real corpus: a part of what `python -m tests.judgments.peps` does with all of it."""

from __future__ import annotations

import pytest

from tests.http.client import Caller
from tests.judgments.peps import Campaign, supersessions

PEPS = 200


@pytest.mark.slow
def test_the_first_two_hundred_peps_surface_candidates_and_their_supersessions_hold(caller: Caller) -> None:
    campaign = Campaign(caller)
    campaign.run(PEPS)
    campaign.check()
    judged = campaign.judged
    assert PEPS * 0.9 < judged["saves that surfaced something"], "real titles share words"
    assert 5 <= judged["on a candidate"]
    edges = len(supersessions(set(campaign.ids)))
    assert edges == judged["on a candidate"] + judged["by comparison"] + len(campaign.refused)
