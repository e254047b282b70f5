"""Loads a corpus into a ledger over HTTP, in batches, and notes what the ledger refused."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from relatum import limits
from tests.corpora.mapping import Corpus, Json
from tests.http.client import RECORDS, RELATIONS, Caller

BODY_BYTES_MAX = limits.BATCH_BODY_BYTES_MAX // 2
"""Batches stay well below what a body may have, however they are encoded."""

UNKNOWN = uuid.UUID("6b1d4c1e-0000-5000-8000-000000000000")
"""Namespace of ids for things that a corpus speaks of and does not have: well formed, and unknown to any ledger."""


class Refused(NamedTuple):
    """What a ledger refused, by what it was about and how it was answered."""

    revisions: Counter[tuple[str, int, str]]  # source id, status, code
    relations: Counter[tuple[str, str, int, str]]  # source kind, missing end, status, code


def load(caller: Caller, corpus: Corpus) -> Refused:
    """Records with their whole history, oldest first; then relations between them as they are now."""
    loader = _Loader(caller, corpus)
    loader.load_records()
    loader.load_relations()
    return Refused(loader.refused_revisions, loader.refused_relations)


class _Loader:
    def __init__(self, caller: Caller, corpus: Corpus) -> None:
        self.refused_revisions: Counter[tuple[str, int, str]] = Counter()
        self.refused_relations: Counter[tuple[str, str, int, str]] = Counter()
        self._caller = caller
        self._corpus = corpus
        self._ids: dict[str, str] = {}
        self._revisions: dict[str, int] = {}

    def load_records(self) -> None:
        """All first revisions, then all second ones, and so on: within a batch order is kept, between batches too."""
        rows = {row["id"]: row for row in self._corpus.rows("records")}
        history: dict[str, list[Json]] = defaultdict(list)
        for change in self._corpus.rows("revisions"):
            history[change["id"]].append(change)
        for rank in range(1, max(len(changes) for changes in history.values()) + 1):
            named = [(name, self._command(row, history[name], rank)) for name, row in rows.items()]
            self._records([(name, command) for name, command in named if command is not None])
        strangers = [(name, change) for name in history.keys() - rows.keys() for change in history[name]]
        self._records([(name, self._revise_stranger(name, change)) for name, change in sorted(strangers, key=str)])

    def _command(self, row: Json, changes: list[Json], rank: int) -> Json | None:
        """The command that brings revision `rank` of a thing; None where it has no such revision."""
        last = max(len(changes), 1)
        if rank > last:
            return None
        fields: Json = {}
        for change in changes[:rank]:
            fields |= change["set"]
            fields = {name: value for name, value in fields.items() if name not in change.get("unset", ())}
        commit = changes[rank - 1]["commit"] if changes else None
        record = self._corpus.record(row, fields, commit, latest=rank == last)
        if rank == 1:
            return {"type": "create", "record": record}
        return {"type": "revise", "record_id": self._ids[row["id"]], "expected_revision": rank - 1, "record": record}

    def _revise_stranger(self, name: str, change: Json) -> Json:
        """A revision of something that the corpus does not have as a record: the ledger must not know it either."""
        return {
            "type": "revise",
            "record_id": self._id(name),
            "expected_revision": change["rev"],
            "record": {"content": name, "data": {"fields": change["set"]}},
        }

    def _records(self, commands: list[tuple[str, Json]]) -> None:
        for batch in _batches(commands):
            for (name, _), result in zip(batch, self._send(RECORDS, batch), strict=True):
                if "receipt" in result:
                    self._ids[name] = result["receipt"]["record_id"]
                    self._revisions[name] = result["receipt"]["revision"]
                else:
                    self.refused_revisions[name, result["error"]["status"], result["error"]["code"]] += 1

    def load_relations(self) -> None:
        rows = self._corpus.rows("relations")
        commands = [(str(line), self._assertion(row, line)) for line, row in enumerate(rows, start=1)]
        for batch in _batches(commands):
            for (line, _), result in zip(batch, self._send(RELATIONS, batch), strict=True):
                if "error" in result:
                    row, error = rows[int(line) - 1], result["error"]
                    lost = next((end for end in (row["from"], row["to"]) if end not in self._ids), "")
                    self.refused_relations[row["kind"], lost, error["status"], error["code"]] += 1

    def _assertion(self, row: Json, line: int) -> Json:
        relation = self._corpus.relation(row, line, self._end(row["from"]), self._end(row["to"]))
        return {"type": "assert", "relation": relation}

    def _end(self, name: str) -> Json:
        return {"record_id": self._id(name), "revision": self._revisions.get(name, 1)}

    def _id(self, name: str) -> str:
        return self._ids.get(name) or str(uuid.uuid5(UNKNOWN, name))

    def _send(self, family: str, batch: list[tuple[str, Json]]) -> list[Json]:
        """The results of one batch. The key of a command is what it is about, so that a batch can be sent again."""
        commands = [
            {"idempotency_key": f"{name}@{operation.get('expected_revision', 0)}", "operation": operation}
            for name, operation in batch
        ]
        answer = self._caller.ask(f"{family}/commands/batch", commands=commands)
        assert answer.status_code == 200, answer.text
        results: list[Json] = answer.json()["results"]
        return results


def _batches(commands: list[tuple[str, Json]]) -> Iterator[list[tuple[str, Json]]]:
    """Commands in order, in as few batches as the bounds on number and bytes allow."""
    batch: list[tuple[str, Json]] = []
    size = 0
    for command in commands:
        length = len(str(command))
        if batch and (len(batch) == limits.COMMAND_BATCH_MAX or size + length > BODY_BYTES_MAX):
            yield batch
            batch, size = [], 0
        batch.append(command)
        size += length
    if batch:
        yield batch
