"""Damage in a data directory, met by a server: 500 `storage_inconsistency`, and nothing else suffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from relatum.core.ids import Partition, Scope, memory_partition
from relatum.core.streams import RELATIONS as RELATION_STREAM
from relatum.store import rows
from relatum.store.keys import PartitionKeys, Table
from relatum.store.partition import PartitionReader
from relatum.store.rocks import RocksStore
from tests.http.client import RECEIPTS, RECORDS, RELATIONS, Api, Caller, Json, issue, refusal, relation
from tests.http.serving import Server, initialise

INCONSISTENT = (500, "storage_inconsistency")
GRAPH = "/api/v1/memory/graph/typed"


class Related(NamedTuple):
    """A relation between two records of its own."""

    key: str
    input: Json
    receipt: Json

    @property
    def source(self) -> Json:
        found: Json = self.input["source"]
        return found


def adjacency(keys: PartitionKeys, one: Related, direction: Table) -> bytes:
    end = one.input["source" if direction is Table.OUTGOING else "target"]
    return keys.adjacency_entry(direction, end["record_id"], end["revision"], one.receipt["relation_id"])


def outgoing(keys: PartitionKeys, one: Related) -> list[bytes]:
    return [adjacency(keys, one, Table.OUTGOING)]


def incoming(keys: PartitionKeys, one: Related) -> list[bytes]:
    return [adjacency(keys, one, Table.INCOMING)]


def both(keys: PartitionKeys, one: Related) -> list[bytes]:
    return outgoing(keys, one) + incoming(keys, one)


def header(keys: PartitionKeys, one: Related) -> list[bytes]:
    return [keys.header(one.source["record_id"], one.source["revision"])]


def revision(keys: PartitionKeys, one: Related) -> list[bytes]:
    return [keys.relation_revision(one.receipt["relation_id"], 1)]


def event(keys: PartitionKeys, one: Related) -> list[bytes]:
    return [keys.event(one.receipt["commit_sequence"])]


Chosen = Callable[[PartitionKeys, Related], list[bytes]]
REMOVED: dict[str, Chosen] = {
    "outgoing entry": outgoing,
    "incoming entry": incoming,
    "both entries": both,
    "header": header,
    "revision": revision,
    "event": event,
}
ALTERED: dict[str, Chosen] = {f"altered {name}": chosen for name, chosen in REMOVED.items() if name != "header"}
"""Bytes changed and the row sealed again. A header is left out: only a walk adds up what it counts."""


class Served(NamedTuple):
    """A server on a damaged store, and what was made there before."""

    caller: Caller
    bystander: Caller
    broken_feed: Caller
    relations: dict[str, Related]
    sound: Related
    elsewhere: Related


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "store"


@pytest.fixture(scope="module")
def served(directory: Path) -> Iterator[Served]:
    secret = initialise(directory)
    with Server(directory) as server, Api(server.url) as api:
        made = prepared(Caller(api, secret))
        assert 0 == server.stop()
    damage(directory, made)
    with Server(directory) as server, Api(server.url) as api:
        yield made._replace(
            caller=on(api, made.caller), bystander=on(api, made.bystander), broken_feed=on(api, made.broken_feed)
        )


def on(api: Api, caller: Caller) -> Caller:
    return Caller(api, caller.secret, caller.scope, caller.credential)


def prepared(admin: Caller) -> Served:
    caller, bystander, broken_feed = issue(admin), issue(admin), issue(admin)
    for _ in range(3):
        related(broken_feed, "feed")
    return Served(
        caller=caller,
        bystander=bystander,
        broken_feed=broken_feed,
        relations={name: related(caller, name) for name in {**REMOVED, **ALTERED}},
        sound=related(caller, "sound"),
        elsewhere=related(bystander, "elsewhere"),
    )


def related(caller: Caller, name: str) -> Related:
    given = relation(caller.create(f"{name} from"), caller.create(f"{name} to"))
    key = f"{name}-{caller.create()['record_id']}"
    answer = caller.command(RELATIONS, key, type="assert", relation=given)
    assert answer.status_code == 200, answer.text
    return Related(key, given, answer.json()["receipt"])


def partition_of(caller: Caller) -> Partition:
    scope = Scope(**caller.scope)
    return memory_partition("acme", caller.credential["spec"]["subject_id"], scope)


def damage(directory: Path, made: Served) -> None:
    """Damages the rows in the engine, behind the back of the ledger."""
    store = RocksStore.open(directory / "engine", create=False)
    keys = PartitionReader(store, partition_of(made.caller)).keys
    left: dict[bytes, bytes | None] = {}
    for name, chosen in REMOVED.items():
        left |= dict.fromkeys(chosen(keys, made.relations[name]))
    for name, chosen in ALTERED.items():
        left |= {key: forged(key, store.get(key)) for key in chosen(keys, made.relations[name])}
    left[PartitionReader(store, partition_of(made.broken_feed)).keys.journal_entry(RELATION_STREAM, 2)] = None
    assert all(store.get(key) is not None for key in left)
    store.write(left)
    store.sync()
    store.close()


def forged(key: bytes, row: bytes | None) -> bytes:
    assert row is not None
    body = rows.unseal(key, row)
    place = len(body) * 3 // 4
    return rows.seal(key, body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :])


@pytest.mark.parametrize("name", [*REMOVED, *ALTERED])
def test_reads_replays_and_changes_of_a_damaged_relation_are_500(served: Served, name: str) -> None:
    caller, one = served.caller, served.relations[name]
    relation_id = one.receipt["relation_id"]
    assert INCONSISTENT == refusal(caller.ask(f"{RELATIONS}/read", relation_id=relation_id))
    assert INCONSISTENT == refusal(caller.ask(f"{RELATIONS}/inspect", relation_id=relation_id))
    assert INCONSISTENT == refusal(caller.command(RELATIONS, one.key, type="assert", relation=one.input))
    for change in ("retire", "review"):
        members = {"disposition": "rejected"} if change == "review" else {}
        assert INCONSISTENT == refusal(caller.change(change, one.receipt, **members))


@pytest.mark.parametrize("name", ["outgoing entry", "both entries", "header", "altered outgoing entry"])
def test_a_graph_that_meets_damage_is_500_and_no_part_of_a_graph(served: Served, name: str) -> None:
    root = served.relations[name].source["record_id"]
    assert INCONSISTENT == refusal(served.caller.ask(GRAPH, query={"root_record_ids": [root]}))


def test_a_command_in_a_batch_meets_damage_alone(served: Served) -> None:
    one, sound = served.relations["outgoing entry"], served.sound
    commands = [
        {"idempotency_key": each.key, "operation": {"type": "assert", "relation": each.input}} for each in (one, sound)
    ]
    results = served.caller.ask(f"{RELATIONS}/commands/batch", commands=commands).json()["results"]
    assert ("storage_inconsistency", 500) == (results[0]["error"]["code"], results[0]["error"]["status"])
    assert sound.receipt == results[1]["receipt"]


def test_a_page_over_a_missing_journal_entry_is_500(served: Served) -> None:
    assert INCONSISTENT == refusal(served.broken_feed.ask(f"{RELATIONS}/changes", query={"limit": 10}))


def test_what_was_not_damaged_answers_as_before(served: Served) -> None:
    for caller, one in ((served.caller, served.sound), (served.bystander, served.elsewhere)):
        relation_id = one.receipt["relation_id"]
        found = caller.ask(f"{RELATIONS}/read", relation_id=relation_id)
        assert (200, relation_id) == (found.status_code, found.json()["relation"]["relation_id"])
        graph = caller.ask(GRAPH, query={"root_record_ids": [one.source["record_id"]]}).json()["graph"]
        assert (2, True) == (len(graph["nodes"]), graph["coverage"]["complete"])
        kept = caller.ask(RECEIPTS, family="relation", idempotency_key=one.key)
        assert one.receipt == kept.json()["receipt"]
    assert 200 == served.bystander.ask(f"{RELATIONS}/changes", query={"limit": 10}).status_code
    assert 200 == served.bystander.command(RECORDS, type="create", record={"content": "goes on"}).status_code
