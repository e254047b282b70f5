"""The parts of this package."""

from __future__ import annotations

from crash_tests.part import Part
from crash_tests.power.lossy_fs import LOSSY_FS
from crash_tests.power.power_cuts import POWER_CUTS
from crash_tests.power.snapshots import SNAPSHOTS

PARTS: tuple[Part, ...] = (POWER_CUTS, SNAPSHOTS, LOSSY_FS)
