"""The official TypeScript client over HTTP, which nobody here wrote, holds every answer to its schema (to be shown 1).

Its packages come from npm by the lock file beside it, into a cache of the tests' own; without node or npm this skips.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from relatum.mcp.table import TOOLS
from tests.http.client import ABSENT, Caller

HERE = Path(__file__).parent / "typescript"
INSTALL_SECONDS = 300
RUN_SECONDS = 120

pytestmark = pytest.mark.slow

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory_context", {"query": "staging"}),
    ("remember", {"content": "Staging is deployed by app-staging.", "source_id": "ci"}),
    ("memory_save", {"content": "Staging is deployed by app-production.", "data": {"n": 1}}),
    (
        "memory_judge_batch",
        {"judgments": [{"judgmentId": "$memory_save.candidates.0.judgmentId", "relation": "conflicts_with"}]},
    ),
    ("memory_confirm_batch", {"ids": ["$memory_save.id"]}),
    ("memory_search", {"query": "staging"}),
    ("memory_get_batch", {"ids": ["$memory_save.id", ABSENT]}),
    ("memory_graph", {"action": "overview"}),
    (
        "memory_compare",
        {"memoryIdA": "$memory_save.id", "memoryIdB": "$remember.id", "relation": "related", "confidence": 1},
    ),
    ("memory_suggest_topic_key", {"title": "deploy"}),
    ("search", {"query": "staging"}),
    ("validate_memory", {}),
    (
        "relation_assert",
        {"source_id": "$remember.id", "target_id": "$memory_save.id", "kind": "supports", "evidence": "run-1"},
    ),
    (
        "relation_change",
        {"id": "$relation_assert.id", "action": "retire", "expected_revision": "1", "evidence": "run-2"},
    ),
    ("relation_get", {"ids": ["$relation_assert.id"], "why": True}),
    ("memory_link", {"source_id": "$remember.id", "target_id": "$memory_save.id", "rel": "leads_to"}),
    ("memory_walk", {"ids": ["$remember.id"]}),
    ("memory_changes", {"stream": "records"}),
    ("forget", {"id": "$remember.id"}),
]
FAILING: list[tuple[str, dict[str, Any]]] = [
    ("forget", {"id": ABSENT}),
    ("memory_search", {"colour": "blue"}),
    ("memory_judge_batch", {"judgments": [{"judgmentId": ABSENT, "relation": "related"}]}),
    ("memory_burn", {}),
]


@pytest.fixture(scope="module")
def packages() -> Path:
    """A folder with the client installed by the lock file; the same for every run with that file."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed, so that the TypeScript client can't be tried")
    lock = (HERE / "package-lock.json").read_bytes()
    folder = Path(tempfile.gettempdir()) / f"relatum-tests-npm-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not (folder / "installed").exists():
        folder.mkdir(exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder)
        install = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        ran = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        if ran.returncode:
            pytest.skip(f"the TypeScript client can't be had here: {ran.stderr[-300:]}")
        (folder / "installed").touch()
    return folder


def test_every_tool_answers_the_typescript_client(packages: Path, caller: Caller, url: str) -> None:
    shutil.copy(HERE / "host.mjs", packages)
    asked = {"url": f"{url}/mcp?tools=full", "secret": caller.secret, "calls": [*CALLS, *FAILING]}
    ran = subprocess.run(
        ["node", "host.mjs"],
        cwd=packages,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert 0 == ran.returncode, ran.stderr
    told = json.loads(ran.stdout)
    assert list(TOOLS) == told["listed"]
    done, failed = told["said"][: len(CALLS)], told["said"][len(CALLS) :]
    assert set(TOOLS) == {one["name"] for one in done}
    assert [] == [one for one in done if not (one.get("ok") and one["same"]) or one["isError"]]
    assert ["record_not_found", "invalid_request", None] == [one["code"] for one in failed[:3]]
    assert all(one["isError"] and one["same"] for one in failed[:3])
    assert -32602 == failed[3]["code"]
