"""Each kind of row damaged in turn: whoever meets the damage is told so, and everybody else gets the answer of before.

Nobody gets a wrong answer, but for two blind spots that are named here: a scan for whatever there is can't miss a row
that is gone, and a key whose pointer is gone can't be told from a new key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.integrity.damage import MANNERS, Places, damaged
from tests.integrity.probes import (
    ELSEWHERE_COMMANDS,
    ELSEWHERE_READS,
    INCONSISTENT,
    RELATION_REPLAYS,
    Answer,
    answers,
)
from tests.integrity.scene import Scene
from tests.support.matrix import matrix

RELATION_IS_VERIFIED = {
    "relations/read",
    "relations/inspect",
    "relations/query",
    *RELATION_REPLAYS,
    "retire",
    "review",
    "restore of an active one",
}
BOTH_GRAPHS = {"graph of source", "graph into target"}
RELATION_COMMANDS = {"retire", "review", "assert"}
RECORD_COMMANDS = {"create", "derive", "revise source", "revise revised", "review reviewed", "delete target"}
SOURCE_IS_SHOWN = {
    "records/read",
    "records/inspect source",
    "records/query",
    "company records/query",
    "evidence graph",
    *BOTH_GRAPHS,
}


class Case(NamedTuple):
    """Which rows are damaged and who must notice; if they are removed, who else must, and who is blind to it."""

    rows: Callable[[Places, Scene], tuple[bytes, ...]]
    noticed_by: set[str]
    missed_by: set[str] = set()
    blind: set[str] = set()


CASES: dict[str, Case] = {
    "the outgoing entry": Case(lambda at, _: (at.outgoing(),), RELATION_IS_VERIFIED | {"graph of source"}),
    "the incoming entry": Case(lambda at, _: (at.incoming(),), RELATION_IS_VERIFIED | BOTH_GRAPHS),
    "both entries": Case(lambda at, _: (at.outgoing(), at.incoming()), RELATION_IS_VERIFIED | BOTH_GRAPHS),
    "a completeness header": Case(
        lambda at, scene: (at.header(scene.source),),
        {"graph of source"},
        missed_by=RELATION_IS_VERIFIED | {"assert", "records/inspect source", "revise source", "replay of a creation"},
    ),
    "a relation's current row": Case(
        lambda at, _: (at.relation(),),
        (RELATION_IS_VERIFIED | BOTH_GRAPHS) - {"relations/query"},
        blind={"relations/query"},
    ),
    "a relation's newest revision": Case(
        lambda at, _: (at.relation_revision(4),),
        RELATION_IS_VERIFIED | {"relations/revision 4", "relation changes"},
        missed_by=BOTH_GRAPHS,
    ),
    "a relation's older revision": Case(
        lambda at, _: (at.relation_revision(2),),
        {"relations/revision 2", "replay of the retirement", "relation changes"},
    ),
    "a record's current row": Case(
        lambda at, scene: (at.record(scene.source),),
        SOURCE_IS_SHOWN - {"records/query", "company records/query"} | {"relations/read", "assert", "derive"},
        blind={"records/query", "company records/query"},
    ),
    "a record's revision": Case(
        lambda at, scene: (at.record_revision(scene.reviewed),),
        {"records/inspect reviewed", "review reviewed", "replay of a review", "record changes"},
    ),
    "a payload": Case(lambda at, scene: (at.payload(scene.source),), SOURCE_IS_SHOWN | {"revise source"}),
    "the evidence of a review": Case(
        lambda at, scene: (at.payload(scene.reviewed),),
        {"records/read", "records/inspect reviewed", "records/query", "graph of source", "review reviewed"},
    ),
    "the newest receipt's pointer": Case(
        lambda at, scene: (at.pointer(scene.main[3]),),
        RELATION_IS_VERIFIED,
        blind={"receipt of the approval"},
    ),
    "an older receipt's pointer": Case(
        lambda at, scene: (at.pointer(scene.main[0]),),
        set(),
        blind={"receipt of the assertion", "replay of the assertion"},
    ),
    "the newest receipt": Case(
        lambda at, scene: (at.event(scene.main[3].commit_sequence),),
        RELATION_IS_VERIFIED | {"relations/revision 4", "receipt of the approval", "relation changes"},
    ),
    "an older receipt": Case(
        lambda at, scene: (at.event(scene.main[0].commit_sequence),),
        {"relations/revision 1", "replay of the assertion", "receipt of the assertion", "relation changes"},
    ),
    "the last event": Case(lambda at, _: (at.last_event(),), RELATION_COMMANDS | RECORD_COMMANDS),
    "the head of the partition": Case(
        lambda at, _: (at.head(),),
        RELATION_COMMANDS | {"relation changes", "checkpoint", "diagnosis"},
        missed_by=RECORD_COMMANDS | {"record changes"},
    ),
    "the last entry of a journal": Case(
        lambda at, _: (at.last_relation_entry(),),
        RELATION_COMMANDS | {"relation changes", "checkpoint", "diagnosis"},
    ),
    "an earlier entry of a journal": Case(lambda at, _: (at.relation_entry(2),), {"relation changes"}),
    "the last entry of the other journal": Case(
        lambda at, _: (at.last_record_entry(),), RECORD_COMMANDS | {"record changes"}
    ),
}


@pytest.mark.parametrize(("kind", "manner"), matrix(CASES, MANNERS))
def test_whoever_meets_damage_says_so_and_nobody_answers_otherwise(
    scene: Scene, before: dict[str, Answer], kind: str, manner: str
) -> None:
    case, removed = CASES[kind], manner == "removed"
    after = answers(scene, damaged(scene.rows, case.rows(Places(scene), scene), MANNERS[manner]))
    noticed = {name for name, answer in after.items() if answer == INCONSISTENT}
    assert set() == (case.noticed_by | (case.missed_by if removed else set())) - noticed
    blind = case.blind if removed else set()
    assert {name: before[name] for name in after if name not in noticed | blind} == {
        name: answer for name, answer in after.items() if name not in noticed | blind
    }


@pytest.mark.parametrize("kind", CASES)
def test_other_partitions_are_untouched(scene: Scene, before: dict[str, Answer], kind: str) -> None:
    after = answers(scene, damaged(scene.rows, CASES[kind].rows(Places(scene), scene), MANNERS["torn"]))
    for name in {**ELSEWHERE_READS, **ELSEWHERE_COMMANDS}:
        assert before[name] == after[name]


def test_the_undamaged_scene_has_an_answer_for_every_probe(before: dict[str, Answer]) -> None:
    assert INCONSISTENT not in before.values()
