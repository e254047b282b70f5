"""The whole feed of a partition: each command once, in order, and a chain that a stranger can check."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from relatum.core.streams import RELATIONS
from tests.feeds import chain, hundred_thousand
from tests.feeds.chain import BrokenChain, Json
from tests.feeds.following import Consumer, answered
from tests.feeds.history import History
from tests.support.builders import SCOPE
from tests.support.desk import Desk

WORKSPACE = chain.workspace_id("acme", msgspec.to_builtins(SCOPE))


class Told:
    """What a stream of a lively history told, and its nonces."""

    def __init__(self, desk: Desk) -> None:
        history = History(desk)
        history.live()
        consumer = Consumer(desk)
        self.baseline: Json = msgspec.to_builtins(answered(consumer.page()).baseline)
        self.deliveries: list[Json] = msgspec.to_builtins(consumer.deliveries())
        with desk.view() as view:
            self.nonces = [entry.nonce for _, entry in view.partition(desk.partition).entries(RELATIONS, 0)]

    def check(self) -> int:
        return chain.check(WORKSPACE, self.baseline, self.deliveries, self.nonces)


@pytest.fixture
def told(desk: Desk) -> Told:
    return Told(desk)


def test_a_stranger_can_check_a_chain(told: Told) -> None:
    assert 7 == told.check()


def test_the_partition_of_a_chain_can_be_checked_too(desk: Desk, told: Told) -> None:
    with desk.view() as view:
        assert view.partition(desk.partition).workspace_id == WORKSPACE


@pytest.mark.parametrize("fault", ["swapped", "missing", "altered", "renonced", "rebased"])
def test_the_checker_notices(told: Told, fault: str) -> None:
    match fault:
        case "swapped":
            told.deliveries[2], told.deliveries[3] = told.deliveries[3], told.deliveries[2]
        case "missing":
            del told.deliveries[2], told.nonces[2]
        case "altered":
            told.deliveries[2]["change"]["relation_revision"] = 9
        case "renonced":
            told.nonces[2] = bytes(16)
        case "rebased":
            told.baseline["sequence"] = 1
    with pytest.raises(BrokenChain):
        told.check()


@pytest.mark.slow
def test_thousands_of_commands_are_told_once_each_in_order_and_chained(tmp_path: Path) -> None:
    hundred_thousand.main(tmp_path / "store", commands=3_000)
