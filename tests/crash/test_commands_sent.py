"""Which life of the crash tests sends which command: the table on their page, held against what they send."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args, get_type_hints
from unittest import mock

import pytest

from crash_tests.consumers.checkpoint_writer import Saver
from crash_tests.curation_workload.requests import Ideas, Known
from crash_tests.damage.scene import opened
from crash_tests.damage.workload import Workload
from crash_tests.embedded import Plan, Reporter, live
from crash_tests.operations import Author, Sight
from crash_tests.random_draws import seeded
from crash_tests.registry import Change
from crash_tests.server import ROOT
from crash_tests.simulation.case import simulate
from crash_tests.store_clients import Ground
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.cursors import CheckpointCommand
from relatum.core.events import CredentialOperation
from relatum.core.judgments import JudgmentOperation
from relatum.core.links import LinkOperation
from relatum.ledger.writer.group import Group
from relatum.ledger.writer.submission import ActivationSubmission, CheckpointSubmission, Submission
from tests.crash.scripted import Running
from tests.crash.told import ACCOUNT, DESK, cursor, delivery

PAGE = (ROOT / "docs" / "crash-testing.md").read_text(encoding="utf-8")
LIVES = ("Real server", "Embedded", "Simulation", "Damage")
ACTIVATE = "activate"
CASES = 250


def tag(operation: Any) -> str:
    return str(operation.__struct_config__.tag)


def tags(union: Any) -> set[str]:
    return {tag(kind) for kind in get_args(union)}


PRODUCT = {
    "records": tags(RecordOperation),
    "relations": tags(RelationOperation),
    "links": tags(LinkOperation),
    "judgments": tags(JudgmentOperation),
    "checkpoints": tags(get_type_hints(CheckpointCommand)["operation"]),
    "credentials": tags(CredentialOperation),
    "streams": {ACTIVATE},
}
FAMILY_OF = {(family, name): name for family, names in PRODUCT.items() for name in names}


def table() -> dict[str, dict[str, set[str]]]:
    """By life and family: the commands that the page says it sends."""
    told: dict[str, dict[str, set[str]]] = {life: {family: set() for family in PRODUCT} for life in LIVES}
    lines = PAGE.split("| Family | Commands |")[1].split("\n\n")[0].splitlines()[2:]
    for line in lines:
        family, commands, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for life, cell in zip(LIVES, cells, strict=True):
            assert cell in ("yes", "no")
            if cell == "yes":
                told[life][family].update(re.findall("`(.+?)`", commands))
    return told


def test_the_table_has_every_command_of_the_product_once_and_no_other() -> None:
    lines = PAGE.split("| Family | Commands |")[1].split("\n\n")[0].splitlines()[2:]
    named = [(line.split("|")[1].strip(), name) for line in lines for name in re.findall("`(.+?)`", line)]
    assert sorted(FAMILY_OF) == sorted(named)


@contextmanager
def decided() -> Iterator[dict[str, set[str]]]:
    """What a writer decides in the block, by family."""
    found: dict[str, set[str]] = {family: set() for family in PRODUCT}
    decide = Group.decide

    def noting(group: Group, submission: Submission) -> Any:
        family = type(submission).__name__.removesuffix("Submission").lower() + "s"
        match submission:
            case ActivationSubmission():
                found["streams"].add(ACTIVATE)
            case CheckpointSubmission(command=command):
                found[family].add(tag(command.operation))
            case _:
                found[family].add(tag(submission.operation))
        return decide(group, submission)

    with mock.patch.object(Group, "decide", noting):
        yield found


@pytest.mark.slow
def test_the_embedded_life_sends_what_the_page_says(tmp_path: Path) -> None:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    with decided() as found:
        assert live(tmp_path / "store", Plan(seed="a", commands=1_500, threads=1, readers=0), Reporter(descriptor))
    os.close(descriptor)
    assert table()["Embedded"] == found


@pytest.mark.slow
def test_the_simulation_sends_what_the_page_says() -> None:
    with decided() as found:
        for number in range(1, CASES + 1):
            simulate(seeded(7, number))
    assert table()["Simulation"] == found


def test_the_damaged_store_has_what_the_page_says(tmp_path: Path) -> None:
    workload = Workload(seeded(1))
    with decided() as found, opened(tmp_path / "store", workload.clock, workload.entropy, create=True) as at:
        workload.begin(at.ledger)
        for _ in range(3):
            workload.work(at.ledger, 40)
            workload.judge(at.ledger)
        asyncio.run(workload.change_credentials(at.ledger))
    assert table()["Damage"] == found


def test_those_who_work_on_real_servers_send_what_the_page_says() -> None:
    """As far as they draw it: no server works without a credential that was issued, and streams that are active."""
    found: dict[str, set[str]] = {family: set() for family in PRODUCT}
    sight = Sight()
    for name in "abcd":
        sight.hear({"record_id": name, "revision": 1, "action": "created"})
        sight.hear({"relation_id": name, "revision": 1, "action": "asserted"})
    author = Author(seeded(2), sight)
    for family, operation in (author.operation() for _ in range(500)):
        found[f"{family}s"].add(operation["type"])
    ideas = Ideas(Known(records=["a", "b"], candidates=["c"], relations={"d": 1}, undoable=[{"run_id": "e"}]), "x")
    for request in (ideas.next() for _ in range(500)):
        operation = request.body.get("operation", {"type": {"submit": "candidates"}.get(request.kind, request.kind)})
        found[f"{request.family}s"].add(operation["type"])
    found["checkpoints"] = saved_by_consumers()
    found["credentials"] = {change.replace("-", "_") for change in get_args(Change)} | {"issue"}
    found["streams"] = {ACTIVATE}
    assert table()["Real server"] == found


def saved_by_consumers() -> set[str]:
    ground = Ground([ACCOUNT], [DESK])
    consumer = ground.consumers("pager")[0]
    consumer.heard.begin(cursor(0))
    consumer.take(delivery(1))
    saver = Saver(ground, Running(), seeded(3), lambda: None)  # type: ignore[arg-type]  # a stand-in
    commands = [saver._command(consumer) for _ in range(200)]
    return {command.operation["type"] for command in commands if command is not None}
