"""A naive ledger: what a partition must look like after its accepted commands, in the order of their commit sequences.

Written from the contract and from nothing of the product, as simply as it can be: one dictionary for records, one for
relations, every revision kept as the JSON that a client must be shown. Commands are taken one by one; what the receipt
says of a command is compared with what the model makes of it.
"""

from __future__ import annotations

from copy import deepcopy

from crash_tests.history import FOUND, Command, Json
from crash_tests.violation import require_same

_ACTIONS = {
    ("record", "create"): "created",
    ("record", "revise"): "revised",
    ("record", "delete"): "deleted",
    ("record", "derive"): "derived",
    ("record", "review"): "reviewed",
    ("record", "save"): "created",
    ("record", "archive"): "archived",
    ("record", "unarchive"): "unarchived",
    ("record", "pin"): "pinned",
    ("record", "unpin"): "unpinned",
    ("record", "mark_stale"): "marked_stale",
    ("relation", "assert"): "asserted",
    ("relation", "retire"): "retired",
    ("relation", "restore"): "restored",
    ("relation", "review"): "reviewed",
}
_BESIDE = ("archive", "unarchive", "pin", "unpin", "mark_stale")
"""What changes a record's standing, which lies beside it: no revision comes of it."""
_SYMMETRIC = (
    "semantic_related",
    "same_entity",
    "contradicts",
    "laterally_related",
    "compatible",
    "scoped",
    "not_conflict",
)
_INPUT: Json = {
    "type": "memory",
    "title": None,
    "content": None,
    "data": None,
    "tags": [],
    "category": None,
    "topic_key": None,
    "fact_key": None,
    "provenance": None,
    "confidence": None,
    "event_time_millis": None,
    "valid_until_millis": None,
}


class Model:
    """One partition. `records` and `relations` hold the revisions of each object, the first at index 0.

    `sequence` is the commit sequence of the last command; the timeline judges whether it may follow the one before.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.records: dict[str, list[Json]] = {}
        self.relations: dict[str, list[Json]] = {}
        self._digests: dict[str, str] = {}
        """Of each object, at its last revision, as the receipt told."""
        self._brought: dict[str, list[Command]] = {}
        """Of each object, the command that each revision came of."""

    def apply(self, command: Command) -> str:
        """Take the next command; the id of the object that it made or changed."""
        assert command.receipt is not None
        receipt, operation = command.told(), command.operation
        objects, id_name = (
            (self.records, "record_id") if command.family == "record" else (self.relations, "relation_id")
        )
        object_id = str(receipt[id_name])
        known = objects.get(object_id, [])
        self.sequence = receipt["commit_sequence"]
        if operation.get("if_absent"):
            equal = self._in_force(operation["relation"])
            require_same(f"what {command.name} found", equal, object_id if known else None)
            if equal is not None:
                self._found(command, receipt, known[-1])
                return object_id
        beside = operation["type"] in _BESIDE
        expected = {
            "idempotency_key": command.idempotency_key,
            "author": command.desk.account.author,
            "action": _ACTIONS[command.family, operation["type"]],
            "revision": len(known) if beside else len(known) + 1,
            id_name: operation.get(id_name, object_id),
        }
        found = {name: receipt[name] for name in expected}
        require_same(f"the receipt of {command.name}", expected, found)
        at = operation.get("expected_revision", len(known) if beside else 0)
        require_same(f"the revision that {command.name} was accepted at", at, len(known))
        digest = receipt[f"{command.family}_digest"]
        if beside:
            require_same(f"the digest that {command.name} leaves", self._digests[object_id], digest)
        else:
            objects.setdefault(object_id, known).append(_after(known[-1] if known else None, command, receipt))
            self._brought.setdefault(object_id, []).append(command)
        self._digests[object_id] = digest
        return object_id

    def _found(self, command: Command, receipt: Json, relation: Json) -> None:
        """An assertion that changed nothing names the relation as it is."""
        expected = {
            "idempotency_key": command.idempotency_key,
            "author": command.desk.account.author,
            "action": FOUND,
            "revision": relation["revision"],
            "relation_digest": self._digests[relation["relation_id"]],
        }
        require_same(f"the receipt of {command.name}", expected, {name: receipt[name] for name in expected})

    def _in_force(self, given: Json) -> str | None:
        """The oldest relation that says the same of the same contents, active and not rejected."""
        wanted = [given["source"]["record_id"], given["target"]["record_id"]]
        for relation_id, revisions in self.relations.items():
            said = revisions[-1]["input"]
            ends = [said["source"]["record_id"], said["target"]["record_id"]]
            same = ends == wanted or (given["kind"] in _SYMMETRIC and ends[::-1] == wanted)
            pins = [said["source"], said["target"], *said.get("evidence_sources", [])]
            if same and said["kind"] == given["kind"] and self.is_indexed(relation_id) and all(map(self._holds, pins)):
                return relation_id
        return None

    def _holds(self, pin: Json) -> bool:
        return holds(self.records[pin["record_id"]][-1], pin["revision"])

    def change(self, command: Command) -> Json:
        """What its stream tells of a command that was taken."""
        receipt, family = command.told(), command.family
        object_id = receipt[f"{family}_id"]
        told: Json = {
            "schema_version": 1,
            "kind": receipt["action"],
            f"{family}_id": object_id,
            f"{family}_revision": receipt["revision"],
            "author": receipt["author"],
            "committed_at_millis": receipt["committed_at_millis"],
            f"{family}_digest": receipt[f"{family}_digest"],
            "receipt_digest": receipt["receipt_digest"],
        }
        if family == "relation":
            given = self.relations[object_id][0]["input"]
            told |= {"source": given["source"], "target": given["target"], "relation_kind": given["kind"]}
        return told

    def standing_change(self, record_id: str, action: str, receipt: Json) -> Json:
        """What the stream of records tells of a standing that a command has changed besides."""
        return {
            "schema_version": 1,
            "kind": action,
            "record_id": record_id,
            "record_revision": len(self.records[record_id]),
            "author": receipt["author"],
            "committed_at_millis": receipt["committed_at_millis"],
            "record_digest": self._digests[record_id],
            "receipt_digest": receipt["receipt_digest"],
        }

    def record_at(self, record_id: str, revision: int) -> Json:
        """A record's revision as it is shown now: once deleted, without payload and review in all of them."""
        shown = dict(self.records[record_id][revision - 1])
        if self.records[record_id][-1]["state"] == "deleted":
            shown |= {"input": None, "review": None}
        return shown

    def relation_at(self, relation_id: str, revision: int) -> Json:
        """A relation's revision."""
        return self.relations[relation_id][revision - 1]

    def receipt_at(self, object_id: str, revision: int) -> Json:
        """The receipt of the command that an object's revision came of."""
        return self._brought[object_id][revision - 1].told()

    def is_eligible(self, record_id: str, now_millis: int, revision: int | None = None) -> bool:
        """Whether a record may be read at an instant, and a pin on `revision` holds if one is given."""
        if record_id not in self.records:
            return False
        record = self.records[record_id][-1]
        if record["state"] == "deleted" or not (revision is None or holds(record, revision)):
            return False
        until = record["input"]["valid_until_millis"]
        if (record["review"] or {}).get("disposition") == "rejected" or (until is not None and until <= now_millis):
            return False
        return self._are_eligible((record["derivation"] or {}).get("sources", []), now_millis)

    def is_indexed(self, relation_id: str) -> bool:
        """Whether its ends lead to a relation: it is active and not rejected."""
        relation = self.relations[relation_id][-1]
        return relation["state"] == "active" and (relation["review"] or {}).get("disposition") != "rejected"

    def is_valid(self, relation_id: str, now_millis: int) -> bool:
        """Whether nothing but its ends can keep a relation from being read at an instant."""
        given = self.relations[relation_id][-1]["input"]
        since, until = given["valid_from_millis"], given["valid_until_millis"]
        in_time = (since is None or since <= now_millis) and (until is None or now_millis < until)
        evidence = given.get("evidence_sources", [])
        return self.is_indexed(relation_id) and in_time and self._are_eligible(evidence, now_millis)

    def _are_eligible(self, refs: list[Json], now_millis: int) -> bool:
        return all(self.is_eligible(one["record_id"], now_millis, one["revision"]) for one in refs)


