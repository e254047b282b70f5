"""What those ask for who tend a memory: saves, standings, links and judgments, on what they know of one partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from crash_tests.history import Family, Json
from crash_tests.operations import UNKNOWN_ID, Author, Sight

VERDICTS: Final = ("supersedes", "supersedes", "conflicts_with", "related", "compatible", "scoped", "not_conflict")
LINKS: Final = ("related", "conflicts", "supports", "supersedes")
HITS_MAX: Final = 3
BATCH_MAX: Final = 3
DAYS: Final = ("2026-02-27", "2026-02-28")
NO_DAY: Final = "2026-02-30"
PROMOTED: Final = ("contradicts", "contradicts", "supports", "caused_by", "part_of", "none")
SUSPECTED_AGAIN: Final = 0.5
CONFIDENCES: Final = (0.6, 0.7, 0.9)
"""Below the floor of promotions, on it, above."""
ASTRAY: Final = 0.05
UNDONE: Final = 0.4
"""So many changes of standing, and of links, undo an earlier one."""


class Curator(Author):
    """Thinks of such operations; deterministic but for what `sight` and whoever asks have come to show."""

    def __init__(self, random: Random, sight: Sight) -> None:
        super().__init__(random, sight)
        self._kinds: dict[Callable[[], tuple[Family, Json]], int] = {
            self.save: 12,
            self._archive: 2,
            self._pin: 2,
            self._mark_stale: 1,
            self._link: 3,
            self._take_back: 5,
            self._forget: 2,
        }

    def tending(self) -> tuple[Family, Json]:
        """A save, a change of a record's standing, a link, or what becomes of a verdict."""
        return self._random.choices(list(self._kinds), list(self._kinds.values()))[0]()

    def hits(self) -> list[str]:
        """Records that the search index is said to have found for a save: it may lag behind, and lie."""
        found = (self._sight.record(self._random) for _ in range(self._random.randint(0, HITS_MAX)))
        return [UNKNOWN_ID if self._strays() else one.object_id for one in found if one is not None]

    def judgment(self, pending: Sequence[str], swept: Sequence[Json]) -> Json:
        """A judgment, given the pending candidates and what an undo may name."""
        choices: dict[Callable[[], Json], int] = {
            lambda: self._batch(pending): 8 if pending else 0,
            self._compare: 5,
            self._submit: 3,
            lambda: {"type": "sweep"}: 2,
            lambda: {"type": "undo", **self._random.choice(swept)}: 2 if swept else 0,
            self._confirm: 1,
            self._promote: 4,
        }
        return self._random.choices(list(choices), list(choices.values()))[0]()

    # Records

    def save(self) -> tuple[Family, Json]:
        """A new record that takes its topic slot, if it names one, from whoever has it."""
        record = self._record()
        if self._random.random() < 0.3:
            record["topic_key"] = self._topic()
        return "record", {"type": "save", "record": record, "candidates_max": self._random.randint(0, HITS_MAX)}

    def _archive(self) -> tuple[Family, Json]:
        return self._on_standing("archive", "unarchive", "archived")

    def _pin(self) -> tuple[Family, Json]:
        return self._on_standing("pin", "unpin", "pinned")

    def _on_standing(self, kind: str, undo: str, standing: str) -> tuple[Family, Json]:
        undone = self._sight.standing(self._random, standing) if self._random.random() < UNDONE else None
        record = undone or self._sight.record(self._random)
        if record is None:
            return self.operation()
        target = {"record_id": record.object_id, "expected_revision": self._near(record.revision)}
        return "record", {"type": undo if undone else kind, **target}

    def _mark_stale(self) -> tuple[Family, Json]:
        refs = self._refs(2)
        if len(refs) < 2:
            return self.operation()
        return "record", {"type": "mark_stale", "record_id": refs[0]["record_id"], "because": refs[1]}

    # What becomes of verdicts

    def _take_back(self) -> tuple[Family, Json]:
        """The relation of a verdict is retired, rejected or restored, which may change the standing of its target."""
        verdict = self._sight.verdict(self._random)
        if verdict is None:
            return self.operation()
        relation, _ = verdict
        kind = self._random.choice(("retire", "retire", "restore", "review"))
        target = {"relation_id": relation.object_id, "expected_revision": relation.revision, "evidence_ref": "note 9"}
        return "relation", {"type": kind, **target, **({"disposition": "rejected"} if kind == "review" else {})}

    def _forget(self) -> tuple[Family, Json]:
        """An end of a verdict is deleted, and with it what the verdict has said."""
        verdict = self._sight.verdict(self._random)
        if verdict is None:
            return self.operation()
        end = self._random.choice(verdict[1])
        return "record", {"type": "delete", "record_id": end.object_id, "expected_revision": end.revision}

    # Links and judgments

    def _link(self) -> tuple[Family, Json]:
        undone = self._sight.linked(self._random) if self._random.random() < UNDONE else None
        two = undone or self._two()
        if two is None:
            return self.operation()
        ends = dict(zip(("source_id", "target_id"), two, strict=True))
        if undone:
            return "link", {"type": "unlink", **ends}
        return "link", {"type": "link", "kind": self._random.choice(LINKS), **ends}

    def _batch(self, pending: Sequence[str]) -> Json:
        """Verdicts on candidates, one of which may be closed by the one before it, or unknown."""
        chosen = self._random.choices(pending, k=self._random.randint(1, BATCH_MAX))
        if self._strays():
            chosen[-1] = UNKNOWN_ID
        judgments = [
            {"candidate_id": one, "relation": self._random.choice(VERDICTS), **self._opinion()} for one in chosen
        ]
        return {"type": "batch", "judgments": judgments}

    def _compare(self) -> Json:
        two = self._two()
        if two is None:
            return {"type": "sweep"}
        ends = dict(zip(("source_id", "target_id"), two, strict=True))
        said = {"relation": self._random.choice(VERDICTS[:-1]), "confidence": 0.5, **self._opinion()}
        return {"type": "compare", "comparison": {**ends, **said}}

    def _submit(self) -> Json:
        pairs = [two for _ in range(self._random.randint(1, BATCH_MAX)) if (two := self._two()) is not None]
        if not pairs:
            return {"type": "sweep"}
        return {"type": "candidates", "candidates": [{"source": one, "target": other} for one, other in pairs]}

    def _confirm(self) -> Json:
        two = self._two()
        if two is None:
            return {"type": "sweep"}
        said = {"outcome": self._random.choice(("affirmed", "refuted")), "evidence_ref": "note 8"}
        return {"type": "confirm", "confirmations": [{"record_id": one, **said} for one in two]}

    def _promote(self) -> Json:
        """Proposals of a miner, some of them weak, or about what is gone or related already; seldom an unsound run."""
        proposals = [one for _ in range(self._random.randint(1, BATCH_MAX)) if (one := self._proposal()) is not None]
        if not proposals:
            return {"type": "sweep"}
        day = NO_DAY if self._strays() else self._random.choice(DAYS)
        run = {"run_id": f"run {self._random.randrange(100)}", "run_date": day}
        return {"type": "promote", "run": run, "proposals": proposals}

    def _proposal(self) -> Json | None:
        kind = self._random.choice(PROMOTED)
        again = kind == "contradicts" and self._random.random() < SUSPECTED_AGAIN
        two = (self._sight.suspected(self._random) if again else None) or self._two()
        if two is None:
            return None
        if kind == "contradicts":
            self._sight.suspect(two)
        said = {"kind": kind, "confidence": self._random.choice(CONFIDENCES)}
        return {"source_id": two[0], "target_id": two[1], **said}

    # Parts

    def _opinion(self) -> Json:
        """Words go when an end of their verdict is deleted."""
        return {"reason": f"reason {self._random.getrandbits(64):x}"} if self._random.random() < 0.7 else {}

    def _two(self) -> tuple[str, str] | None:
        """Two records, distinct but for a rare slip."""
        refs = self._refs(2)
        return (refs[0]["record_id"], refs[-1]["record_id"]) if len(refs) > 1 else None

    def _strays(self) -> bool:
        return self._random.random() < ASTRAY
