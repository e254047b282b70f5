"""What those ask for who save, judge, link and change standings, drawn by dice, and what of an answer must last."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from random import Random
from threading import Lock
from typing import Any, NamedTuple

from crash_tests.curation import CONFIDENCES, DAYS, NO_DAY, PROMOTED
from crash_tests.history import Family, Json
from crash_tests.operations import UNKNOWN_ID

RECORDS = "/api/v1/memory/records"
RELATIONS = "/api/v1/memory/relations"
JUDGMENTS = "/api/v1/memory/judgments"
LINKS = "/api/v1/memory/links"
EDGES = "/api/v1/memory/edges"
SCOPE: Json = {"project_id": "atlas", "agent_id": "scout", "visibility": "shared"}
VERDICTS = ("supersedes", "supersedes", "conflicts_with", "related", "compatible", "scoped", "not_conflict")
WORDS = ["ferry", "harbour", "north", "south", "leaves", "arrives", "nine", "ten", "noon", "never", "bridge", "lantern"]
TOPICS = ("ferry", "harbour", "bridge")
REMEMBERED = 200
PROPOSALS_MAX = 12
FAMILIES: dict[str, Family] = {
    "save": "record",
    "stand": "record",
    "mark": "record",
    "change": "relation",
    "link": "link",
}
"""By kind; all others are judgments."""


class Request(NamedTuple):
    """One command as it is sent, and sent again."""

    kind: str
    path: str
    body: Json

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return str(self.body["idempotency_key"])

    @property
    def family(self) -> Family:
        """Among which keys its own is looked up."""
        return FAMILIES.get(self.kind, "judgment")


def lasting(request: Request, answer: Json) -> Any:
    """What of an answer every replay must show; titles, snippets and candidates are those of now."""
    match request.kind:
        case "save":
            found = [(one["candidate_id"], one["target_id"], one["similarity"]) for one in answer["candidates"]]
            return answer["receipt"], found, answer["candidates_detected"]
        case "submit":
            return [one["candidate_id"] for one in answer["candidates"]]
        case _:
            return answer


@dataclass
class Known:
    """What the clients have learnt from answers. For any thread."""

    records: list[str] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    relations: dict[str, int] = field(default_factory=dict)
    undoable: list[Json] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def learn(self, request: Request, answer: Json) -> None:
        """Takes the ids of an accepted command's answer."""
        with self._lock:
            match request.kind:
                case "save":
                    self.records.append(answer["receipt"]["record_id"])
                    self.candidates += [one["candidate_id"] for one in answer["candidates"]]
                case "submit":
                    self.candidates += [one["candidate_id"] for one in answer["candidates"]]
                case "batch":
                    for result in answer["results"]:
                        if result["ok"]:
                            self.relations[result["receipt"]["relation_id"]] = result["receipt"]["revision"]
                case "compare" | "change":
                    self.relations[answer["receipt"]["relation_id"]] = answer["receipt"]["revision"]
                case "promote":
                    made = [one["relation_id"] for one in answer["outcomes"] if one["outcome"] == "promoted"]
                    self.relations |= dict.fromkeys(made, 1)
                case "sweep":
                    self.undoable.append({"run_id": answer["run_id"]})
                    self.undoable += [{"operation_id": one["operation_id"]} for one in answer["operations"]]
                case _:
                    pass

    def recent(self, ids: list[Any]) -> list[Any]:
        """The ids that were learnt last."""
        with self._lock:
            return ids[-REMEMBERED:]

    def relation(self, dice: Random) -> tuple[str, int] | None:
        """A relation that a verdict or a promotion has made, at the newest revision that somebody was told."""
        with self._lock:
            return dice.choice(list(self.relations.items())) if self.relations else None


