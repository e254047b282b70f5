"""The consumers of a stream across the workspaces of a company, and how far each is behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.company.administering import CONSUMERS, consumers, workspace_of
from tests.feeds.wire import Feed, follower_of
from tests.http.client import FORBIDDEN, INVALID, RECORDS, Caller, Json, accepted, issue, refusal, scope


def consuming(admin: Caller, consumer_id: str = "mirror", **spec: Any) -> tuple[Feed, Json]:
    """Somebody who has followed a relation, saved their place, and fallen two relations behind."""
    feed = Feed(follower_of(admin, **spec))
    feed.caller.relate()
    saved = save(feed, consumer_id)
    feed.caller.relate()
    feed.caller.relate()
    return feed, saved


def save(feed: Feed, consumer_id: str) -> Json:
    place = feed.page()["high_watermark"]
    saved: Json = accepted(feed.save(place, consumer_id=consumer_id))["checkpoint"]
    return saved


def every(admin: Caller, **query: Any) -> list[Json]:
    """All consumers, page by page."""
    found: list[Json] = []
    cursor = None
    while True:
        page = consumers(admin, cursor=cursor, **query)
        found += page["consumers"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_a_consumer_is_listed_with_its_place_and_its_lag(admin: Caller) -> None:
    feed, saved = consuming(admin, scope=scope(visibility="private", mission_id="survey"))
    subject_id, workspace = feed.caller.credential["spec"]["subject_id"], workspace_of(feed.caller)
    [found] = [one for one in every(admin) if one["workspace_id"] == workspace]
    assert {
        "workspace_id": workspace,
        "scope": feed.caller.scope,
        "private_subject_id": subject_id,
        "subject_id": subject_id,
        "consumer_id": "mirror",
        "stream": "typed_memory_relations",
        "revision": 1,
        "sequence": 1,
        "pending_positions": 2,
        "updated_at_millis": saved["updated_at_millis"],
    } == found
    diagnosed = feed.ask("consumers/diagnose", consumer_id="mirror").json()["diagnostics"]
    assert diagnosed["pending_positions"] == found["pending_positions"]


def test_a_consumer_that_has_seen_everything_has_no_lag_and_streams_are_kept_apart(admin: Caller) -> None:
    feed = Feed(follower_of(admin), RECORDS)
    feed.caller.create()
    save(feed, "keeper")
    workspace = workspace_of(feed.caller)
    assert [] == [one for one in every(admin) if one["workspace_id"] == workspace]
    [found] = [one for one in every(admin, stream="memory_records") if one["workspace_id"] == workspace]
    assert ("keeper", 0, "memory_records") == (found["consumer_id"], found["pending_positions"], found["stream"])


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_pages_of_any_size_list_each_consumer_once_and_by_workspace(admins: dict[str, Caller], limit: int) -> None:
    admin = admins["estuary"]
    for _ in range(2):
        feed, _ = consuming(admin)
        save(feed, "second")
        issue(admin).create()  # a workspace without a consumer
    found = every(admin, limit=limit)
    places = [(one["workspace_id"], one["consumer_id"]) for one in found]
    assert len(set(places)) == len(places) >= 4
    assert sorted(place[0] for place in places) == [place[0] for place in places]
    assert places == [(one["workspace_id"], one["consumer_id"]) for one in every(admin)]


def test_a_page_that_fits_exactly_has_no_cursor(admins: dict[str, Caller]) -> None:
    admin = admins["umbrella"]
    for _ in range(2):
        consuming(admin)
    count = len(every(admin))
    assert None is consumers(admin, limit=count)["next_cursor"]
    assert None is not consumers(admin, limit=count - 1)["next_cursor"]


def test_a_cursor_is_good_for_its_company_and_its_stream_alone(admin: Caller, stranger: Caller) -> None:
    for _ in range(2):
        consuming(admin)
    cursor = consumers(admin, limit=1)["next_cursor"]
    assert 200 == admin.post(CONSUMERS, query={"stream": "typed_memory_relations", "cursor": cursor}).status_code
    for asker, query in (
        (admin, {"stream": "memory_records", "cursor": cursor}),
        (stranger, {"stream": "typed_memory_relations", "cursor": cursor}),
        (admin, {"stream": "typed_memory_relations", "cursor": cursor[:-1] + ("A" if cursor[-1] != "A" else "B")}),
        (admin, {"stream": "typed_memory_relations", "cursor": cursor + "="}),
        (admin, {"stream": "typed_memory_relations", "cursor": ""}),
    ):
        assert INVALID == refusal(asker.post(CONSUMERS, query=query))


@pytest.mark.parametrize(
    "query",
    [{}, {"stream": "links"}, {"stream": "memory_records", "limit": 0}, {"stream": "memory_records", "limit": 51}],
)
def test_a_query_outside_the_schema_is_refused(admin: Caller, query: Json) -> None:
    assert INVALID == refusal(admin.post(CONSUMERS, query=query))


def test_consumers_need_the_administrators_capability(admin: Caller) -> None:
    assert FORBIDDEN == refusal(issue(admin).post(CONSUMERS, query={"stream": "memory_records"}))
