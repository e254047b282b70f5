"""Every client verb against a real server, as JSON and as a table."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from relatum.cli import main
from relatum.cli.client.verb import Verb
from tests.cli.served import Caller, served
from tests.http.serving import Server


class Scene(NamedTuple):
    """A scope with records, a relation, a pair to judge and a link, and what they are called in a case."""

    caller: Caller
    names: dict[str, str]

    def words(self, case: str) -> list[str]:
        return shlex.split(case.format_map(self.names))


class World(NamedTuple):
    server: Server
    admin: Caller
    worker: Caller
    base: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    base = tmp_path_factory.mktemp("verbs")
    with served(base) as (server, admin, worker):
        yield World(server, admin, worker, base)


def set_scene(world: World, project: str) -> Scene:
    caller = world.worker.at(project)
    record = ("record", "create", "--event-time", "2026-01-31T12:00:00Z")
    names = {name: caller.one(*record, f"The cable of rack {name}.")["record_id"] for name in "abc"}
    saved = caller.one("record", "save", "The cable of rack a was pulled out.")
    provenance = ("--evidence", "incident-17", "--origin", "human_statement")
    receipt = caller.one("relation", "assert", "causal_claim", names["a"], f"{names['b']}@1", *provenance)
    file = world.base / "lines.jsonl"
    file.write_text('{"record": {"content": "loaded"}, "as": "x"}\n')
    names |= {"saved": saved["receipt"]["record_id"], "candidate": saved["candidates"][0]["candidate_id"]}
    names |= {"relation": receipt["relation_id"], "key": receipt["idempotency_key"], "file": str(file)}
    return Scene(caller, names)


@pytest.fixture(scope="module")
def scene(world: World) -> Scene:
    """For verbs that change nothing."""
    found = set_scene(world, "reads")
    found.caller.one("link", "add", found.names["a"], found.names["b"], "supports")
    found.caller.one("record", "derive", "Both.", "--from", found.names["a"], "--evidence", "x")
    found.caller.lines("feed", "tail", "records", "--consumer", "reader", "--until", "tip")
    return found


READS = (
    "record get {a} {b}",
    "record list --text rack --order created_asc",
    "record inspect {a}",
    "record history {a}",
    "record status {a} {b} --current-source x=y",
    "record status --filter --text rack",
    "record due --limit 3",
    "relation get {relation}",
    "relation list --kind causal_claim --endpoint {a}",
    "relation inspect {relation}",
    "relation history {relation}",
    "judgment list --all-ages",
    "graph walk {a} --kind causal_claim --depth 3",
    "graph evidence {a}",
    "graph health",
    "graph overview --limit 10",
    "context 'the cable' --budget 500 --shown {a}",
    "search cable rack --limit 3",
    "topic 'The cable of rack 4 was pulled out.'",
    "receipt relation {key}",
    "feed tail records --from baseline --until tip",
    "feed checkpoint reader",
    "feed diagnose reader",
    "whoami",
    "profile list",
    "profile show",
    "api memory/graph/health",
    "load {file} --check",
)
WRITES = (
    "record create 'new' --title t --tag x --tag y --category user --confidence 0.5 --source-id s --source-hash h",
    "record save 'new' --topic-key t/k --candidates 3 --data '{{\"n\": 1}}' --valid-until 2099-01-01T00:00:00+01:00",
    "record revise {a}@1 'changed' --title new",
    "record revise {a} 'changed' --replace",
    "record derive 'both' --from {a} --from {b}@1 --evidence x",
    "record delete {c} --yes",
    "record delete {b}@1 {c} --yes",
    "record review {a} approved --evidence ticket-4",
    "record archive {a} {b}",
    "record pin {a}@1",
    "record stale {a} --because {b} --confidence 0.5",
    "record confirm {a} {b} --evidence asked --refute",
    "relation assert supports {a} {c} --evidence x --origin model_inference --model p/m/1 --evidence-source {b}",
    "relation retire {relation} --evidence x",
    "relation review {relation}@1 rejected --evidence x",
    "judgment give {candidate} related --reason 'the same' --confidence 0.5 --evidence '[1]'",
    "judgment compare {a} {b} compatible --confidence 0.5",
    "judgment sweep",
    "link add {a} {b} related",
    "load {file}",
)
AFTERWARDS = (
    ("record archive {a}", "record unarchive {a}"),
    ("record pin {a}", "record unpin {a}"),
    ("relation retire {relation} --evidence x", "relation restore {relation}@2 --evidence x"),
    ("link add {a} {b} related", "link remove {b} {a}"),
)
ELSEWHERE = {
    # shown by a test of its own
    ("judgment", "undo"),
    ("credential", "issue"),
    ("credential", "list"),
    ("credential", "rotate"),
    ("credential", "revoke"),
    ("profile", "set"),
    ("profile", "use"),
    ("profile", "remove"),
}


def check(scene: Scene, case: str) -> None:
    """As JSON each line parses; as a table there is something for people."""
    for form in ("json", "table"):
        done = scene.caller.run(*scene.words(case), "-o", form)
        assert 0 == done.exit_code, (case, form, done.stderr)
        if form == "json":
            assert all(isinstance(json.loads(line), dict) for line in done.stdout.splitlines()), case
        assert "\x1b" not in done.output


@pytest.mark.parametrize("case", READS)
def test_what_reads_answers_in_both_forms(scene: Scene, case: str) -> None:
    check(scene, case)
    empty = case.startswith(("record due",))
    assert scene.caller.run(*scene.words(case)).stdout or empty


@pytest.mark.parametrize("form", ["json", "table"])
def test_what_writes_answers_in_both_forms(world: World, form: str) -> None:
    for number, case in enumerate((*((None, case) for case in WRITES), *AFTERWARDS)):
        scene = set_scene(world, f"{form}-{number}")
        before, words = case
        if before is not None:
            assert 0 == scene.caller.run(*scene.words(before)).exit_code
        tried = scene.caller.run(*scene.words(words), "-o", form)
        assert 0 == tried.exit_code, (words, tried.stderr)
        assert tried.stdout
        if form == "json":
            assert all(isinstance(json.loads(line), dict) for line in tried.stdout.splitlines())


def test_no_verb_is_forgotten() -> None:
    def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name, command in group.commands.items():
            if isinstance(command, click.Group):
                yield from verbs(command, (*path, name))
            elif isinstance(command, Verb):
                yield (*path, name)

    shown = {tuple(case.split()) for case in (*READS, *WRITES, *(after for _, after in AFTERWARDS))}
    assert (
        set(verbs(main)) - ELSEWHERE
        == {words for words in verbs(main) if any(case[: len(words)] == words for case in shown)} - ELSEWHERE
    )


def test_a_command_tried_dry_prints_its_request_and_sends_nothing(world: World) -> None:
    caller = world.worker.at("dry")
    given = ("record", "create", "new", "--key", "k", "--tag", "t", "--dry-run")
    scope = {"project_id": "dry", "mission_id": None, "agent_id": "extractor", "visibility": "shared"}
    assert {
        "method": "POST",
        "path": "/api/v1/memory/records/commands",
        "body": {
            "contract_version": 1,
            "scope": scope,
            "idempotency_key": "k",
            "operation": {"type": "create", "record": {"content": "new", "tags": ["t"]}},
        },
    } == caller.one(*given)
    assert [] == caller.lines("record", "list")
    unread = caller.run("record", "pin", "0196f0a1-0000-7000-8000-000000000001", "--dry-run")
    assert (2, "") == (unread.exit_code, unread.stdout)
    assert "@REVISION" in unread.stderr


def test_options_of_a_scope_take_the_place_of_the_profiles(world: World) -> None:
    elsewhere = ("--project", "p", "--mission", "m", "--visibility", "private")
    body = world.worker.one("record", "create", "x", *elsewhere, "--dry-run")["body"]
    wanted = {"project_id": "p", "mission_id": "m", "agent_id": "extractor", "visibility": "private"}
    assert wanted == body["scope"]


def test_what_a_revision_does_not_name_is_kept(world: World) -> None:
    caller = world.worker.at("kept")
    made = caller.one("record", "create", "old", "--title", "t", "--tag", "a", "--source-id", "s", "--source-hash", "h")
    record_id = made["record_id"]
    caller.one("record", "revise", record_id, "new", "--tag", "b", "--source-hash", "h2")
    found = caller.one("record", "get", record_id)["record"]["input"]
    assert ("new", "t", ["b"]) == (found["content"], found["title"], found["tags"])
    assert {"source_id": "s", "source_hash": "h2", "source_revision": None} == found["provenance"]
    caller.one("record", "revise", f"{record_id}@2", "-", "--replace", given="third\n")
    found = caller.one("record", "get", record_id)["record"]["input"]
    assert ("third", None, []) == (found["content"], found["title"], found["tags"])


def test_a_whole_member_goes_in_and_all_64_bits_of_its_numbers_come_back(world: World) -> None:
    caller = world.worker.at("digits")
    numbers = {"a": 2**53 + 1, "b": 2**64 - 1, "c": -(2**63), "d": 0.1}
    whole = {"content": "x", "data": numbers, "event_time_millis": 2**53 + 1}
    made = caller.one("record", "create", "--json", "-", given=json.dumps(whole))
    done = caller.run("record", "get", made["record_id"])
    for number in ("9007199254740993", "18446744073709551615", "-9223372036854775808", "0.1"):
        assert number in done.stdout
    assert numbers == json.loads(done.stdout)["record"]["input"]["data"]
    asked = caller.run("api", "memory/records/read", f"record_id={made['record_id']}")
    assert numbers == json.loads(asked.stdout)["record"]["input"]["data"]
    asked = caller.run("record", "pin", f"{made['record_id']}@{2**64 - 1}")
    assert (1, "") == (asked.exit_code, asked.stdout)
    assert f"record_revision:={2**64 - 1}" not in asked.stderr
    tried = caller.one("record", "pin", f"{made['record_id']}@{2**64 - 1}", "--dry-run")
    assert 2**64 - 1 == tried["body"]["operation"]["expected_revision"]


def test_of_several_targets_the_refused_are_told_and_the_rest_is_done(world: World) -> None:
    scene = set_scene(world, "several")
    done = scene.caller.run("record", "archive", f"{scene.names['a']}@1", f"{scene.names['b']}@7")
    assert 1 == done.exit_code
    assert [scene.names["a"]] == [json.loads(line)["record_id"] for line in done.stdout.splitlines()]
    assert "409 revision_conflict" in done.stderr
    assert scene.names["b"] in done.stderr


def test_a_list_ends_where_it_is_told_to(world: World) -> None:
    caller = world.worker.at("long")
    lines = "".join(json.dumps({"record": {"content": f"record {n}"}}) + "\n" for n in range(130))
    assert 130 == caller.one("load", "-", given=lines)["accepted"]
    assert 40 == len(caller.lines("record", "list"))
    assert 130 == len(caller.lines("record", "list", "--all"))
    ordered = caller.lines("record", "list", "--limit", "110", "--order", "created_asc")
    assert 110 == len({one["record_id"] for one in ordered})
    times = [one["created_at_millis"] for one in ordered]
    assert sorted(times) == times
    pages = caller.lines("api", "memory/records/query", 'filter:={"limit": 50}', "--paginate")
    assert [50, 50, 30] == [len(page["page"]["records"]) for page in pages]


def test_graphs_are_drawn_for_people_and_for_programs(scene: Scene) -> None:
    tree = scene.caller.run("graph", "walk", scene.names["a"], "-o", "table").stdout
    assert re.search(rf"^{scene.names['a']}  The cable.*\n└─ -causal_claim-> {scene.names['b']}  The cable", tree)
    dot = scene.caller.run("graph", "walk", scene.names["a"], "--dot").stdout
    assert f'"{scene.names["a"]}" -> "{scene.names["b"]}" [label="causal_claim"];' in dot


def test_the_block_of_a_context_stands_alone_in_its_table(scene: Scene) -> None:
    whole = scene.caller.one("context", "cable")
    assert {"block", "entries", "left_out", "pending_candidates", "needs_review"} <= whole.keys()
    assert whole["block"] + "\n" == scene.caller.run("context", "cable", "-o", "table").stdout


def test_an_administrator_issues_rotates_and_revokes(world: World, tmp_path: Path) -> None:
    admin = world.admin
    file = tmp_path / "ops.secret"
    scope = ("--project", "demo", "--agent", "extractor")
    words = ("credential", "issue", "ops", "--can", "memory_read", "--expires", "2099-01-01T00:00:00Z", *scope)
    tried = admin.one(*words, "--dry-run")
    assert "memory_read" in tried["body"]["spec"]["capabilities"]
    made = admin.one(*words, "--secret-out", file)
    secret = file.read_text()
    assert 0o600 == file.stat().st_mode & 0o777
    assert secret.strip() not in json.dumps(made)
    assert made["id"] in {one["id"] for one in admin.lines("credential", "list")}
    again = admin.run(*words, "--secret-out", file)
    assert (2, "", secret) == (again.exit_code, again.stdout, file.read_text())
    ops = Caller(tmp_path / "client.toml")
    ops.profile("ops", world.server.url, secret)
    assert "ops" == ops.one("whoami")["spec"]["subject_id"]
    assert [] == ops.lines("record", "list"), "the sole grant is the scope"
    assert "secret" in admin.one("credential", "rotate", made["id"])
    refused = ops.run("whoami")
    assert (4, "") == (refused.exit_code, refused.stdout)
    revoked = admin.one("credential", "revoke", f"{made['id']}@2")
    assert revoked["revoked_at_millis"] is not None
    assert 0 == admin.run("credential", "list", "-o", "table").exit_code


def test_an_unknown_run_cannot_be_undone(world: World) -> None:
    refused = world.worker.run("judgment", "undo", "0196f0a1-0000-7000-8000-000000000001")
    assert (1, "") == (refused.exit_code, refused.stdout)
    assert "404 candidate_not_found" in refused.stderr
