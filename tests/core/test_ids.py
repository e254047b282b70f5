"""Partitions and the ids that the ledger makes."""

from __future__ import annotations

import uuid
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.core import digests
from relatum.core.ids import Partition, Scope, company_partition, memory_partition, uuid7, uuid_bytes, uuid_text
from tests.support.builders import START_MILLIS

SCOPE = Scope(project_id="p", mission_id="m", agent_id="a", visibility="shared")


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_ids_are_uuids_of_version_7_that_tell_their_time(millis: int, entropy: bytes) -> None:
    made = uuid.UUID(uuid7(millis, entropy))
    assert (7, uuid.RFC_4122) == (made.version, made.variant)
    assert millis == made.int >> 80


@given(st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_ids_of_a_later_millisecond_are_greater(earlier: bytes, later: bytes) -> None:
    assert uuid7(START_MILLIS, earlier) < uuid7(START_MILLIS + 1, later)
    assert uuid_bytes(uuid7(START_MILLIS, earlier)) < uuid_bytes(uuid7(START_MILLIS + 1, later))


def test_all_74_random_bits_reach_the_id() -> None:
    bits = {uuid7(START_MILLIS, (1 << bit).to_bytes(10, "big")) for bit in range(80)} - {uuid7(START_MILLIS, bytes(10))}
    assert 74 == len(bits)


@pytest.mark.parametrize("millis", [-1, 2**48])
def test_a_time_that_an_id_can_not_hold_is_brought_to_the_nearest_it_can(millis: int) -> None:
    nearest = 0 if millis < 0 else 2**48 - 1
    assert uuid7(nearest, bytes(10)) == uuid7(millis, bytes(10))


@given(st.uuids())
def test_an_id_survives_its_16_bytes(made: uuid.UUID) -> None:
    assert made.bytes == uuid_bytes(str(made))
    assert str(made) == uuid_text(made.bytes)


def test_each_member_of_a_partition_makes_another_workspace() -> None:
    names: list[str | None] = ["x", "y"]
    partitions = [
        Partition(
            company_id=str(company),
            project_id=project,
            mission_id=mission,
            agent_id=agent,
            visibility=visibility,
            private_subject_id=subject,
        )
        for company in names
        for project in names
        for mission in [*names, None]
        for agent in names
        for visibility in ("private", "shared")
        for subject in [*names, None]
    ]
    assert len(partitions) == len({digests.workspace_id(one) for one in partitions})


def test_names_do_not_run_into_each_other() -> None:
    workspaces = {
        digests.workspace_id(
            memory_partition(company, "s", Scope(project_id=project, agent_id=agent, visibility="shared"))
        )
        for company, project, agent in permutations(["a", "ab", "b"])
    }
    assert 6 == len(workspaces)


def test_a_private_partition_has_its_subject_and_a_shared_one_has_none() -> None:
    private = Scope(project_id="p", agent_id="a", visibility="private")
    assert memory_partition("c", "ada", private) != memory_partition("c", "bob", private)
    assert memory_partition("c", "ada", SCOPE) == memory_partition("c", "bob", SCOPE)


def test_a_partition_tells_the_scope_that_addresses_it() -> None:
    assert SCOPE == memory_partition("c", "ada", SCOPE).scope


def test_the_missionless_scope_is_one_of_its_own() -> None:
    missionless = Scope(project_id="p", agent_id="a", visibility="shared")
    assert memory_partition("c", "s", missionless) != memory_partition("c", "s", SCOPE)
    assert company_partition("c") != memory_partition("c", "s", missionless)


@pytest.mark.parametrize("member", ["project_id", "mission_id", "agent_id"])
def test_a_scope_is_well_formed_when_its_identifiers_are(member: str) -> None:
    members = {"project_id": "p", "mission_id": "m", "agent_id": "a"}
    assert Scope(**members | {member: "x" * 256}, visibility="shared").well_formed()
    for other in ("", " ", "x" * 257, "\x00"):
        assert not Scope(**members | {member: other}, visibility="shared").well_formed()
