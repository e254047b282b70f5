"""What a server that was ended, put forward in time, or robbed of its search index answers when it is started again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copy, copytree, rmtree
from typing import NamedTuple

import pytest

from relatum.limits import DAY_MILLIS
from tests.http.client import ABSENT, STALE, Api, Caller, Json, issue, refusal
from tests.http.serving import Server, initialise
from tests.judgments.over_http.calling import (
    JUDGMENTS,
    TOPIC_KEYS,
    answered,
    batch,
    candidate,
    change,
    command,
    compare,
    judge,
    queue,
    relations_of,
    save,
    saved,
    search,
    standing,
    submit,
)
from tests.support.polling import until

pytestmark = pytest.mark.slow

FERRIES = [
    ("the northern ferry leaves the old harbour at nine", "north"),
    ("the northern ferry leaves the new harbour at ten", None),
    ("die nördliche Fähre fährt um elf", "nord"),
    ("北の渡し船は九時に出ます", None),
    ("the southern ferry was sold", "south"),
]


class Store:
    """A store that is served now and then."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._caller: Caller | None = None
        self._secret = initialise(directory)

    @contextmanager
    def served(self, *options: str, late_millis: int = 0, killed: bool = False) -> Iterator[Caller]:
        """Serves it to one and the same caller; at the end the server is stopped, or killed."""
        with Server(self.directory, *options, clock_offset_millis=late_millis) as server, Api(server.url) as api:
            if self._caller is None:
                self._caller = issue(Caller(api, self._secret))
            self._caller = replace(self._caller, api=api)
            yield self._caller
            if killed:
                server.process.kill()
                server.process.wait()
            else:
                assert 0 == server.stop()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_twenty_judgments_are_durable_and_replayed_the_same(store: Store) -> None:
    with store.served(killed=True) as caller:
        hub = caller.create("the hub")
        ids = [one["candidate_id"] for one in submit(caller, *((caller.create(f"{at}"), hub) for at in range(17)))]
        judgments: list[Json] = [{"candidate_id": one, "relation": "scoped", "reason": one} for one in ids]
        judgments.insert(5, {"candidate_id": ABSENT, "relation": "scoped"})
        judgments.insert(11, {"candidate_id": ids[3], "relation": "related"})
        judgments.append({"candidate_id": ids[4], "relation": "related", "reason": "r" * 2001})
        answer = batch(caller, *judgments, key="the batch")
    assert 17 == sum(one["ok"] for one in answer["results"])
    with store.served() as caller:
        assert 17 == queue(caller, status="judged")["total"]
        assert answer == batch(caller, *judgments, key="the batch")
        assert 17 == len(relations_of(caller, hub, relations_limit=50))


def observed(caller: Caller) -> list[Json]:
    """What the index has a part in: replayed saves, searches, and a suggestion."""
    saves = [
        save(caller, content, topic_key=topic, key=f"ferry {number}") for number, (content, topic) in enumerate(FERRIES)
    ]
    searches = [search(caller, text) for text in ("ferry harbour", "FAHRE", "九時", "sold", "northern nine ten")]
    suggestion = answered(caller.ask(TOPIC_KEYS, title="North", content="the northern ferry leaves at nine"))
    return [*saves, *(one for found in searches for one in found), suggestion]


def deleted(path: Path) -> None:
    path.unlink()


