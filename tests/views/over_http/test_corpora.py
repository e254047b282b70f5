"""Views of real things over a real server, against what the lines of each corpus say by themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import pytest

from relatum.core.kinds import REGISTRY
from tests.graphs.corpora import rows
from tests.http.client import INVALID, RELATIONS, Caller, Json, issue, refusal, relation
from tests.judgments.over_http.calling import change
from tests.views.corpora import MITRE, Told, attack, builds, first_cves, packages, rustsec, statement, type_of
from tests.views.over_http.calling import context, health, overview, statuses, validate


@pytest.fixture(scope="module")
def advisories(admin: Caller) -> Told:
    return rustsec(issue(admin))


@pytest.fixture(scope="module")
def techniques(admin: Caller) -> Told:
    return attack(issue(admin))


@pytest.fixture(scope="module")
def debian(admin: Caller) -> Told:
    return packages(issue(admin))


@pytest.fixture(scope="module")
def tasks(admin: Caller) -> Told:
    return builds(issue(admin))


class Hung(NamedTuple):
    """How well things hang together by their lines alone."""

    linked: set[str]
    conflicts: set[frozenset[str]]


def hung(told: Told) -> Hung:
    memory = [line for line in told.accepted if REGISTRY[line.kind].kind_class == "memory"]  # type: ignore[index]
    linked = {end for line in memory for end in (line.source, line.target)}
    return Hung(linked, {frozenset((line.source, line.target)) for line in memory if line.kind == "contradicts"})


@pytest.mark.parametrize("corpus", ["advisories", "techniques", "debian", "tasks"])
def test_the_counts_of_health_are_those_of_the_lines(corpus: str, request: pytest.FixtureRequest) -> None:
    told: Told = request.getfixturevalue(corpus)
    expected, found = hung(told), health(told.caller)
    assert found["coverage"]["complete"]
    records, linked = len(told.refs), len(expected.linked)
    state = "disconnected" if not linked else "connected" if linked == records else "partial"
    assert (state, records, linked, records - linked, len(expected.conflicts), bool(expected.conflicts)) == tuple(
        found[name] for name in ("state", "records", "linked", "isolated", "conflicts", "red")
    )
    assert len(told.accepted) == found["coverage"]["scanned_relations"]


# RustSec


def groups() -> dict[str, list[Json]]:
    """The advisories of each CVE."""
    found: dict[str, list[Json]] = defaultdict(list)
    cves = first_cves()
    for row in rows("osv-rustsec", "records"):
        if row["id"] in cves:
            found[cves[row["id"]]].append(row)
    return found


def others_of(row: Json, group: list[Json]) -> set[str]:
    """The advisories of the same CVE that say something else, or the same of another state of their source."""
    return {other["id"] for other in group if other is not row and statement(other) != statement(row)}


def test_the_status_of_every_advisory_is_what_its_lines_say(advisories: Told) -> None:
    expected: dict[str, set[str]] = {name: set() for name in advisories.refs}
    for group in groups().values():
        expected |= {row["id"]: others_of(row, group) for row in group}
    conflicting = {name for name, others in expected.items() if others}
    agreeing = [group for group in groups().values() if len(group) > 1 and not others_of(group[0], group)]
    assert conflicting
    assert agreeing, "some CVEs have several advisories that say the same"
    names = {at["record_id"]: name for name, at in advisories.refs.items()}
    every = list(advisories.refs.values())
    for start in range(0, len(every), 100):
        for found in statuses(advisories.caller, *every[start : start + 100]):
            name = names[found["record_id"]]
            assert ("conflict" if name in conflicting else "unverified") == found["status"]
            assert expected[name] == {names[reason["record_id"]] for reason in found["reasons"]}
    checked = validate(advisories.caller)
    assert (len(advisories.refs), 0) == (checked["checked"], checked["stale_count"])
    assert conflicting == {names[one] for one in checked["conflict_ids"]}
    assert checked["coverage"]["complete"]


def test_an_advisory_whose_source_has_changed_is_stale(advisories: Told) -> None:
    withdrawn = [row for row in rows("osv-rustsec", "records") if row.get("withdrawn")]
    assert 13 == len(withdrawn)
    sources = [{"source_id": f"rustsec/{row['id']}", "source_hash": row["withdrawn"]} for row in withdrawn]
    cves = first_cves()
    plain = [row for row in withdrawn if row["id"] not in cves]
    found = statuses(advisories.caller, *(advisories.refs[row["id"]] for row in plain), current_sources=sources)
    assert {"stale"} == {one["status"] for one in found}
    for row in plain:
        checked = validate(advisories.caller, source_id=f"rustsec/{row['id']}", current_source_hash=row["withdrawn"])
        assert (1, [advisories.refs[row["id"]]["record_id"]]) == (checked["checked"], checked["stale_ids"])


def test_aliases_that_point_nowhere_are_refused_and_counted(advisories: Told) -> None:
    names = {row["id"] for row in rows("osv-rustsec", "records")}
    lost = Counter(row["kind"] for row in rows("osv-rustsec", "relations") if row["to"] not in names)
    assert {"alias": 1514, "related": 29} == lost
    expected = {("same_entity", 409, "revision_conflict"): 1514, ("semantic_related", 409, "revision_conflict"): 29}
    assert expected == advisories.refused


def test_conflicts_end_when_the_wrong_ones_are_deleted(admin: Caller) -> None:
    told = rustsec(issue(admin))
    for group in groups().values():
        for row in group[1:]:
            if row["id"] in {other for one in group for other in others_of(one, group)}:
                change(told.caller, "delete", told.refs[row["id"]])
    assert 0 == validate(told.caller)["conflict_count"]


def test_a_block_of_advisories_leads_with_what_the_prompt_names(advisories: Told) -> None:
    found = context(advisories.caller, "What is known of 0105?")
    names = {at["record_id"]: name for name, at in advisories.refs.items()}
    matched = [names[one["record_id"]] for one in found["entries"] if one["tier"] == "matched"]
    named = {name for name in advisories.refs if name.endswith("-0105")}
    affected = {line.target for line in advisories.accepted if line.source in named}
    assert named == set(matched[: len(named)])
    assert named | affected == set(matched)
    assert len(found["block"]) <= 6000


# Classes


def test_kinds_of_a_class_go_with_their_types_and_the_rest_is_refused(techniques: Told) -> None:
    lines = rows("attack-ics", "relations")
    mixed = Counter(
        row["kind"]
        for row in lines
        if {type_of(row["from"]), type_of(row["to"])} != {"memory"}
        and not (row["kind"] == "uses" and type_of(row["to"]) == "memory")
    )
    assert {"attributed-to": 5, "revoked-by": 2} == mixed, "campaigns and groups, among themselves"
    assert {(MITRE[kind], *INVALID): count for kind, count in mixed.items()} == techniques.refused
    classes = Counter(REGISTRY[line.kind].kind_class for line in techniques.accepted)  # type: ignore[index]
    assert {"memory", "person", "provenance"} == classes.keys()


def test_packages_as_tasks_take_task_relations_and_no_others(tasks: Told) -> None:
    names = {row["id"] for row in rows("debian-slice", "records")}
    inside = [
        row
        for row in rows("debian-slice", "relations")
        if {row["from"], row["to"]} <= names and row["from"] != row["to"]
    ]
    as_tasks = Counter(row["kind"] in ("depends", "pre-depends", "provides") for row in inside)
    assert as_tasks[True] == len(tasks.accepted)
    assert {"blocks", "subtask_of"} >= {line.kind for line in tasks.accepted} != set()
    refused = Counter({key: count for key, count in tasks.refused.items() if key[1:] == INVALID})
    itself = sum(row["from"] == row["to"] for row in rows("debian-slice", "relations"))
    assert as_tasks[False] + itself == refused.total()


def test_no_line_of_one_class_can_be_told_as_another(debian: Told, tasks: Told) -> None:
    for told, kinds in ((debian, ("blocks", "subtask_of")), (tasks, ("supports", "contradicts", "compatible"))):
        line = told.accepted[0]
        ends = told.refs[line.source], told.refs[line.target]
        for kind in (*kinds, "about_person", "authored_by", "from_session"):
            given = relation(*ends, kind=kind)
            assert INVALID == refusal(told.caller.command(RELATIONS, type="assert", relation=given)), kind


def test_an_overview_of_packages_has_the_most_linked_ones(debian: Told) -> None:
    partners: dict[str, set[str]] = defaultdict(set)
    for line in debian.accepted:
        partners[line.source].add(line.target)
        partners[line.target].add(line.source)
    found = overview(debian.caller, limit=20)
    names = {at["record_id"]: name for name, at in debian.refs.items()}
    degrees = {names[node["record_id"]]: node["degree"] for node in found["nodes"]}
    assert degrees == {name: len(partners[name]) for name in degrees}
    assert sorted((len(each) for each in partners.values()), reverse=True)[:20] == sorted(
        degrees.values(), reverse=True
    )
    assert all({names[one["source_id"]], names[one["target_id"]]} <= degrees.keys() for one in found["edges"])
