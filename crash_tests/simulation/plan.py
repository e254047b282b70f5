"""What one case is made of: how many take part, how much they do, and what goes wrong how often.

Every case leaves some of it out, since what is always there hides what happens without it.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct
from msgspec.structs import replace


class Plan(Struct, frozen=True, kw_only=True):
    """The circumstances of one case. `…_rate` is the chance of something at one opportunity."""

    desks: int
    """From how many accounts and scopes clients work."""
    clients: int
    turns: int
    """How often each client does something."""
    readers: int
    consumers: int
    has_clerk: bool
    group_max: int
    queue_max: int
    watermark_lag: int
    bystanders: int
    """How many steps of others, at most, fit into each pause of a commit."""
    downfalls: int
    """How often, at most, the machine dies."""
    fall_rate: float
    """That it dies, at a failpoint."""
    cut_share: float
    """How much of that is power cuts; the others are killed processes."""
    write_fault_rate: float
    sync_fault_rate: float
    mark_fault_rate: float
    clock_jumps: bool
    scrubs: bool
    """Whether the rows are verified while everything goes on."""
    inspects: bool
    verifies: bool
    decays: bool
    rolls_back: bool


def draw(random: Random) -> Plan:
    """The plan of a case."""

    def share(of: float) -> bool:
        return random.random() < of

    faulty = share(0.4)
    return Plan(
        desks=random.choice((1, 2, 2, 3)),
        clients=random.choice((1, 2, 2, 3)),
        turns=random.choice((4, 6, 8, 12)),
        readers=random.choice((0, 1, 1, 2)),
        consumers=random.choice((0, 1, 1, 2)),
        has_clerk=share(0.3),
        group_max=random.choice((1, 2, 4, 16)),
        queue_max=random.choice((3, 64)),
        watermark_lag=random.choice((0, 0, 0, 1)),
        bystanders=random.choice((0, 3, 8)),
        downfalls=random.choice((0, 1, 1, 2, 3)),
        fall_rate=random.choice((0.01, 0.03, 0.1)),
        cut_share=random.choice((0.3, 0.7, 1.0)),
        write_fault_rate=random.choice((0.0, 0.03)) if faulty else 0.0,
        sync_fault_rate=random.choice((0.0, 0.05)) if faulty else 0.0,
        mark_fault_rate=random.choice((0.0, 0.03)) if faulty else 0.0,
        clock_jumps=share(0.4),
        scrubs=share(0.06),
        inspects=share(0.06),
        verifies=share(0.06),
        decays=share(0.06),
        rolls_back=share(0.1),
    )


def calm(plan: Plan) -> Plan:
    """The same, and nothing goes wrong any more."""
    return replace(plan, downfalls=0, write_fault_rate=0.0, sync_fault_rate=0.0, mark_fault_rate=0.0, clock_jumps=False)
