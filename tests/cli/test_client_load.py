"""`relatum load` against a real server: names, keys, resuming, refusals, checks."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import COMMAND, SECONDS_MAX, environment
from tests.cli.served import Caller, served

SAID = {"origin": "imported_assertion", "method": "pep-header", "method_revision": "1", "evidence_ref": "x"}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with served(tmp_path_factory.mktemp("load")) as (_, _, caller):
        yield caller


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def results(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def sequence(caller: Caller) -> int:
    """The commit sequence of a fresh command."""
    found: int = caller.one("record", "create", "a mark")["commit_sequence"]
    return found


def test_names_stand_for_what_earlier_lines_made(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("names")
    file = written(
        tmp_path / "lines.jsonl",
        {"record": {"content": "@a is text here"}, "as": "a"},
        {"record": {"content": "b"}, "as": "b", "save": True},
        {"relation": {"source": "@a", "target": "@b", "kind": "supports", "provenance": SAID}},
        {"link": {"source_id": "@a", "target_id": "@b", "kind": "related"}},
        {
            "operation": {
                "type": "derive",
                "record": {"content": "c"},
                "derivation": {"sources": ["@a", "@b"], "method": "m", "method_revision": "1", "evidence_ref": "x"},
            },
            "as": "c",
        },
        {"operation": {"type": "pin", "record_id": "@c", "expected_revision": 1}, "key": "mine"},
    )
    out = tmp_path / "out.jsonl"
    done = caller.one("load", file, "--results", out)
    assert (6, 6, 0, 0) == tuple(done[name] for name in ("lines", "accepted", "known", "refused"))
    receipts = [one["receipt"] for one in results(out)]
    relation = caller.one("relation", "get", receipts[2]["relation_id"])["input"]
    assert [receipts[0]["record_id"], receipts[1]["record_id"]] == [
        relation[end]["record_id"] for end in ("source", "target")
    ]
    assert "mine" == results(out)[5]["key"]
    again = tmp_path / "again.jsonl"
    done = caller.one("load", file, "--results", again)
    assert (6, 0, 6, 0) == tuple(done[name] for name in ("lines", "accepted", "known", "refused"))
    assert out.read_bytes() == again.read_bytes()


def test_equal_lines_stay_as_many_wherever_they_stand(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("equal")
    file = written(
        tmp_path / "a",
        {"record": {"content": "x"}},
        {"record": {"content": "x", "tags": []}},
        {"record": {"content": "y"}},
    )
    assert 3 == caller.one("load", file)["accepted"]
    mark = sequence(caller)
    moved = written(
        tmp_path / "b",
        "",
        '{"record":{"title":null,"content":"y"}}',
        {"as": "named", "record": {"content": "x"}},
        {"record": {"content": "x"}},
    )
    assert 3 == caller.one("load", moved)["known"]
    assert mark + 1 == sequence(caller)
    longer = tmp_path / "c"
    longer.write_text(file.read_text() + '{"record": {"content": "x"}}\n')
    done = caller.one("load", longer)
    assert (1, 3) == (done["accepted"], done["known"])
    assert 3 == caller.one("load", file, "--run", "anew")["accepted"]
    assert 3 == caller.one("load", file, "--run", "anew")["known"]


BROKEN = (
    "{",
    '{"record": {"content": "a"}, "record": {"content": "b"}}',
    {"recrod": {"content": "x"}},
    {"record": {"content": "x", "unknown": 1}},
    {"record": {"content": "x" * 50_000}},
    {"record": {"content": " "}},
    {"relation": {"source": "@nobody", "target": "@good", "kind": "supports", "provenance": SAID}},
    {"relation": {"source": "@good", "target": "@good", "kind": "supports", "provenance": SAID}},
    {"record": {"content": "again"}, "as": "good"},
    {"record": {"content": "x"}, "key": " "},
    {"operation": {"type": "creat", "record": {"content": "x"}}},
    {"link": {"source_id": "@good", "target_id": "x", "kind": "related"}},
)


def test_refused_lines_stop_nothing_and_a_check_finds_them_all(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("refused")
    good = {"record": {"content": "good"}, "as": "good"}
    late = {"operation": {"type": "pin", "record_id": "@good", "expected_revision": 7}}
    file = written(tmp_path / "lines", good, *BROKEN, late, {"record": {"content": "last"}})
    rejects, checked = tmp_path / "rejects", tmp_path / "checked"
    tried = caller.run("load", file, "--check", "--rejects", checked)
    assert 1 == tried.exit_code
    assert [] == caller.lines("record", "list")
    done = caller.run("load", file, "--rejects", rejects)
    assert 1 == done.exit_code
    summary = json.loads(done.stdout)
    assert (15, 2, 13) == tuple(summary[name] for name in ("lines", "accepted", "refused"))
    refused = results(rejects)
    assert {"line", "code", "message", "status", "input"} == refused[0].keys()
    statically = [one["line"] for one in refused if one["status"] != 409]
    assert [*range(2, 14)] == statically == [one["line"] for one in results(checked)]
    assert refused == [json.loads(line) for line in done.stderr.splitlines()]

    mended = [one | {"input": {"record": {"content": "mended"}}} if one["line"] == 2 else one for one in refused]
    late_again = mended[-1]["input"]["operation"]
    assert late_again["record_id"] == caller.lines("record", "list", "--text", "good")[0]["record_id"]
    late_again["expected_revision"] = 1
    again = caller.run("load", written(tmp_path / "mended", *mended))
    accepted = json.loads(again.stdout)["accepted"]
    assert 3 == accepted, "what was mended twice, and the name that is given once there"


def test_a_load_stops_where_it_is_told_to(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("stops")
    bad = {"operation": {"type": "pin", "record_id": "0196f0a1-0000-7000-8000-000000000001", "expected_revision": 1}}
    file = written(tmp_path / "lines", {"record": {"content": "a"}}, bad, {"record": {"content": "b"}}, bad, bad)
    stopped = caller.run("load", file, "--stop-on-refusal")
    assert (1, 2) == (stopped.exit_code, json.loads(stopped.stdout)["lines"])
    assert 1 == len(caller.lines("record", "list"))
    most = caller.run("load", file, "--max-refused", "2")
    assert (1, 1) == (most.exit_code, json.loads(most.stdout)["known"])


def test_lines_before_the_first_are_looked_up_for_their_names_alone(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("from")
    head = [{"record": {"content": f"r{n}"}, "as": f"r{n}"} for n in range(3)]
    relation = {"relation": {"source": "@r0", "target": "@r2", "kind": "supports", "provenance": SAID}}
    caller.one("load", written(tmp_path / "head", *head))
    file = written(tmp_path / "all", *head, {"record": {"content": "never sent"}}, relation)
    done = caller.one("load", file, "--from-line", "5")
    assert (1, 1) == (done["lines"], done["accepted"])
    assert 3 == len(caller.lines("record", "list"))


def peps(path: Path) -> Path:
    """The corpus as a load: 736 records and 113 relations, by names."""
    corpus = Path(__file__).parents[2] / "src" / "relatum" / "data" / "peps"
    records = (
        {"record": {"title": pep["title"], "content": json.dumps(pep)}, "as": pep["id"]}
        for pep in results(corpus / "records.jsonl")
    )
    return written(path, *records, *map(_relation, results(corpus / "relations.jsonl")))


def _relation(said: Any) -> object:
    source, target = ("to", "from") if said["kind"] == "superseded-by" else ("from", "to")
    relation = {
        "source": f"@{said[source]}",
        "target": f"@{said[target]}",
        "kind": "supports" if said["kind"] == "requires" else "supersedes",
        "provenance": SAID | {"evidence_ref": f"{said['from']} {said['kind']}"},
    }
    return {"relation": relation}


def test_a_corpus_loaded_again_changes_nothing(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("peps")
    file, first, second = peps(tmp_path / "peps"), tmp_path / "first", tmp_path / "second"
    done = caller.one("load", file, "--results", first)
    assert (849, 849, 0) == (done["lines"], done["accepted"], done["refused"])
    mark = sequence(caller)
    assert 849 + 1 == mark
    assert 849 == caller.one("load", file, "--results", second)["known"]
    assert first.read_bytes() == second.read_bytes()
    assert mark + 1 == sequence(caller)


@pytest.mark.slow
def test_a_load_killed_at_random_and_run_again_is_as_one_undisturbed(worker: Caller, tmp_path: Path) -> None:
    calm, stormy = worker.at("calm"), worker.at("stormy")
    file = peps(tmp_path / "peps")
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    calm.one("load", file, "--results", undisturbed)
    for seconds in (0.35, 0.6, 0.45, 0.8, 0.5):
        with subprocess.Popen(
            [*COMMAND, "load", str(file), "--results", str(out)],
            env=environment(**stormy.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
    done = stormy.one("load", file, "--results", out)
    assert (849, 0) == (done["lines"], done["refused"])
    assert 849 + 1 == sequence(stormy)

    def told(path: Path) -> list[tuple[str, int]]:
        return [(one["key"].split(":")[0], one["receipt"]["revision"]) for one in results(path)]

    assert told(undisturbed) == told(out)
    settled = [one["receipt"]["commit_sequence"] for one in results(out)]
    assert sorted(settled) == settled == [*range(1, 850)]


def test_interrupted_once_it_finishes_the_batch_and_tells_how_far_it_came(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("interrupted")
    out = tmp_path / "out"
    with subprocess.Popen(
        [*COMMAND, "load", "-", "--results", str(out)],
        env=environment(**caller.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        for n in range(300):
            process.stdin.write(json.dumps({"record": {"content": f"r{n}"}}).encode() + b"\n")
        process.stdin.flush()
        try:
            while not out.exists() or not out.stat().st_size:  # its first batch is settled; it waits for more
                assert process.poll() is None
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.02)
            process.send_signal(signal.SIGINT)
            told, errors = process.communicate(timeout=SECONDS_MAX)
        finally:
            process.kill()
    assert 130 == process.returncode, errors
    summary = json.loads(told)
    assert summary["lines"] == summary["accepted"] == len(caller.lines("record", "list", "--all")) == 256


def test_a_file_that_is_read_is_not_written_and_a_missing_one_is_told(worker: Caller, tmp_path: Path) -> None:
    file = written(tmp_path / "lines", {"record": {"content": "x"}})
    for words in ((file, "--rejects", file), (tmp_path / "missing",)):
        refused = worker.run("load", *words)
        assert (2, "") == (refused.exit_code, refused.stdout)
    assert '{"record": {"content": "x"}}\n' == file.read_text()
