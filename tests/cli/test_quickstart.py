"""`relatum quickstart`: the tour, the data it loads, the lines to paste, and what it leaves behind."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
from collections import Counter
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import httpx
import msgspec
import pytest

from relatum.cli.quickstart import corpus
from relatum.core.commands import CreateRecord
from relatum.core.decide.record_rules import broken_rule
from relatum.core.records import RecordInput
from tests.cli.program import SECONDS_MAX, environment, run, running, serving


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def tour(temporary: Path) -> CompletedProcess[str]:
    """One tour in a temporary directory, to its end."""
    return run("quickstart", "--once", env=environment(TMPDIR=str(temporary), RELATUM_SLOTS="0"))


def test_the_tour_ends_with_0_and_leaves_nothing(tour: CompletedProcess[str], temporary: Path) -> None:
    assert (0, "") == (tour.returncode, tour.stderr)
    assert [] == list(temporary.iterdir())
    assert tour.stdout.rstrip().endswith("That was the tour.")


def test_the_tour_shows_each_step_with_what_was_really_answered(tour: CompletedProcess[str]) -> None:
    steps = re.split(r"^\d\. ", tour.stdout, flags=re.MULTILINE)[1:]
    assert ["Assert", "Replay", "Conflict", "Rejection, and inspection", "A changed end hides a relation"] == [
        step.splitlines()[0] for step in steps
    ]
    asserted, replayed, conflict, rejection, changed = (" ".join(step.split()) for step in steps)
    assert '"action": "asserted"' in asserted
    receipt = re.compile(r'< 200 (\{"receipt": .*?\}\})')
    assert receipt.findall(asserted) == receipt.findall(replayed) != []
    assert "bytes of both answers are equal" in replayed
    assert '< 409 {"error": {"code": "idempotency_conflict"' in conflict
    assert '< 404 {"error": {"code": "record_not_found"' in rejection
    assert '"eligible": false, "reason": "rejected"' in rejection
    assert '"revision": 3' in rejection
    assert '"action": "revised"' in changed
    assert '"eligible": false, "reason": "endpoint_revision_changed"' in changed


def test_progress_is_visible_and_everything_is_loaded(tour: CompletedProcess[str]) -> None:
    told = re.findall(r"^ *(\d+) of (\d+) (\w+)$", tour.stdout, flags=re.MULTILINE)
    assert [("736", "736", "records"), ("1805", "1805", "revisions"), ("113", "113", "relations")] == [
        each for each in told if each[0] == each[1]
    ]
    assert len(told) > 10


def test_no_secret_is_shown_by_a_tour_that_ends(tour: CompletedProcess[str]) -> None:
    assert "rtm1_" not in tour.stdout


def sent(line: str) -> httpx.Response:
    """What a curl line does, done by another client."""
    command, *words = shlex.split(line)
    headers, body, address = {}, None, ""
    assert "curl" == command
    while words:
        match words.pop(0):
            case "-sS":
                pass
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            case "-d":
                body = words.pop(0)
            case word:
                assert not word.startswith("-")
                address = word
    return httpx.request("GET" if body is None else "POST", address, headers=headers, content=body, timeout=SECONDS_MAX)


@pytest.mark.slow
def test_the_server_stays_up_with_lines_to_paste_and_the_store_stays_too(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with running("quickstart", store) as quickstart:
        lines = quickstart.lines_until("stays up at")
        pasted = [line for line in lines if line.startswith("curl ")]
        answers = [sent(line) for line in pasted]
        assert [200] * 4 + [404] + [200] * 4 == [answer.status_code for answer in answers]
        found, some, superseding, holding, _, inspected, anew, identity, credentials = (one.json() for one in answers)
        assert ["Metadata for Python Software Packages 2.1"] == [
            one["input"]["title"] for one in found["page"]["records"]
        ]
        assert 3 == len(some["page"]["records"]) == len(superseding["page"]["relations"])
        assert "active" == holding["relation"]["state"]
        assert "endpoint_revision_changed" == inspected["inspection"]["eligibility"]["reason"]
        assert "asserted" == anew["receipt"]["action"]
        assert "writer" == identity["credential"]["spec"]["subject_id"]
        assert 4 == len(credentials["credentials"])
        assert 0 == quickstart.stop(signal.SIGINT)
        with pytest.raises(httpx.ConnectError):
            sent(pasted[0])
    with serving(store) as (server, address):
        assert 200 == httpx.get(f"{address}/ready", timeout=SECONDS_MAX).status_code
        assert 0 == server.stop()

    again = run("quickstart", store, "--once")
    assert (1, "") == (again.returncode, again.stdout)
    assert f"{store} is not empty" in again.stderr
    assert f"relatum serve {store}" in again.stderr


def test_a_termination_ends_the_server_too(tmp_path: Path) -> None:
    with running("quickstart", tmp_path / "store") as quickstart:
        (address,) = re.findall(r"http://\S+", quickstart.lines_until("The server answers at")[-1].split(";")[0])
        quickstart.lines_until("revisions")
        assert 0 != quickstart.stop(signal.SIGTERM)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/ready", timeout=SECONDS_MAX)


def test_a_port_that_is_taken_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("quickstart", tmp_path / "store", "--port", str(taken.getsockname()[1]))
    assert 1 == refused.returncode
    assert "Address already in use" in refused.stderr
    assert not (tmp_path / "store").exists()


# The data


def shipped(name: str) -> list[dict[str, Any]]:
    folder = Path(corpus.__file__).parents[2] / "data" / "peps"
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def test_every_pep_ends_with_the_header_that_it_has_today() -> None:
    loaded = corpus.load().revisions
    facts = {pep["id"]: pep for pep in shipped("records")}
    assert facts.keys() == loaded.keys()
    names = {"Title": "title", "Status": "status", "Type": "type", "Topic": "topic", "Python-Version": "python_version"}
    for pep, inputs in loaded.items():
        header = inputs[-1]["data"]["header"]
        assert {name: facts[pep][name] for name in names.values()} == {
            name: header.get(field) for field, name in names.items()
        }


def test_every_commit_of_a_pep_becomes_a_revision_and_the_rest_is_counted() -> None:
    loaded = corpus.load()
    commits = Counter(line["id"] for line in shipped("revisions"))
    assert {pep: commits[pep] for pep in loaded.revisions} == {pep: len(one) for pep, one in loaded.revisions.items()}
    assert len(commits.keys() - loaded.revisions.keys()) == loaded.ended
    assert 736 + 1805 == sum(map(len, loaded.revisions.values()))


def test_every_statement_becomes_a_relation_in_the_ledger_s_direction() -> None:
    statements = corpus.load().statements
    assert Counter({"supersedes": 42 + 32, "supports": 39}) == Counter(one.kind for one in statements)
    assert 113 == len({one.idempotency_key for one in statements})
    newer, older = ("PEP566", "PEP345")
    both = [one for one in statements if (one.source, one.target) == (newer, older)]
    assert {(newer, "replaces"), (older, "superseded-by")} == {(one.stated_by, one.header) for one in both}
    assert {"supersedes"} == {one.kind for one in both}


def test_every_revision_of_the_corpus_is_a_record_that_the_rules_allow() -> None:
    inputs = [one for revisions in corpus.load().revisions.values() for one in revisions]
    for one in inputs:
        record = msgspec.convert(one, RecordInput)
        assert broken_rule(CreateRecord(record=record), "key") is None, one