class Ideas:
    """Draws the commands of one client."""

    def __init__(self, known: Known, name: str) -> None:
        self.dice = Random(name)
        self._known = known
        self._name = name
        self._numbers = count(1)
        self._kinds = {
            self._save: 8,
            self._batch: 5,
            self._compare: 4,
            self._submit: 2,
            self._sweep: 2,
            self._undo: 1,
            self._confirm: 1,
            self._change: 2,
            self._stand: 2,
            self._mark: 1,
            self._link: 2,
            self._promote: 4,
        }

    def next(self) -> Request:
        """The next command, under a key of its own."""
        draw = self._save
        if len(self._known.records) > 1:
            [draw] = self.dice.choices(list(self._kinds), list(self._kinds.values()))
        kind, path, members = draw()
        key = f"{self._name}/{next(self._numbers)}"
        return Request(kind, path, {"contract_version": 1, "scope": SCOPE, "idempotency_key": key, **members})

    def _save(self) -> tuple[str, str, Json]:
        content = " ".join(self.dice.choices(WORDS, k=self.dice.randint(3, 7)))
        topic = self.dice.choice(TOPICS) if self.dice.random() < 0.3 else None
        record = {"content": content, "topic_key": topic, "title": content[:20]}
        operation = {"type": "save", "record": record, "candidates_max": self.dice.randint(0, 25)}
        return "save", f"{RECORDS}/commands", {"operation": operation}

    def _batch(self) -> tuple[str, str, Json]:
        known = self._known.recent(self._known.candidates)
        chosen = [*self.dice.sample(known, min(len(known), self.dice.randint(1, 18))), UNKNOWN_ID]
        self.dice.shuffle(chosen)
        judgments = [
            {"candidate_id": one, "relation": self.dice.choice(VERDICTS), "reason": f"because of {number}"}
            for number, one in enumerate(chosen)
        ]
        return "batch", f"{JUDGMENTS}/batch", {"judgments": judgments}

    def _compare(self) -> tuple[str, str, Json]:
        source, target = self._two()
        verdict = self.dice.choice(VERDICTS[:-1])
        members = {"source_id": source, "target_id": target, "relation": verdict, "confidence": 0.5, "reason": "so"}
        return "compare", f"{JUDGMENTS}/compare", members

    def _submit(self) -> tuple[str, str, Json]:
        pairs = [self._two() for _ in range(self.dice.randint(1, 5))]
        members = {"candidates": [{"source": source, "target": target} for source, target in pairs]}
        return "submit", f"{JUDGMENTS}/candidates", members

    def _sweep(self) -> tuple[str, str, Json]:
        return "sweep", f"{JUDGMENTS}/sweep", {}

    def _undo(self) -> tuple[str, str, Json]:
        known = self._known.recent(self._known.undoable)
        return "undo", f"{JUDGMENTS}/undo", self.dice.choice(known) if known else {"run_id": UNKNOWN_ID}

    def _confirm(self) -> tuple[str, str, Json]:
        given = [
            {"record_id": one, "outcome": self.dice.choice(("affirmed", "refuted")), "evidence_ref": "note/1"}
            for one in self._two()
        ]
        return "confirm", f"{RECORDS}/confirm", {"confirmations": given}

    def _change(self) -> tuple[str, str, Json]:
        """Retires, restores or rejects the relation of a verdict or a promotion; saves where there is none."""
        found = self._known.relation(self.dice)
        if found is None:
            return self._save()
        operation = {"relation_id": found[0], "expected_revision": found[1], "evidence_ref": "note/2"}
        kind = self.dice.choice(("retire", "restore", "review"))
        review = {"disposition": self.dice.choice(("approved", "rejected"))} if kind == "review" else {}
        return "change", f"{RELATIONS}/commands", {"operation": {"type": kind, **operation, **review}}

    def _stand(self) -> tuple[str, str, Json]:
        kind = self.dice.choice(("archive", "unarchive", "pin", "unpin", "delete"))
        operation = {"type": kind, "record_id": self._two()[0], "expected_revision": 1}
        return "stand", f"{RECORDS}/commands", {"operation": operation}

    def _mark(self) -> tuple[str, str, Json]:
        out_of_date, later = self._two()
        because = {"record_id": later, "revision": 1}
        operation = {"type": "mark_stale", "record_id": out_of_date, "because": because}
        return "mark", f"{RECORDS}/commands", {"operation": operation}

    def _link(self) -> tuple[str, str, Json]:
        source, target = self._two()
        kind = {"type": "link", "kind": "related"} if self.dice.random() < 0.7 else {"type": "unlink"}
        return "link", f"{LINKS}/commands", {"operation": {**kind, "source_id": source, "target_id": target}}

    def _promote(self) -> tuple[str, str, Json]:
        """Proposals of a miner, now and then for a day that is none."""
        pairs = [self._two() for _ in range(self.dice.randint(1, PROPOSALS_MAX))]
        proposals = [
            {
                "source_id": source,
                "target_id": target,
                "kind": self.dice.choice(PROMOTED),
                "confidence": self.dice.choice(CONFIDENCES),
            }
            for source, target in pairs
        ]
        day = NO_DAY if self.dice.random() < 0.05 else self.dice.choice(DAYS)
        run = {"run_id": f"run {self.dice.randrange(100)}", "run_date": day}
        return "promote", f"{EDGES}/promote", {"run": run, "proposals": proposals}

    def _two(self) -> list[str]:
        found: list[str] = self.dice.sample(self._known.recent(self._known.records), 2)
        return found
