"""Real corpora over a real server: every count of a `stats.json` is reproduced from what the ledger answers.

`REPRODUCED` says how, count by count; a count that is not in it fails the test, so that none is left out in silence.
Some counts speak of things that the ledger refuses (ends and revisions of ids that no record has). They are reproduced
from the refusals, which is what the ledger can say of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.corpora.facts import Edge, Ledgered, cycles, longest_path, self_loops
from tests.corpora.loading import Refused, load
from tests.corpora.mapping import ATTACK_ICS, BIPS, PEPS, Corpus, Json
from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise
from tests.support.matrix import first_of

CORPORA = {corpus.name: corpus for corpus in (PEPS, BIPS, ATTACK_ICS)}


class Loaded(NamedTuple):
    """A corpus after it was loaded: what the ledger holds, what it refused, what was to be expected."""

    caller: Caller
    corpus: Corpus
    ledger: Ledgered
    refused: Refused
    stats: Json


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    directory: Path = tmp_path_factory.mktemp("corpora") / "store"
    secret = initialise(directory)
    with Server(directory) as server, Api(server.url) as api:
        yield Caller(api, secret)


@pytest.fixture(scope="module", params=first_of(CORPORA))
def loaded(request: pytest.FixtureRequest, admin: Caller) -> Loaded:
    corpus = CORPORA[request.param]
    caller = issue(admin)
    refused = load(caller, corpus)
    return Loaded(caller, corpus, Ledgered(caller, corpus), refused, corpus.stats())


# How each count comes about


def _most(counts: Counter[str], expected: list[list[object]]) -> list[list[object]]:
    """The greatest count, beside the name that is expected there: of several with that count the source names one."""
    name, greatest = str(expected[0][0]), max(counts.values())
    return [[name if counts[name] == greatest else "another", greatest]]


def _max_out(one: Loaded) -> object:
    return _most(Counter(each.told_from for each in one.ledger.relations), one.stats["max_out"])


def _max_in(one: Loaded) -> object:
    return _most(Counter(each.told_to for each in one.ledger.relations), one.stats["max_in"])


def _max_revisions(one: Loaded) -> object:
    counts = Counter({name: record["revision"] for name, record in one.ledger.records.items()})
    return _most(counts, one.stats["max_revisions"])


def _revisions(one: Loaded) -> object:
    """Those that the ledger keeps, and those that it refused because nobody knows their record."""
    kept = sum(record["revision"] for record in one.ledger.records.values())
    return kept + one.refused.revisions.total()


def _revised_records(one: Loaded) -> object:
    refused = Counter[str]()
    for (name, _, _), times in one.refused.revisions.items():
        refused[name] += times
    kept = sum(record["revision"] > 1 for record in one.ledger.records.values())
    return kept + sum(times > 1 for times in refused.values())


def _dangling_ends(one: Loaded) -> object:
    ends = Counter[str]()
    for (kind, lost, _, _), times in one.refused.relations.items():
        ends[kind] += times if lost else 0
    return dict(ends)


def _longest_chain(one: Loaded) -> object:
    """The expected chain, if each of its steps can be walked by reading the relations at the record reached so far."""
    chain: list[str] = one.stats["longest_chain"]
    walked = chain[:1]
    for name in chain[1:]:
        if name not in one.ledger.superseded_by(walked[-1]):
            break
        walked.append(name)
    return walked


def _cycles_by_kind(one: Loaded) -> object:
    found: Json = {}
    for kind in one.corpus.kinds.keys() - {"replaces", "superseded-by", "revoked-by"}:
        edges = one.ledger.told_edges(kind)
        groups = cycles(edges)
        if groups or self_loops(edges):
            found[kind] = {
                "sccs": len(groups),
                "largest": max((len(group) for group in groups), default=1),
                "self_loops": len(self_loops(edges)),
            }
    return found


def _one_sided(one: Loaded) -> tuple[list[list[str]], list[list[str]]]:
    """Supersessions that only the successor tells, and those that only the superseded tells."""
    forward, backward = one.ledger.superseding("replaces"), one.ledger.superseding("superseded-by")
    return _pairs(forward - backward), _pairs(backward - forward)


def _pairs(edges: set[Edge]) -> list[list[str]]:
    return sorted(list(edge) for edge in edges)


def _one_sided_either_way(one: Loaded) -> object:
    forward_only, backward_only = _one_sided(one)
    return forward_only + backward_only


def _asymmetric(one: Loaded) -> object:
    forward_only, backward_only = _one_sided(one)
    return {"replaces_without_superseded_by": forward_only, "superseded_by_without_replaces": backward_only}


def _superseded_by_nobody(one: Loaded) -> object:
    successors = {target for _, target in one.ledger.superseding()}
    return sorted(one.ledger.tagged("status Superseded") - successors, key=lambda name: int(name.removeprefix("PEP")))


def _to_revoked_or_deprecated(one: Loaded) -> object:
    withdrawn = one.ledger.tagged("revoked") | one.ledger.tagged("deprecated")
    return sum(each.told_to in withdrawn for each in one.ledger.relations)


def _revoked_without_successor(one: Loaded) -> object:
    return len(one.ledger.tagged("revoked") - {target for _, target in one.ledger.superseding()})


REPRODUCED: dict[str, Callable[[Loaded], object]] = {
    "records": lambda one: one.ledger.record_count,
    "distinct_ids": lambda one: len(one.ledger.records),
    "relations": lambda one: len(one.ledger.relations) + one.refused.relations.total(),
    "by_kind": lambda one: one.ledger.counts_by_kind(),
    "max_out": _max_out,
    "max_in": _max_in,
    "dangling_ends": _dangling_ends,
    "distinct_dangling_ids": lambda one: len({lost for _, lost, _, _ in one.refused.relations if lost}),
    "supersession_edges": lambda one: len(one.ledger.superseding()),
    "longest_supersession_chain_edges": lambda one: longest_path(one.ledger.superseding()),
    "longest_chain": _longest_chain,
    "supersession_cycles": lambda one: cycles(one.ledger.superseding()),
    "supersession_self_loops": lambda one: self_loops(one.ledger.superseding()),
    "cycles_by_kind": _cycles_by_kind,
    "revisions": _revisions,
    "max_revisions": _max_revisions,
    "revised_records": _revised_records,
    "asymmetric": _asymmetric,
    "asym": _one_sided_either_way,
    "superseded_status_without_successor": _superseded_by_nobody,
    "revoked": lambda one: len(one.ledger.tagged("revoked")),
    "deprecated": lambda one: len(one.ledger.tagged("deprecated")),
    "relations_deprecated": lambda one: sum(each.state == "retired" for each in one.ledger.relations),
    "revoked_without_successor": _revoked_without_successor,
    "relations_to_revoked_or_deprecated": _to_revoked_or_deprecated,
}
NOT_EXPRESSED: dict[str, str] = {}
"""Counts of these corpora that a ledger can not reproduce, and why. There are none."""


def _sorted(value: object) -> object:
    """Lists of pairs in one order, whichever the source chose."""
    match value:
        case list() if value and all(isinstance(one, list) for one in value):
            return sorted(value)
        case dict():
            return {name: _sorted(one) for name, one in value.items()}
    return value


def test_every_count_is_reproduced_from_the_ledger(loaded: Loaded) -> None:
    found = {name: REPRODUCED[name](loaded) for name in loaded.stats if name not in NOT_EXPRESSED}
    assert _sorted({name: count for name, count in loaded.stats.items() if name not in NOT_EXPRESSED}) == _sorted(found)


REFUSED_REVISIONS = {"peps": (9, 6), "bips": (1, 1), "attack-ics": (5_524, 1_848)}


def test_revisions_of_things_without_a_record_are_refused_and_counted(loaded: Loaded) -> None:
    refused = loaded.refused.revisions
    assert REFUSED_REVISIONS[loaded.corpus.name] == (refused.total(), len({name for name, _, _ in refused}))
    assert {(404, "record_not_found")} == {(status, code) for _, status, code in refused}


def test_no_relation_between_existing_records_is_refused_or_hidden(loaded: Loaded) -> None:
    assert Counter() == loaded.refused.relations
    assert all(each.eligible for each in loaded.ledger.relations)


def test_a_table_names_every_kind_of_its_corpus_and_no_other(loaded: Loaded) -> None:
    assert loaded.corpus.kinds.keys() == loaded.stats["by_kind"].keys()


@pytest.mark.parametrize("loaded", ["peps"], indirect=True)
def test_loading_once_more_is_answered_from_receipts_and_changes_nothing(loaded: Loaded) -> None:
    assert loaded.refused == load(loaded.caller, loaded.corpus)
    again = Ledgered(loaded.caller, loaded.corpus)
    assert loaded.ledger.records == again.records
    assert loaded.ledger.relations == again.relations


def test_the_latest_revision_carries_the_catalogue_as_it_is_today(loaded: Loaded) -> None:
    rows = {row["id"]: row for row in loaded.corpus.rows("records")}
    assert rows == {name: record["input"]["data"]["catalogue"] for name, record in loaded.ledger.records.items()}
