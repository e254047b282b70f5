"""An assertion that finds an equal relation is acknowledged, and nobody waits for a change or a revision of it.

Over the real server: clients, consumers and the oracle must agree on what such an acknowledgement promises.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from crash_tests.clocks.instants import check_order
from crash_tests.command_requests import receipt_in, send
from crash_tests.consumers.page_reader import take_page
from crash_tests.history import Command, Desk, Family, Json
from crash_tests.random_draws import seeded
from crash_tests.store_case import Site
from crash_tests.store_clients import Ground
from crash_tests.wire import Connection

PROVENANCE = {"origin": "tool_observation", "method": "reading", "method_revision": "1", "evidence_ref": "log 9"}
CHANGES = 2
"""The stream of relations tells of the assertion and of the retirement."""


def test_a_relation_that_is_found_is_no_change_and_no_revision(tmp_path: Path) -> None:
    with Site(tmp_path, "store") as site:
        admin_secret = site.make()
        server = site.serve()
        site.settle(server, admin_secret, seeded(1))
        ground, desk = site.ground, site.ground.desks[0]
        with closing(Connection(server.port, desk.account.secret)) as connection:
            ends = [_create(ground, connection, desk) for _ in range(2)]
            relation = {"source": ends[0], "target": ends[1], "kind": "supports", "provenance": PROVENANCE}
            claim = {"type": "assert", "relation": relation, "if_absent": True}
            asserted, found = (_send(ground, connection, desk, "relation", claim) for _ in range(2))
            assert ("found", asserted["relation_id"], 1) == tuple(
                found[name] for name in ("action", "relation_id", "revision")
            )
            target = {"relation_id": found["relation_id"], "expected_revision": 1}
            _send(ground, connection, desk, "relation", {"type": "retire", "evidence_ref": "note 5", **target})

            pager = next(
                one for one in ground.consumers("pager") if (one.owner.desk, one.owner.stream) == (desk, "relation")
            )
            query = {"after": None, "limit": 20}
            answer = connection.post("/api/v1/memory/relations/changes", desk.body(query=query))
            take_page(pager, query, answer.json()["page"], pager.heard.acknowledged)
        assert (CHANGES, CHANGES) == (pager.heard.acknowledged, pager.sequence)
        check_order(ground.history.accepted())
        verdict = site.judge(server)
        assert 5 == verdict.replayed


def _create(ground: Ground, connection: Connection, desk: Desk) -> Json:
    told = _send(ground, connection, desk, "record", {"type": "create", "record": {"content": "something to relate"}})
    return {"record_id": told["record_id"], "revision": 1}


def _send(ground: Ground, connection: Connection, desk: Desk, family: Family, operation: Json) -> Json:
    command = Command(desk, family, ground.history.fresh_key(), operation)
    ground.history.enter(command)
    ground.accept(command, receipt_in(send(connection, command)))
    return command.told()
