"""Makes a world: a real server with something in every partition, and credentials of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from relatum.limits import DAY_MILLIS, SWEEP_DEADLINE_MILLIS_DEFAULT
from tests.feeds.wire import WHOLE, Feed
from tests.fuzz.known import Json, Known
from tests.fuzz.world import Person, Place, World
from tests.http.client import CREDENTIALS, IDENTITY, RECORDS, RELATIONS, Api, Caller, accepted, fresh, issue, ref
from tests.http.serving import Server, initialise
from tests.judgments.over_http import calling

COMPANY = "acme"
SCOPES: tuple[Json, ...] = (
    {"project_id": "atlas", "mission_id": None, "agent_id": "scout", "visibility": "shared"},
    {"project_id": "atlas", "mission_id": "survey", "agent_id": "scout", "visibility": "shared"},
    {"project_id": "atlas", "mission_id": None, "agent_id": "scout", "visibility": "private"},
)
POLICY: Json = {
    "version": "company_scopes_v1",
    "projects": {"mode": "only", "ids": ["atlas"]},
    "agents": {"mode": "all"},
    "missions": {"mode": "all"},
    "allow_unassigned_mission": True,
    "visibilities": ["private", "shared"],
}
CONSUMERS = ("indexer", "mirror")
SPARE = 8
"""Credentials that the fuzzer may do away with."""
WORKSPACES = "/api/v1/company/memory/workspaces"


@contextmanager
def running(directory: Path) -> Iterator[World]:
    """A world around a server of its own, which has to live until the end and then to stop in order.

    What it is made of was put there two weeks before: there is something for the sweep to do.
    """
    secret = initialise(directory, COMPANY)
    with Server(directory, "--log-level", "warning") as earlier, Api(earlier.url) as api:
        people = _seeded(Caller(api, secret))
        assert earlier.stop() == 0
    late_millis = SWEEP_DEADLINE_MILLIS_DEFAULT + DAY_MILLIS
    options = ("--log-level", "warning", "--sweep-interval-minutes", "0")
    with Server(directory, *options, clock_offset_millis=late_millis) as server:
        with Api(server.url) as api:
            yield _made(server.url, *(replace(person, api=api) for person in people))
        assert server.process.poll() is None, server.log_path.read_text()
        assert server.stop() == 0
    assert "" == server.log_path.read_text(), "the server had something to say"


def _seeded(stranger: Caller) -> list[Caller]:
    """Seeds a server, whose administrator calls: the administrator, two workers, a reader, and one who is revoked."""
    admin = Caller(stranger.api, stranger.secret, credential=stranger.get(IDENTITY).json()["credential"])
    ada, bob = _worker(admin, "ada"), _worker(admin, "bob", grants=[], scope_policy=POLICY)
    reader, revoked = _worker(admin, "ada", capabilities=["memory_read"]), _worker(admin, "ada")
    answer = admin.post(f"{CREDENTIALS}/{revoked.credential['id']}/revoke", expected_revision=1)
    assert answer.status_code == 200, answer.text
    for worker in (ada, bob):
        for scope in SCOPES:
            _furnish(worker.at(**scope))
            _judge(worker.at(**scope))
    return [admin, ada, bob, reader, revoked]


def _made(url: str, admin: Caller, ada: Caller, bob: Caller, reader: Caller, revoked: Caller) -> World:
    """The world, once there is something to be seen in it."""
    of_ada, of_bob = ([_place(admin, worker.at(**scope)) for scope in SCOPES] for worker in (ada, bob))
    return World(
        url,
        admin.api.described.document,
        admin=Person(admin, of_ada + of_bob),
        workers=[Person(ada, of_ada), Person(bob, of_bob)],
        reader=Person(reader, of_ada),
        revoked=Person(revoked, of_ada),
        credentials={_worker(admin, "spare").credential["id"]: 1 for _ in range(SPARE)},
    )


def _worker(admin: Caller, subject_id: str, **spec: Any) -> Caller:
    """A credential of everything at every scope, unless `spec` says otherwise."""
    whole = {"capabilities": [*WHOLE, "memory_mine"], "grants": list(SCOPES), "scope": SCOPES[0]}
    return issue(admin, subject_id=subject_id, **(whole | spec))


def _furnish(worker: Caller) -> None:
    """Puts something of every kind into a partition."""
    first, *others = [worker.create(f"observation {number}", tags=["tide"]) for number in range(6)]
    person, session = (worker.create(kind, type=kind) for kind in ("person", "session"))
    one, two = (worker.create(f"task {number}", type="task") for number in range(2))
    for other in others:
        worker.relate(first, other)
    worker.relate(first, person, kind="authored_by")
    worker.relate(first, session, kind="from_session")
    worker.relate(one, two, kind="blocks")
    retired = worker.relate(others[0], others[1], kind="contradicts")
    accepted(worker.change("retire", retired))
    derivation = {"sources": others[2:], "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}
    accepted(worker.command(RECORDS, type="derive", record={"content": "a summary"}, derivation=derivation))
    for path in (RECORDS, RELATIONS):
        feed = Feed(worker, path)
        page = feed.page()
        for number, consumer_id in enumerate(CONSUMERS):
            saved = feed.save(page["changes"][number]["cursor"], consumer_id=consumer_id)
            assert saved.status_code == 200, saved.text


def _judge(worker: Caller) -> None:
    """Puts judgments of every kind into a partition, and links."""
    contents = [f"the ferry leaves the harbour at {hour}" for hour in ("nine", "ten", "noon", "one", "two")]
    answers = [calling.save(worker, content) for content in contents]
    first, second, *others = (ref(answer["receipt"]) for answer in answers)
    calling.judge(worker, answers[1]["candidates"][0]["candidate_id"], "conflicts_with", reason="nine or ten")
    calling.saved(worker, "the timetable of nine", topic_key=worker.scope["visibility"])
    calling.saved(worker, "the timetable of ten", topic_key=worker.scope["visibility"])
    assert 200 == calling.compare(worker, others[0], first, "supersedes").status_code
    calling.submit(worker, (second, others[1]))
    ends = {"source_id": second["record_id"], "target_id": others[2]["record_id"]}
    accepted(worker.command("/api/v1/memory/links", type="link", kind="related", **ends))


def _place(admin: Caller, worker: Caller) -> Place:
    """A place of the worker's subject, with all that can be seen there."""
    subject_id = worker.credential["spec"]["subject_id"] if worker.scope["visibility"] == "private" else None
    [workspace] = [
        found
        for found in admin.get(WORKSPACES, contract_version=1).json()["page"]["workspaces"]
        if (found["scope"], found["private_subject_id"]) == (worker.scope, subject_id)
    ]
    known = Known()
    for path, member in ((RECORDS, "record_id"), (RELATIONS, "relation_id")):
        known.learn(path, worker.ask(f"{path}/query", filter={"order": "created_asc"}).json())
        known.learn(path, worker.ask(f"{path}/changes", query={"limit": 256}).json())
        for consumer_id in CONSUMERS:
            known.learn(path, worker.ask(f"{path}/checkpoints/read", consumer_id=consumer_id).json())
        for identifier in list(known.records if path == RECORDS else known.relations):
            known.learn(path, worker.ask(f"{path}/revision", revision=1, **{member: identifier}).json())
    sweep = f"{calling.JUDGMENTS}/sweep"
    known.learn(sweep, calling.answered(worker.ask(sweep, idempotency_key=fresh("sweep"))))
    for status in ("judged", "orphaned"):
        known.learn(sweep, calling.queue(worker, status=status, limit=50))
    return Place(worker.scope, workspace["workspace_id"], known)
