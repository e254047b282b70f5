"""The contracts of the import graph hold, and each of them would notice what it forbids.

Every contract is checked twice with the configuration in pyproject.toml: on the project, and on a planted tree of the
same shape in which one import has gone wrong.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.architecture.project import PACKAGE, ROOT, tool

with (ROOT / "pyproject.toml").open("rb") as configuration:
    CONTRACTS = [contract["id"] for contract in tomllib.load(configuration)["tool"]["importlinter"]["contracts"]]

# The rooms, and those of the ledger; the least that the contracts need to find.
ROOMS = sorted(
    str((path.parent / path.stem).relative_to(PACKAGE))
    for folder in (PACKAGE, PACKAGE / "ledger", PACKAGE / "store")
    for path in folder.iterdir()
    if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").is_file()
)

PLANTED = [
    # contract, the room whose file goes wrong, what it says
    ("layers", "core/ids", "import relatum.store"),
    ("layers", "core/ids", "from relatum import clock"),
    ("layers", "store/rows", "import relatum.ledger.writer"),
    ("ledger-layers", "ledger/writer/queue", "import relatum.ledger.reads"),
    ("ledger-layers", "ledger/reads/graph", "import relatum.ledger.writer"),
    ("ledger-layers", "ledger/view/now", "import relatum.ledger.submit"),
    ("ledger-layers", "ledger/an_unlisted_room/x", ""),
    ("layers", "ledger/ledger", "from relatum.http import app"),
    ("layers", "http/app", "def late() -> None:\n    import relatum.cli"),
    ("layers", "clock/now", "import relatum.telemetry"),
    ("layers", "limits/bounds", "import relatum.errors"),
    ("layers", "an_unlisted_room/x", ""),
    ("store-layers", "store/view", "import relatum.store.verify"),
    ("store-layers", "store/verify/head", "import relatum.store.backup"),
    ("pure-core", "core/ids", "import time"),
    ("pure-core", "core/ids", "from os import urandom"),
    ("pure-core", "core/ids", "import asyncio.events"),
    ("pure-core", "core/ids", "from threading import Lock"),
    ("pure-core", "core/decide/records", "def late() -> None:\n    from pathlib import Path"),
    ("pure-core", "errors/codes", "import socket"),
    ("pure-core", "limits/bounds", "import secrets"),
    ("client-alone", "client/pool", "import relatum.clock"),
    ("client-alone", "client/pool", "def late() -> None:\n    import starlette"),
    ("layers", "client/pool", "import relatum.ledger"),
    ("one-engine-module", "store/keys", "import rocksdict"),
    ("one-engine-module", "ledger/reads/graph", "from rocksdict import Rdict"),
    ("one-engine-module", "cli/verify", "def late() -> None:\n    import rocksdict"),
    ("one-protocol-room", "http/app", "import mcp"),
    ("one-protocol-room", "client/pool", "def late() -> None:\n    import mcp_types"),
    ("tools-over-the-client", "mcp/tools", "import relatum.ledger"),
    ("no-cycles", "store/rows", "import relatum.store.keys"),
    ("no-cycles", "core/decide/records", "import relatum.core.ids"),
]
# The other half of the two cycles.
CLOSING = {
    "store/rows": ("store/keys", "import relatum.store.rows"),
    "core/decide/records": ("core/ids", "import relatum.core.decide.records"),
}


def module(tree: Path, name: str) -> Path:
    """The file of a module of the planted package, in a package of its own if it has none yet."""
    path = tree / "src" / "relatum" / f"{name}.py"
    for folder in reversed(path.relative_to(tree / "src").parents[:-1]):
        (tree / "src" / folder).mkdir(parents=True, exist_ok=True)
        (tree / "src" / folder / "__init__.py").touch()
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A sound tree under the project's own contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ROOMS:
        if room != "ledger":  # holds rooms alone
            module(tmp_path, f"{room}/x").touch()
    module(tmp_path, "store/rocks").write_text("import rocksdict\n")
    return tmp_path


def plant(tree: Path, name: str, statement: str) -> None:
    module(tree, name).write_text(statement + "\n")


def verdict(tree: Path, *contracts: str) -> str:
    """What import-linter says of the package under `tree`."""
    chosen = [argument for contract in contracts for argument in ("--contract", contract)]
    return tool("lint-imports", "--no-cache", *chosen, folder=tree, env=os.environ | {"PYTHONPATH": str(tree / "src")})


def test_all_contracts_are_the_ones_tried_here() -> None:
    assert set(CONTRACTS) == {contract for contract, _, _ in PLANTED}
    assert all((PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file() for room in ROOMS)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_project_keeps_the_contract(contract: str) -> None:
    said = verdict(ROOT, contract)
    assert said.startswith("exit 0\n"), said
    assert "Contracts: 1 kept, 0 broken." in said


def test_a_sound_tree_keeps_all_contracts(tree: Path) -> None:
    said = verdict(tree)
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in said, said


@pytest.mark.parametrize(("contract", "name", "statement"), PLANTED)
def test_a_planted_fault_breaks_the_contract(tree: Path, contract: str, name: str, statement: str) -> None:
    plant(tree, name, statement)
    if contract == "no-cycles":
        plant(tree, *CLOSING[name])
    said = verdict(tree, contract)
    assert said.startswith("exit 1\n"), said
    assert "Contracts: 0 kept, 1 broken." in said or "an_unlisted_room" in said, said
