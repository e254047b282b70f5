"""Every part, in the order in which `short` and `long` run them: the quick ones first."""

from __future__ import annotations

from crash_tests.kills.part import PART as KILLS
from crash_tests.part import Part

PARTS: dict[str, Part] = {part.name: part for part in (KILLS,)}
