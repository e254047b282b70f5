"""A newcomer's path from `pip install` to an agent that judges what it remembers, in at most twelve commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.http.serving import Server

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 600

pytestmark = pytest.mark.slow


def run(*command: str, folder: Path, env: dict[str, str], seconds: float = 120) -> str:
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    assert 0 == ran.returncode, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def test_from_pip_install_to_a_pair_that_is_judged_and_gone(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RELATUM_", "VIRTUAL"))}
    environment = {**bare, "PATH": f"{tmp_path}/venv/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    run(sys.executable, "-m", "venv", "venv", folder=tmp_path, env=environment)  # 1
    pip = ["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[mcp]"]
    run(*pip, folder=tmp_path, env=environment, seconds=INSTALL_SECONDS)  # 2
    init = ["venv/bin/relatum", "init", "ledger", "--company", "home", "--subject", "me"]
    run(*init, "--secret-file", "admin.secret", folder=tmp_path, env=environment)  # 3
    relatum = (str(tmp_path / "venv/bin/relatum"),)
    with Server(tmp_path / "ledger", program=relatum) as server:  # 4: relatum serve ledger
        environment["RELATUM_CLIENT_URL"] = server.url
        python, howto = "venv/bin/python", ROOT / "docs" / "howto"
        key = [python, str(howto / "issue_a_key.py"), "admin.secret", "assistant.secret"]
        run(*key, folder=tmp_path, env=environment)  # 5
        environment["RELATUM_CLIENT_SECRET_FILE"] = str(tmp_path / "assistant.secret")
        said = run(python, str(howto / "agent_memory.py"), folder=tmp_path, env=environment)  # 6
    assert [
        "to be judged: Staging is deployed by app-production. / Staging is deployed by app-staging.",
        "left to be judged: 0",
        "- Staging is deployed by app-production.",
    ] == said.splitlines()[:3]
