"""The page on crash testing keeps up with what is planted."""

from __future__ import annotations

from crash_tests.controls import CONTROLS
from crash_tests.server import ROOT
from tests.crash.planted import FAULTS

PAGE = (ROOT / "docs" / "crash-testing.md").read_text(encoding="utf-8")


def test_every_planted_fault_is_named_and_no_other() -> None:
    table = PAGE.split("| Events and receipts |")[1].split("\n\n")[0]
    named = {cell.strip() for line in table.splitlines()[2:] for cell in line.strip("|").split("|")}
    assert set(FAULTS) == named - {""}


def test_every_control_is_named() -> None:
    assert [] == [control for control in CONTROLS if f"| `{control}` |" not in PAGE]
