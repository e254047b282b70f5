"""Names that only one module may use are banned everywhere else, and the linter notices each of them."""

from __future__ import annotations

import pytest

from tests.architecture.project import ROOT, tool

WALL_CLOCK = [
    "import time\n\nNOW = time.time()\n",
    "from time import time_ns\n\nNOW = time_ns()\n",
    "import datetime\n\nNOW = datetime.datetime.now(datetime.UTC)\n",
]
RANDOMNESS = [
    "import os\n\nBYTES = os.urandom(16)\n",
    "from secrets import token_bytes\n\nBYTES = token_bytes(16)\n",
    "import random\n\nNUMBER = random.random()\n",
    "from uuid import uuid4\n\nID = uuid4()\n",
]
ENGINE = ["import rocksdict\n\nNAMES = dir(rocksdict)\n", "from rocksdict import Rdict\n\nNAMES = dir(Rdict)\n"]


def complaints(module: str, source: str) -> str:
    return tool("ruff", "check", "--select", "TID251", "--stdin-filename", module, "-", folder=ROOT, text=source)


@pytest.mark.parametrize("source", WALL_CLOCK + RANDOMNESS + ENGINE)
@pytest.mark.parametrize("module", ["src/relatum/ledger/reads/planted.py", "src/relatum/core/planted.py"])
def test_the_time_of_day_randomness_and_the_engine_are_banned_in_every_room(module: str, source: str) -> None:
    said = complaints(module, source)
    assert said.startswith("exit 1\n"), said
    assert "TID251" in said


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("src/relatum/clock.py", WALL_CLOCK[0]),
        ("src/relatum/entropy.py", RANDOMNESS[0]),
        ("src/relatum/store/rocks.py", ENGINE[0]),
    ],
)
def test_each_of_them_has_one_module_that_may(module: str, source: str) -> None:
    assert complaints(module, source).startswith("exit 0\n")