def scribbled(path: Path) -> None:
    path.write_bytes(b"nothing that SQLite knows" * 1_000)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    found = path.read_bytes()
    path.write_bytes(found[: len(found) // 2])


def blanked(path: Path) -> None:
    """Everything but the first page is noise; its header is sound."""
    found = path.read_bytes()
    path.write_bytes(found[:4096] + b"\xa5" * (len(found) - 4096))


def of_another_version(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def without_rows(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("DELETE FROM record WHERE number > 1")
    database.commit()
    database.close()


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


HARMS = [deleted, scribbled, emptied, cut, blanked, of_another_version, without_rows, a_directory]


class Indexed(NamedTuple):
    """A store and what was seen of it while its index was whole."""

    store: Store
    before: list[Json]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    store = Store(tmp_path_factory.mktemp("indexed") / "store")
    with store.served() as caller:
        return Indexed(store, observed(caller))


@pytest.mark.parametrize("harm", HARMS, ids=lambda one: one.__name__)
def test_whatever_becomes_of_the_search_index_no_answer_changes(harm: Callable[[Path], None], indexed: Indexed) -> None:
    path = indexed.store.directory / "search.sqlite"
    if path.is_dir():
        path.rmdir()
    for left in path.parent.glob("search.sqlite-*"):
        left.unlink()
    if not path.exists():
        path.write_bytes(b"")
    harm(path)
    with indexed.store.served() as caller:
        assert indexed.before == observed(caller)


def test_an_index_that_lies_behind_its_store_catches_up(tmp_path: Path, store: Store) -> None:
    with store.served() as caller:
        ferry = saved(caller, "the northern ferry leaves at nine")
        gone = saved(caller, "the southern ferry leaves at ten")
    for behind in store.directory.glob("search.sqlite*"):
        copy(behind, tmp_path / behind.name)
    with store.served() as caller:
        change(caller, "archive", gone)
        before = observed(caller)
    for behind in tmp_path.glob("search.sqlite*"):
        copy(behind, store.directory / behind.name)
    with store.served() as caller:
        assert before == observed(caller)
        found = {one["record"]["record_id"] for one in search(caller, "northern southern leaves")}
        assert ferry["record_id"] in found
        assert gone["record_id"] not in found


def test_an_index_that_lies_ahead_of_a_restored_store_is_made_again(tmp_path: Path, store: Store) -> None:
    with store.served() as caller:
        before = observed(caller)
    copytree(store.directory, tmp_path / "copy")
    with store.served() as caller:
        saved(caller, "the northern ferry was sunk")
        assert "the northern ferry was sunk" == search(caller, "sunk")[0]["record"]["input"]["content"]
    for ahead in store.directory.glob("search.sqlite*"):
        copy(ahead, tmp_path / "copy" / ahead.name)
    rmtree(store.directory)
    (tmp_path / "copy").rename(store.directory)
    with store.served() as caller:
        assert [] == search(caller, "sunk")
        assert before == observed(caller)
        saved(caller, "the northern ferry was raised")
        assert 1 == len(search(caller, "raised"))


# Time


def test_the_queue_the_sweep_and_the_undo_go_by_the_time_of_day(store: Store) -> None:
    on_demand = ("--sweep-interval-minutes", "0")
    with store.served(*on_demand) as caller:
        hub = caller.create("the hub")
        ids = [candidate(caller, caller.create(f"spoke {number}"), hub) for number in range(3)]
        assert 0 == answered(caller.ask(f"{JUDGMENTS}/query"))["total"]
    with store.served(*on_demand, late_millis=2 * DAY_MILLIS) as caller:
        offered = answered(caller.ask(f"{JUDGMENTS}/query"))
        assert (ids, 3) == ([one["candidate_id"] for one in offered["candidates"]], offered["total"])
        assert [] == answered(command(caller, f"{JUDGMENTS}/sweep"))["operations"]
    with store.served(*on_demand, late_millis=15 * DAY_MILLIS) as caller:
        assert 0 == answered(caller.ask(f"{JUDGMENTS}/query"))["total"], "past the deadline"
        run = answered(command(caller, f"{JUDGMENTS}/sweep", "the run"))
        assert ids == [one["candidate_id"] for one in run["operations"]]
        orphaned = queue(caller, status="orphaned")["candidates"]
        author = {"credential_id": caller.credential["id"], "subject_id": caller.credential["spec"]["subject_id"]}
        assert [{"kind": "sweep", "author": author}] * 3 == [one["marked_by"] for one in orphaned]
        assert [] == relations_of(caller, hub), "an orphaned candidate is never shown"
        [refused] = batch(caller, {"candidate_id": ids[0], "relation": "related"})["results"]
        assert "revision_conflict" == refused["code"]
        undo = f"{JUDGMENTS}/undo"
        one = answered(command(caller, undo, operation_id=run["operations"][1]["operation_id"]))
        assert [ids[1]] == one["candidate_ids"]
        assert [ids[0], ids[2]] == answered(command(caller, undo, run_id=run["run_id"]))["candidate_ids"]
        assert STALE == refusal(command(caller, undo, run_id=run["run_id"]))
        assert STALE == refusal(command(caller, undo, operation_id=run["operations"][1]["operation_id"]))
        assert run == answered(command(caller, f"{JUDGMENTS}/sweep", "the run"))
        assert [] == answered(command(caller, f"{JUDGMENTS}/sweep"))["operations"], "the age counts from the undo"
        assert 3 == queue(caller)["total"]
        judge(caller, ids[0], "related")
    with store.served(*on_demand, late_millis=30 * DAY_MILLIS) as caller:
        assert 2 == len(answered(command(caller, f"{JUDGMENTS}/sweep"))["operations"])


def test_the_timer_sweeps_when_the_server_starts_and_has_no_author(store: Store) -> None:
    with store.served() as caller:
        pending = candidate(caller)
    with store.served("--log-level", "info", late_millis=15 * DAY_MILLIS) as caller:
        until(lambda: bool(queue(caller, status="orphaned")["total"]), "the sweep")
        [found] = queue(caller, status="orphaned")["candidates"]
        assert (pending, {"kind": "sweep", "author": None}) == (found["candidate_id"], found["marked_by"])


def test_what_needs_review_goes_by_the_time_of_day(store: Store) -> None:
    path = "/api/v1/memory/records/needs-review"
    with store.served(killed=True) as caller:
        first, second = caller.create("nine"), caller.create("ten")
        answered(compare(caller, second, first, "supersedes"))
        for category in ("procedural", "project", "feedback", "user", "reference"):
            caller.create(category, category=category)
        assert 0 == answered(caller.ask(path))["total"]
    with store.served(late_millis=181 * DAY_MILLIS) as caller:
        records = answered(caller.ask(path))["records"]
        assert ["procedural", "project", "feedback"] == [one["record"]["input"]["content"] for one in records]
        assert [True, False, False] == [one["needs_review"]["escalated"] for one in records]
        assert second["record_id"] == standing(caller, first)["superseded_by"]