def holds(record: Json, pinned: int) -> bool:
    """Whether a pin on a revision of a record holds: only reviews came since."""
    return bool(record["content_revision"] <= pinned <= record["revision"])


def _after(before: Json | None, command: Command, receipt: Json) -> Json:
    """The object that a command leaves, as it is shown."""
    after = deepcopy(before) if before else _new(command, receipt)
    after |= {"revision": receipt["revision"], "modified_at_millis": receipt["committed_at_millis"]}
    operation = command.operation
    match operation["type"]:
        case "revise":
            after |= {"input": _INPUT | operation["record"], "review": None, "author": receipt["author"]}
            after["content_revision"] = receipt["revision"]
        case "delete":
            after |= {"state": "deleted", "input": None, "review": None, "content_revision": receipt["revision"]}
        case "retire":
            after["state"] = "retired"
        case "restore":
            after["state"] = "active"
        case "review":
            after["review"] = {
                "disposition": operation["disposition"],
                "evidence_ref": operation["evidence_ref"],
                "author": receipt["author"],
                "reviewed_at_millis": receipt["committed_at_millis"],
            }
    return after


def _new(command: Command, receipt: Json) -> Json:
    operation = command.operation
    made: Json = {
        "schema_version": 1,
        "created_at_millis": receipt["committed_at_millis"],
        "state": "active",
        "review": None,
    }
    if command.family == "record":
        shown = _INPUT | operation["record"]
        return made | {
            "record_id": receipt["record_id"],
            "content_revision": 1,
            "author": receipt["author"],
            "input": shown,
            "derivation": operation.get("derivation"),
        }
    given = {"valid_from_millis": None, "valid_until_millis": None, **operation["relation"]}
    given["provenance"] = {"model": None, **given["provenance"]}
    return made | {"relation_id": receipt["relation_id"], "reported_by": receipt["author"], "input": given}
