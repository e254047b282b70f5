"""How each corpus is told to a ledger: one table for each, from source fields and kinds to records and relations.

The source kind of a relation is kept as the method of its provenance, so that nothing that a table folds together is
lost. An `inverted` kind is asserted from its target to its source, because the ledger's kind runs the other way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]

FOLDER = Path(__file__).parent


class KindRow(NamedTuple):
    """The ledger's kind for a source kind, and whether source and target change places."""

    kind: str
    inverted: bool = False


class Corpus(NamedTuple):
    """One corpus and its tables. `title` and the rest read the catalogue row of a thing, as it is today."""

    name: str
    kinds: Mapping[str, KindRow]
    title: str
    title_in_history: str
    category: Callable[[Json], str]
    tags: Callable[[Json], list[str]]
    created: Callable[[Json], int]

    def rows(self, name: str) -> list[Json]:
        """A file of the corpus, line by line."""
        with (FOLDER / self.name / f"{name}.jsonl").open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def stats(self) -> Json:
        """The counts to expect."""
        found: Json = json.loads((FOLDER / self.name / "stats.json").read_text(encoding="utf-8"))
        return found

    def record(self, row: Json, fields: Json, commit: str | None, *, latest: bool) -> Json:
        """The record input of a thing at one point of its history; the catalogue row belongs to the latest alone."""
        title = row[self.title] if latest else fields.get(self.title_in_history) or row[self.title]
        return {
            "title": title,
            "content": "\n".join([row["id"], *(f"{name}: {value}" for name, value in sorted(fields.items()))]),
            "data": {"fields": fields, "catalogue": row if latest else None},
            "tags": self.tags(row) if latest else [],
            "category": self.category(row),
            "topic_key": row["id"],
            "provenance": {"source_id": f"{self.name}/{row['id']}", "source_revision": commit},
            "event_time_millis": self.created(row),
        }

    def relation(self, row: Json, line: int, source: Json, target: Json) -> Json:
        """The relation input of one line."""
        kind = self.kinds[row["kind"]]
        return {
            "source": target if kind.inverted else source,
            "target": source if kind.inverted else target,
            "kind": kind.kind,
            "provenance": {
                "origin": "imported_assertion",
                "method": row["kind"],
                "method_revision": self.name,
                "evidence_ref": f"{self.name}/relations.jsonl#{line}",
            },
        }


def _day(form: str) -> Callable[[Json], int]:
    """The first day of a thing, in milliseconds; some headers name several days."""

    def created(row: Json) -> int:
        first = row["created"].split(",")[0].strip()
        return int(datetime.strptime(first, form).replace(tzinfo=UTC).timestamp()) * 1000

    return created


def _flags(row: Json) -> list[str]:
    return [flag for flag in ("revoked", "deprecated") if row.get(flag)]


PEPS = Corpus(
    name="peps",
    kinds={
        "replaces": KindRow("supersedes"),
        "superseded-by": KindRow("supersedes", inverted=True),
        "requires": KindRow("supports", inverted=True),
    },
    title="title",
    title_in_history="Title",
    category=lambda row: str(row["type"]),
    tags=lambda row: [f"status {row['status']}"],
    created=_day("%d-%b-%Y"),
)
BIPS = Corpus(
    name="bips",
    kinds=PEPS.kinds,
    title="title",
    title_in_history="Title",
    category=lambda row: str(row["type"]),
    tags=lambda row: [f"status {row['status']}"],
    created=_day("%Y-%m-%d"),
)
ATTACK_ICS = Corpus(
    name="attack-ics",
    kinds={
        "targets": KindRow("leads_to"),
        "mitigates": KindRow("fixes_issue"),
        "uses": KindRow("semantic_related"),
        "detects": KindRow("supports"),
        "attributed-to": KindRow("caused_by"),
        "revoked-by": KindRow("supersedes", inverted=True),
    },
    title="name",
    title_in_history="name",
    category=lambda row: str(row["type"]),
    tags=_flags,
    created=_day("%Y-%m-%d"),
)
