"""What a caller has learnt about one partition from the answers of the server, so that it can ask for what is there.

Answers are read by the names of their members alone: whatever route answers them, a new one too, teaches. Cursors and
consumers belong to a stream, and so to the routes whose paths begin alike: to a family.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

REMEMBERED = 48
"""What is older than so many others is forgotten: most of it is deleted or changed by then."""

_COMMANDS = {"judgments": "judgment", "links": "link"}
"""Families of receipts, by the last part of the family of a path."""

_UNDOABLE = ("run_id", "operation_id")

At = tuple[str, int]
"""An id and a revision."""


def family(path: str) -> str:
    """What the paths of a family begin with, `/api/v1/memory/relations` for one."""
    return "/".join(path.split("/")[:5])


def _some() -> deque[Any]:
    return deque(maxlen=REMEMBERED)


@dataclass
class Known:
    """The knowledge of one subject about one partition; newest last."""

    receipts: deque[Json] = field(default_factory=_some)
    """Of accepted commands: what `receipts/read` finds them by."""
    records: dict[str, int] = field(default_factory=dict)
    relations: dict[str, int] = field(default_factory=dict)
    candidates: deque[str] = field(default_factory=_some)
    undoable: deque[tuple[str, str]] = field(default_factory=_some)
    """Runs and operations of the sweep: the name of the member, and its id."""
    cursors: dict[str, deque[Json]] = field(default_factory=lambda: defaultdict(_some))
    events: dict[str, deque[str]] = field(default_factory=lambda: defaultdict(_some))
    """Ids of server-sent events, by family."""
    consumers: dict[str, dict[str, Json]] = field(default_factory=lambda: defaultdict(dict))
    """By family and consumer id: the newest checkpoint."""
    bodies: dict[str, deque[Json]] = field(default_factory=lambda: defaultdict(_some))
    """By operation: what is worth sending once more, as it is."""

    def learn(self, path: str, answer: Any) -> None:
        """Takes what it can from an answer to a request for `path`."""
        if isinstance(answer, list):
            for item in answer:
                self.learn(path, item)
        elif isinstance(answer, dict):
            self._take(family(path), answer)
            for member in answer.values():
                self.learn(path, member)

    def _take(self, kind: str, found: Json) -> None:
        for name, heads in (("record_id", self.records), ("relation_id", self.relations)):
            revision = found.get("revision")
            if name in found and isinstance(revision, int):
                identifier = found[name]
                newest = max(revision, heads.pop(identifier, 0))
                heads[identifier] = newest
        if "journal_id" in found:
            self.cursors[kind].append(found)
        if "checkpoint_digest" in found:
            self._take_checkpoint(kind, found)
        if isinstance(found.get("candidate_id"), str):
            self.candidates.append(found["candidate_id"])
        if "operations" in found or "operation_id" in found:
            self.undoable += [(name, found[name]) for name in _UNDOABLE if isinstance(found.get(name), str)]
        if "idempotency_key" in found and "receipt_digest" in found:
            self.receipts.append({"family": _receipts(kind, found), "idempotency_key": found["idempotency_key"]})

    def _take_checkpoint(self, kind: str, found: Json) -> None:
        before = self.consumers[kind].get(found["consumer_id"])
        if before is None or before["revision"] <= found["revision"]:
            self.consumers[kind][found["consumer_id"]] = found

    def learn_events(self, path: str, stream: str) -> None:
        """Takes the ids of server-sent events."""
        self.events[family(path)] += [line.removeprefix("id: ") for line in stream.splitlines() if line[:4] == "id: "]

    def remember(self, operation: str, body: Json, answer: Any) -> None:
        """Keeps a body that was answered well: to be repeated, or to ask for the page after the answered one."""
        if "idempotency_key" in body or "command" in body:
            self.bodies[operation].append(body)
        following = _next_cursor(answer)
        for member in ("filter", "query"):
            if following is not None and isinstance(body.get(member), dict):
                self.bodies[operation].append({**body, member: {**body[member], "cursor": following}})

    def newest_cursor(self, kind: str) -> Json | None:
        """The one that lies furthest on."""
        return max(self.cursors[kind], key=lambda cursor: cursor["sequence"], default=None)


def _receipts(kind: str, receipt: Json) -> str:
    """The family that a receipt is found in: that of the command, which for a verdict is not that of its relation."""
    by_route = _COMMANDS.get(kind.rpartition("/")[2])
    by_member = (name for name in ("record", "relation") if f"{name}_id" in receipt)
    return by_route or next(by_member, "checkpoint")


def recent(heads: dict[str, int]) -> list[At]:
    """The ids that were learnt last, with their newest revisions."""
    return list(heads.items())[-REMEMBERED:]


def _next_cursor(answer: Any) -> str | None:
    page = answer.get("page") if isinstance(answer, dict) else None
    following = page.get("next_cursor") if isinstance(page, dict) else None
    return following if isinstance(following, str) else None
