"""Every peer does what the product does: the same answers, the same refusals, the same relations around a record."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from threading import Thread
from typing import cast

import msgspec
import pytest

from relatum.cli.bench.peers import available, rocksdb
from relatum.cli.bench.peers.commands import Commands
from relatum.cli.bench.peers.rates import commit_rate, two_hop_micros
from relatum.cli.bench.peers.seed import TREE_RELATIONS, Seed, command
from relatum.cli.bench.peers.shared_command import Answer, Refused
from relatum.core.receipts import RelationReceipt
from relatum.store.keys import Table
from tests.bench.conftest import KEYS, Beside, commit
from tests.support.builders import unknown_id

RANDOM = ("relation_id", "committed_at_millis", "relation_digest", "receipt_digest")
"""Members of a receipt that no two stores share."""

_NUMBERS = count(1)


def receipt(answer: bytes) -> RelationReceipt:
    return msgspec.json.decode(answer, type=Answer).receipt


def refusal(answer: bytes) -> str:
    return msgspec.json.decode(answer, type=Refused).error.code


def assertion(seed: Seed, *, place: int = 0, key: str | None = None, ends: tuple[int, int, int] = (0, 1, 2)) -> bytes:
    source, target, evidence = (seed.ends[place][number] for number in ends)
    return related(seed, source, target, evidence, place=place, key=key)


def related(seed: Seed, source: str, target: str, evidence: str, *, place: int = 0, key: str | None = None) -> bytes:
    key = key or f"test-{next(_NUMBERS)}"
    return msgspec.json.encode(command(seed.partitions[place].scope, key, source, target, [evidence]))


def told(answer: bytes) -> dict[str, object]:
    members = msgspec.structs.asdict(receipt(answer))
    return {name: value for name, value in members.items() if name not in RANDOM}


def test_it_answers_commands_as_the_product_does(beside: Beside) -> None:
    place = 2 + KEYS.index(beside.key)  # one in which both stores have done nothing yet
    for size in (1, 5):
        commands = Commands(beside.seed, place, tag=beside.key).take(size)
        ours, theirs = commit(beside.product, *commands), commit(beside.peer, *commands)
        assert [told(answer) for answer in ours] == [told(answer) for answer in theirs]


def test_it_draws_what_is_its_own(beside: Beside) -> None:
    first, second = commit(beside.peer, assertion(beside.seed), assertion(beside.seed))
    for name in ("relation_id", "relation_digest", "receipt_digest"):
        assert getattr(receipt(first), name) != getattr(receipt(second), name)


def test_it_replays_the_stored_receipt(beside: Beside) -> None:
    again = assertion(beside.seed)
    first = commit(beside.peer, again)
    before = receipt(commit(beside.peer, assertion(beside.seed))[0]).commit_sequence
    assert first == commit(beside.peer, again)
    assert before + 1 == receipt(commit(beside.peer, assertion(beside.seed))[0]).commit_sequence


def test_it_refuses_another_command_under_the_key(beside: Beside) -> None:
    key = f"test-{next(_NUMBERS)}"
    for peer in (beside.peer, beside.product):
        [answer] = commit(peer, assertion(beside.seed, key=key))
        [refused] = commit(peer, assertion(beside.seed, key=key, ends=(1, 2, 3)))
        assert "idempotency_conflict" == refusal(refused)
        assert [answer] == commit(peer, assertion(beside.seed, key=key))


@pytest.mark.parametrize("missing", range(3))
def test_it_refuses_where_an_end_or_the_evidence_is_missing(beside: Beside, missing: int) -> None:
    ids = list(beside.seed.ends[0][:3])
    ids[missing] = unknown_id()
    for peer in (beside.peer, beside.product):
        [refused] = commit(peer, related(beside.seed, *ids))
        assert "revision_conflict" == refusal(refused)


def test_it_refuses_a_record_of_another_partition(beside: Beside) -> None:
    ids = (beside.seed.ends[0][0], beside.seed.ends[1][0], beside.seed.ends[0][1])
    for peer in (beside.peer, beside.product):
        assert "revision_conflict" == refusal(commit(peer, related(beside.seed, *ids))[0])


def test_it_refuses_a_revision_that_is_not_the_current_one(beside: Beside) -> None:
    given = assertion(beside.seed).replace(b'"revision":1', b'"revision":2', 1)
    for peer in (beside.peer, beside.product):
        assert "revision_conflict" == refusal(commit(peer, given)[0])


def test_a_refused_command_takes_neither_its_key_nor_its_neighbours(beside: Beside) -> None:
    key = f"test-{next(_NUMBERS)}"
    wrong = related(beside.seed, unknown_id(), *beside.seed.ends[0][:2], key=key)
    first, refused, second = commit(beside.peer, assertion(beside.seed), wrong, assertion(beside.seed))
    assert "revision_conflict" == refusal(refused)
    assert receipt(first).commit_sequence + 1 == receipt(second).commit_sequence
    assert (
        receipt(second).commit_sequence + 1
        == receipt(commit(beside.peer, assertion(beside.seed, key=key))[0]).commit_sequence
    )


def test_a_command_twice_in_one_transaction_is_carried_out_once(beside: Beside) -> None:
    again = assertion(beside.seed)
    first, second = commit(beside.peer, again, again)
    assert first == second


def test_clients_at_once_get_every_sequence_once(beside: Beside) -> None:
    clients, each = 6, 10
    before = receipt(commit(beside.peer, assertion(beside.seed, place=1))[0]).commit_sequence
    found: list[int] = []

    def run() -> None:
        commands, client = Commands(beside.seed, 1, tag=beside.key), beside.peer.client()
        try:
            found.extend(receipt(client.commit([commands.next()])[0]).commit_sequence for _ in range(each))
        finally:
            client.close()

    threads = [Thread(target=run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert list(range(before + 1, before + 1 + clients * each)) == sorted(found)


def test_it_finds_as_many_relations_within_two_hops_as_the_product(beside: Beside) -> None:
    leaf = msgspec.json.decode(beside.seed.tree[-1])["operation"]["relation"]["target"]["record_id"]
    for record_id, expected in ((beside.seed.root, TREE_RELATIONS), (leaf, 0)):
        for peer in (beside.peer, beside.product):
            client = peer.client()
            try:
                assert expected == client.two_hop(record_id)
            finally:
                client.close()


def test_it_can_be_measured(beside: Beside) -> None:
    rate = commit_rate(beside.peer, beside.seed, clients=2, group=3, seconds=0.05, places=2)
    assert rate.per_second > 0
    assert rate.p99_millis > 0
    assert rate.processor_micros > 0
    assert two_hop_micros(beside.peer, beside.seed, seconds=0.01) > 0


def test_whatever_a_client_raises_ends_the_measurement(beside: Beside) -> None:
    class Broken:
        name = "broken"
        start = load = stop = lambda *_: None

        def client(self) -> None:
            raise ValueError("nobody is let in")

    with pytest.raises(ValueError, match="nobody is let in"):
        commit_rate(Broken(), beside.seed, clients=3, group=1, seconds=0.05, places=1)  # type: ignore[arg-type] # on purpose


def test_every_peer_is_either_there_or_missing_for_a_reason() -> None:
    found = available()
    assert set(KEYS) | {"lmdb-committer", "rocksdb-committer"} == found.peers.keys() | found.missing.keys()
    assert not found.peers.keys() & found.missing.keys()
    assert all(found.missing.values())
    assert {"sqlite", "rocksdb-committer"} <= found.peers.keys()


def test_the_rows_of_a_command_alone_are_those_of_the_product() -> None:
    tables = Counter(Table(key[16]).name for key in rocksdb.rows_of_one_command())
    once = ("EVENT", "HEAD", "INCOMING", "JOURNAL", "LEAF", "OUTGOING", "RECEIPT", "RECEIPT_WITNESS", "RELATION")
    assert {"DEPENDENT": 3, "HEADER": 3, "RELATION_REVISION": 1} | dict.fromkeys(once, 1) == tables


def test_the_rows_of_commands_alone_fall_on_each_other_only_where_theirs_do() -> None:
    rows = list(rocksdb.rows_of_one_command())
    makers = rocksdb.makers(rows)
    first, second = ([make(bytes([n]) * 8, bytes([n]) * 8, bytes(15)) for make in makers] for n in (1, 2))
    assert len(rows) == len(set(first)) == len(set(second))
    assert {"HEAD", "HEADER"} == {Table(key[16]).name for key in {*first} & {*second}}
    assert [(key[16], len(key)) for key in rows] == [(key[16], len(key)) for key in first]


def test_rows_alone_are_written_for_every_command(scratch: Path) -> None:
    peer, directory = rocksdb.Peer(), scratch / "rows"
    directory.mkdir()
    peer.start(directory)
    try:
        peer.load(cast("Seed", None))  # it takes no records
        assert [b"", b"", b""] == commit(peer, b"1", b"2", b"3")
        stored = sum(1 for _ in peer.store.scan(b"", b"\xff" * 17))
    finally:
        peer.stop()
    new, shared = len(rocksdb.rows_of_one_command()) - 1, 1
    assert 3 * new + shared == stored
