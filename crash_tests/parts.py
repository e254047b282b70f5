"""Every part, in the order in which `short` and `long` run them: the quick ones first."""

from __future__ import annotations

from crash_tests.clocks.part import PART as CLOCKS
from crash_tests.damage.part import PART as DAMAGE
from crash_tests.failpoints.part import PART as FAILPOINTS
from crash_tests.kills.part import PART as KILLS
from crash_tests.limits.part import PARTS as LIMITS
from crash_tests.part import Part
from crash_tests.power.part import PARTS as POWER
from crash_tests.simulation.part import PART as SIMULATION
from crash_tests.system_calls.part import PARTS as CALLS

PARTS: dict[str, Part] = {
    part.name: part for part in (SIMULATION, DAMAGE, KILLS, FAILPOINTS, CLOCKS, *POWER, *LIMITS, *CALLS)
}
