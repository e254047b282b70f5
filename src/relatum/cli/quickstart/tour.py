"""The steps of the tour. Each sends real requests, checks what must hold, and tells what was seen."""

from __future__ import annotations

from typing import Any, Final

import click

from relatum.cli.quickstart import screen
from relatum.cli.quickstart.api import Api, Exchange, Json
from relatum.cli.quickstart.keys import Keys
from relatum.cli.quickstart.load import Loaded

STYLE: Final = "PEP8"
DOCSTRINGS: Final = "PEP257"
KEY: Final = "tour/style-and-docstrings"


def walk(keys: Keys, loaded: Loaded) -> str:
    """The whole tour; the id of the relation that it leaves hidden."""
    given = assertion(loaded)
    relation_id = _assert(keys.writer, given)
    _conflict(keys.writer, given)
    _rejection(keys, relation_id)
    _changed_end(keys, loaded, relation_id)
    return relation_id


def assertion(loaded: Loaded) -> Json:
    """What the tour asserts: that PEP 257 supports PEP 8, at the revisions that were loaded."""
    return {
        "source": loaded.records[DOCSTRINGS],
        "target": loaded.records[STYLE],
        "kind": "supports",
        "provenance": {
            "origin": "human_statement",
            "method": "quickstart",
            "method_revision": "1",
            "evidence_ref": "https://peps.python.org/pep-0008/#documentation-strings",
        },
    }


def command(key: str, relation: Json) -> dict[str, Any]:
    """The members of a request that asserts `relation`."""
    return {"idempotency_key": key, "operation": {"type": "assert", "relation": relation}}


def _assert(writer: Api, given: Json) -> str:
    screen.heading("1. Assert")
    screen.say(
        """The writer asserts that PEP 257 supports PEP 8. Both ends are named at exact revisions. The receipt comes
        once the relation is durable, not before."""
    )
    first = writer.memory("relations/commands", **command(KEY, given))
    relation_id: str = first.expect(200)["receipt"]["relation_id"]
    screen.exchange(first, "idempotency_key", "operation")

    screen.heading("2. Replay")
    screen.say(
        """The same command under the same key, as a client sends it that never saw the answer. It writes nothing: the
        stored receipt comes back, byte for byte."""
    )
    again = writer.memory("relations/commands", **command(KEY, given))
    again.expect(200)
    screen.exchange(again, "idempotency_key")
    _must(first.answer == again.answer, "a replay did not answer the bytes of the first answer")
    screen.say(f"  The {len(again.answer)} bytes of both answers are equal.")
    return relation_id


def _conflict(writer: Api, given: Json) -> None:
    screen.heading("3. Conflict")
    screen.say(
        """Another command under a key that is taken is refused, and nothing is changed. Here it is the same assertion
        with another kind."""
    )
    other = writer.memory("relations/commands", **command(KEY, {**given, "kind": "contradicts"}))
    _must(other.expect(409)["error"]["code"] == "idempotency_conflict", "a taken key was not refused as such")
    screen.exchange(other, "idempotency_key", "operation", folded={"source", "target", "provenance"})


def _rejection(keys: Keys, relation_id: str) -> None:
    screen.heading("4. Rejection, and inspection")
    screen.say("The reviewer rejects the relation.")
    rejected = _review(keys.reviewer, relation_id, 1, "rejected")
    screen.exchange(rejected, "operation", folded={"author"})
    screen.say("From now on a reader is told what it is told of a relation that never was.")
    _read(keys.reader, relation_id, 404)
    screen.say("Nothing is lost: a reviewer sees the relation, and why it is not eligible.")
    _inspect(keys.reviewer, relation_id, "rejected")
    screen.say("A reviewer can change their mind. The reader sees the relation again, at revision 3.")
    _review(keys.reviewer, relation_id, 2, "approved")
    _read(keys.reader, relation_id, 200)


def _changed_end(keys: Keys, loaded: Loaded, relation_id: str) -> None:
    screen.heading("5. A changed end hides a relation")
    screen.say(
        """The writer revises the record of PEP 8. What was asserted of the revision before has not been checked against
        the new one, so the relation is not eligible until somebody asserts it anew. It is not touched itself."""
    )
    end = loaded.records[STYLE]
    record = keys.writer.memory("records/read", record_id=end["record_id"]).expect(200)["record"]["input"]
    record["content"] += "\nSee-Also: PEP 257"
    operation = {
        "type": "revise",
        "record_id": end["record_id"],
        "expected_revision": end["revision"],
        "record": record,
    }
    revised = keys.writer.memory("records/commands", idempotency_key="tour/see-also", operation=operation)
    revised.expect(200)
    screen.exchange(revised, "idempotency_key", "operation", folded={"record", "author"})
    screen.say(
        "A reader no longer finds the relation; the reviewer sees which end has changed, and from which revision."
    )
    _read(keys.reader, relation_id, 404)
    _inspect(keys.reviewer, relation_id, "endpoint_revision_changed")


def _review(reviewer: Api, relation_id: str, revision: int, disposition: str) -> Exchange:
    operation = {
        "type": "review",
        "relation_id": relation_id,
        "expected_revision": revision,
        "disposition": disposition,
        "evidence_ref": "the tour",
    }
    reviewed = reviewer.memory("relations/commands", idempotency_key=f"tour/{disposition}", operation=operation)
    reviewed.expect(200)
    return reviewed


def _read(reader: Api, relation_id: str, status: int) -> None:
    read = reader.memory("relations/read", relation_id=relation_id)
    read.expect(status)
    screen.exchange(read, "relation_id", folded={"input", "reported_by", "review"})


def _inspect(reviewer: Api, relation_id: str, reason: str) -> None:
    inspected = reviewer.memory("relations/inspect", relation_id=relation_id)
    found = inspected.expect(200)["inspection"]["eligibility"]
    _must(found["reason"] == reason, f"the relation should be hidden as {reason}")
    screen.exchange(inspected, "relation_id", folded={"relation"})


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise click.ClickException(otherwise)
