"""Curated links over the wire: receipts, limits, and what becomes of them (views.md, curated links)."""

from __future__ import annotations

from itertools import product

import pytest

from relatum.limits import LINKS_MAX
from tests.http.client import (
    ABSENT,
    INVALID,
    KEY_CONFLICT,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    RELATIONS,
    STALE,
    Caller,
    accepted,
    issue,
    refusal,
)
from tests.judgments.over_http.calling import answered, change
from tests.views.over_http.calling import LINKS, graph, health, link, linked, overview, stand, unlink

KINDS = ("related", "conflicts", "supports", "supersedes")
NOWHERE = {"record_id": ABSENT, "revision": 1}


def links(caller: Caller) -> list[tuple[str, str, str]]:
    """The links of the whole partition that are active."""
    edges = overview(caller)["edges"]
    return [(one["source_id"], one["kind"], one["target_id"]) for one in edges if one["layer"] == "link"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_has_a_receipt_that_is_answered_again(caller: Caller, kind: str) -> None:
    source, target = caller.create("one"), caller.create("other")
    receipt = accepted(link(caller, source, target, kind, key=f"a {kind}"))
    told = {"source_id": source["record_id"], "target_id": target["record_id"], "kind": kind, "action": "linked"}
    assert told == {name: receipt[name] for name in told}
    assert receipt == accepted(link(caller, source, target, kind, key=f"a {kind}"))
    assert KEY_CONFLICT == refusal(link(caller, target, source, kind, key=f"a {kind}"))
    known = caller.ask(RECEIPTS, family="link", idempotency_key=f"a {kind}")
    assert receipt == answered(known)["receipt"]
    taken = accepted(unlink(caller, target, source))
    assert ("unlinked", kind, source["record_id"]) == (taken["action"], taken["kind"], taken["source_id"])


@pytest.mark.parametrize(("before", "after"), list(product(KINDS, KINDS)))
def test_a_pair_has_one_link_and_linking_again_replaces_kind_and_direction(
    caller: Caller, before: str, after: str
) -> None:
    one, other = caller.create("one"), caller.create("other")
    first = linked(caller, one, other, before)
    second = linked(caller, other, one, after)
    assert first["commit_sequence"] + 1 == second["commit_sequence"]
    assert [(other["record_id"], after, one["record_id"])] == links(caller)
    accepted(unlink(caller, one, other))
    assert [] == links(caller)


def test_what_is_refused_and_in_which_order(admin: Caller, caller: Caller) -> None:
    one, gone, archived = caller.create("one"), caller.create("gone"), caller.create("archived")
    change(caller, "delete", gone)
    accepted(stand(caller, "archive", archived))
    assert INVALID == refusal(link(caller, one, one))
    assert INVALID == refusal(link(caller, one, caller.create(), "blocks"))
    assert INVALID == refusal(link(caller, one, caller.create(), key=" "))
    for pair in ((one, NOWHERE), (NOWHERE, one)):
        assert NO_RECORD == refusal(link(caller, *pair))
        assert NO_RECORD == refusal(unlink(caller, *pair))
    for other in (gone, archived):
        assert STALE == refusal(link(caller, one, other))
        assert STALE == refusal(link(caller, other, one))
        assert STALE == refusal(unlink(caller, one, other)), "what is not linked"
    assert NO_RECORD == refusal(link(caller, one, issue(admin).create("elsewhere")))
    assert [] == links(caller)


def test_the_seventeenth_link_is_refused_at_either_end_and_nothing_is_written(caller: Caller) -> None:
    hub, spokes = caller.create("hub"), [caller.create(f"spoke {number}") for number in range(LINKS_MAX)]
    for number, spoke in enumerate(spokes):
        linked(caller, *((hub, spoke) if number % 2 else (spoke, hub)))
    more = caller.create("one more")
    before = links(caller)
    assert LINKS_MAX == len(before)
    assert INVALID == refusal(link(caller, hub, more))
    assert INVALID == refusal(link(caller, more, hub))
    assert before == links(caller)
    linked(caller, spokes[0], hub, "conflicts")
    accepted(unlink(caller, hub, spokes[1]))
    linked(caller, more, hub)
    assert LINKS_MAX == len(links(caller))


def test_deleting_takes_links_away_and_archiving_keeps_them_inactive(caller: Caller) -> None:
    hub, kept, gone = caller.create("hub"), caller.create("kept"), caller.create("gone")
    linked(caller, hub, kept)
    linked(caller, gone, hub)
    found = health(caller)
    assert (3, 3) == (found["records"], found["linked"])
    change(caller, "delete", gone)
    assert [(hub["record_id"], "related", kept["record_id"])] == links(caller)
    accepted(stand(caller, "archive", kept))
    assert [] == links(caller)
    found = health(caller)
    assert ("disconnected", 2) == (found["state"], found["isolated"])
    accepted(unlink(caller, kept, hub))
    assert STALE == refusal(link(caller, hub, kept)), "inactive links may go, none may come"
    accepted(stand(caller, "unarchive", kept))
    assert [] == links(caller)
    linked(caller, hub, kept)
    accepted(stand(caller, "archive", kept))
    accepted(stand(caller, "unarchive", kept))
    assert [(hub["record_id"], "related", kept["record_id"])] == links(caller)


def test_a_link_pins_no_revision_and_is_no_relation(caller: Caller) -> None:
    answered(caller.ask(f"{RELATIONS}/changes/activate"))
    one, other = caller.create("one"), caller.create("other")
    linked(caller, one, other, "supersedes")
    change(caller, "review", one, disposition="approved", evidence_ref="n")
    revision = {"record_id": other["record_id"], "expected_revision": 1, "record": {"content": "another other"}}
    accepted(caller.command(RECORDS, type="revise", **revision))
    assert [(one["record_id"], "supersedes", other["record_id"])] == links(caller)
    assert [] == graph(caller, one, relation_kinds=["supersedes"])["edges"]
    page = answered(caller.ask(f"{RELATIONS}/query", filter={}))["page"]
    assert [] == page["relations"]
    assert [] == answered(caller.ask(f"{RELATIONS}/changes", query={"limit": 5}))["page"]["changes"]
    inspected = answered(caller.ask(f"{RECORDS}/inspect", record_id=other["record_id"]))["inspection"]
    assert "current" == inspected["standing"]["state"], "such a link retires nothing"


def test_the_envelope_is_that_of_commands(caller: Caller) -> None:
    operation = {"type": "link", "kind": "related", "source_id": ABSENT, "target_id": ABSENT.upper()}
    assert INVALID == refusal(caller.ask(LINKS, idempotency_key="k", operation=operation)), "two spellings of one id"
    extra = {**operation, "expected_revision": 1}
    assert INVALID == refusal(caller.ask(LINKS, idempotency_key="k", operation=extra))
