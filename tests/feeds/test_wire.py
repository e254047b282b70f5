"""The routes of the feeds over a real server; what they answer is held to its document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.feeds.following import CONSUMER
from tests.feeds.wire import WHOLE, Feed, follower_of
from tests.http.client import CREDENTIALS, INVALID, RECEIPTS, RECORDS, RELATIONS, Api, Caller, Json, issue, refusal
from tests.http.serving import Server, initialise

STALE = (409, "revision_conflict")
LOST = (409, "journal_history_conflict")
REGRESSION = (409, "checkpoint_regression")
NO_CHECKPOINT = (404, "checkpoint_not_found")

ROUTES: dict[str, tuple[Json, tuple[str, ...]]] = {
    # route: members of a sound body, what it needs
    "changes": ({"query": {"limit": 1}}, ("memory_read",)),
    "changes/activate": ({}, ("memory_read", "memory_write")),
    "checkpoints/read": ({"consumer_id": CONSUMER}, ("memory_read", "memory_checkpoint")),
    "checkpoints/revision": ({"consumer_id": CONSUMER, "revision": 1}, ("memory_read", "memory_checkpoint")),
    "consumers/diagnose": ({"consumer_id": CONSUMER}, ("memory_read", "memory_checkpoint")),
}


def test_both_streams_are_read_saved_and_diagnosed_over_the_wire(feed: Feed) -> None:
    feed.caller.relate()
    for path, number in ((RELATIONS, 1), (RECORDS, 2)):
        stream = Feed(feed.caller, path)
        page = stream.page()
        assert (True, number, True) == (page["active"], len(page["changes"]), page["complete"])
        assert page["baseline"] == stream.ask("changes/activate").json()["baseline"]
        assert page["next_cursor"] == page["high_watermark"] == page["changes"][-1]["cursor"]
        receipt = stream.save(page["high_watermark"]).json()["receipt"]
        read = stream.ask("checkpoints/read", consumer_id=CONSUMER).json()
        assert (receipt["checkpoint"], feed.caller.scope["agent_id"]) == (read["checkpoint"], read["scope"]["agent_id"])
        revision = stream.ask("checkpoints/revision", consumer_id=CONSUMER, revision=1).json()
        assert receipt == revision["receipt"]
        found = stream.ask("consumers/diagnose", consumer_id=CONSUMER, witness=page["baseline"]).json()["diagnostics"]
        assert ("after", 0) == (found["checkpoint_relative_to_witness"], found["pending_positions"])
        known = stream.caller.ask(RECEIPTS, family="checkpoint", idempotency_key=receipt["idempotency_key"])
        assert receipt == known.json()["receipt"]


def test_a_checkpoint_is_replayed_byte_for_byte(feed: Feed) -> None:
    feed.caller.relate()
    tip = feed.page()["high_watermark"]
    first = feed.save(tip, idempotency_key="one")
    assert first.content == feed.save(tip, idempotency_key="one").content


def test_refusals_have_the_codes_of_the_contract(feed: Feed) -> None:
    feed.caller.relate()
    page = feed.page()
    tip, baseline = page["high_watermark"], page["baseline"]
    assert INVALID == refusal(feed.changes(after=tip, through=baseline))
    assert INVALID == refusal(feed.changes(after={**tip, "version": 2}))
    assert LOST == refusal(feed.changes(after={**tip, "prefix_digest": "0" * 64}))
    assert NO_CHECKPOINT == refusal(feed.ask("checkpoints/read", consumer_id=CONSUMER))
    assert NO_CHECKPOINT == refusal(feed.ask("checkpoints/revision", consumer_id=CONSUMER, revision=1))
    saved = feed.save(tip).json()["receipt"]["checkpoint"]
    assert STALE == refusal(feed.save(tip))
    assert LOST == refusal(feed.save({**tip, "sequence": 9}, saved))
    assert REGRESSION == refusal(feed.save(baseline, saved))
    reconciled = {"operation": {"type": "reconcile", "cursor": baseline, "evidence_ref": "restore/7"}}
    assert 200 == feed.save(tip, saved, **reconciled).status_code


@pytest.mark.parametrize("limit", [0, 257, None, 1.0, "1", True])
def test_a_limit_is_required_and_1_to_256(feed: Feed, limit: Any) -> None:
    assert INVALID == refusal(feed.changes(limit=limit))
    assert INVALID == refusal(feed.ask("changes", query={}))
    assert [200, 200] == [feed.changes(limit=sound).status_code for sound in (1, 256)]


def test_bodies_are_closed(feed: Feed) -> None:
    feed.caller.relate()
    tip = feed.page()["high_watermark"]
    assert INVALID == refusal(feed.changes(cursor=tip))
    assert INVALID == refusal(feed.changes(after={**tip, "position": 1}))
    assert INVALID == refusal(feed.ask("consumers/diagnose", consumer_id=CONSUMER, cursor=tip))
    assert INVALID == refusal(feed.ask("checkpoints/revision", consumer_id=CONSUMER, revision=0))
    assert INVALID == refusal(feed.save(tip, contract_version="1"))
    body = {"contract_version": 1, "scope": feed.caller.scope, "command": {}}
    headers = feed.caller.headers
    assert INVALID == refusal(feed.caller.api.send("POST", f"{RELATIONS}/checkpoints", json=body, headers=headers))


def test_a_checkpoint_names_the_version_of_the_contract_in_its_command(feed: Feed) -> None:
    feed.caller.relate()
    tip = feed.page()["high_watermark"]
    assert (400, "unsupported_contract_version") == refusal(feed.save(tip, contract_version=2))
    assert 200 == feed.save(tip).status_code


@pytest.mark.parametrize("path", [RELATIONS, RECORDS])
@pytest.mark.parametrize("route", ROUTES)
def test_every_route_needs_each_of_its_capabilities(admin: Caller, path: str, route: str) -> None:
    members, needed = ROUTES[route]
    sound = follower_of(admin, capabilities=list(needed))
    assert 403 != Feed(sound, path).ask(route, **members).status_code
    for lacking in needed:
        caller = follower_of(admin, capabilities=[one for one in WHOLE if one != lacking])
        assert (403, "forbidden") == refusal(Feed(caller, path).ask(route, **members))


@pytest.mark.parametrize("lacking", ["memory_read", "memory_checkpoint"])
def test_saving_and_following_need_their_capabilities(admin: Caller, lacking: str) -> None:
    sound = Feed(follower_of(admin))
    sound.caller.relate()
    tip = sound.page()["high_watermark"]
    caller = issue(admin, capabilities=[one for one in WHOLE if one != lacking], grants=[sound.caller.scope])
    without = Feed(replace(caller, scope=sound.caller.scope))
    assert (403, "forbidden") == refusal(without.save(tip))
    if lacking == "memory_read":
        with without.open() as response:
            assert 403 == response.status_code


def test_a_new_secret_and_a_second_credential_keep_the_checkpoints_of_their_subject(admin: Caller, feed: Feed) -> None:
    feed.caller.relate()
    tip = feed.page()["high_watermark"]
    saved = feed.save(tip).json()["receipt"]["checkpoint"]
    subject_id = feed.caller.credential["spec"]["subject_id"]
    second = follower_of(admin, subject_id=subject_id, grants=[feed.caller.scope])
    other = Feed(replace(second, scope=feed.caller.scope))
    assert saved == other.ask("checkpoints/read", consumer_id=CONSUMER).json()["checkpoint"]
    credential_id = feed.caller.credential["id"]
    rotated = admin.post(f"{CREDENTIALS}/{credential_id}/rotate", expected_revision=1).json()["secret"]
    renewed = Feed(replace(feed.caller, secret=rotated))
    assert saved == renewed.ask("checkpoints/read", consumer_id=CONSUMER).json()["checkpoint"]
    assert 2 == renewed.save(tip, saved).json()["receipt"]["checkpoint"]["revision"]


@pytest.fixture(scope="module")
def without_slots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feed]:
    directory = tmp_path_factory.mktemp("no-slots") / "store"
    secret = initialise(directory)
    with Server(directory, "--slots", "0") as server, Api(server.url) as api:
        yield Feed(follower_of(Caller(api, secret)))


@pytest.mark.parametrize("path", [RELATIONS, RECORDS])
def test_all_routes_but_the_stream_take_a_slot(without_slots: Feed, path: str) -> None:
    feed = Feed(without_slots.caller, path)
    busy = (503, "retrieval_busy")
    assert [busy] * len(ROUTES) == [refusal(feed.ask(route, **members)) for route, (members, _) in ROUTES.items()]
    cursor = {"version": 1, "stream": "x", "journal_id": "0" * 32, "sequence": 0, "prefix_digest": "0" * 64}
    assert busy == refusal(feed.save(cursor))
    with feed.follow():
        pass
