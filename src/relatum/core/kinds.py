"""The registry of relation kinds: one table (views.md, kinds and classes).

The class of a kind, the types of its ends and its symmetry are functions of the kind; no stored field repeats them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

RecordType = Literal["memory", "person", "session", "task"]
KindClass = Literal["memory", "verdict", "person", "provenance", "task"]
Kind = Literal[
    "semantic_related",
    "same_entity",
    "temporal_before",
    "causal_claim",
    "supports",
    "contradicts",
    "supersedes",
    "laterally_related",
    "caused_by",
    "leads_to",
    "part_of",
    "example_of",
    "fixes_issue",
    "compatible",
    "scoped",
    "not_conflict",
    "about_person",
    "authored_by",
    "from_session",
    "blocks",
    "subtask_of",
]


class KindRow(NamedTuple):
    """What a kind implies. `symmetric`: stored as asserted, read from both ends."""

    kind_class: KindClass
    source_type: RecordType
    target_type: RecordType
    symmetric: bool = False


REGISTRY: dict[Kind, KindRow] = {
    "semantic_related": KindRow("memory", "memory", "memory", symmetric=True),
    "same_entity": KindRow("memory", "memory", "memory", symmetric=True),
    "temporal_before": KindRow("memory", "memory", "memory"),
    "causal_claim": KindRow("memory", "memory", "memory"),
    "supports": KindRow("memory", "memory", "memory"),
    "contradicts": KindRow("memory", "memory", "memory", symmetric=True),
    "supersedes": KindRow("memory", "memory", "memory"),
    "laterally_related": KindRow("memory", "memory", "memory", symmetric=True),
    "caused_by": KindRow("memory", "memory", "memory"),
    "leads_to": KindRow("memory", "memory", "memory"),
    "part_of": KindRow("memory", "memory", "memory"),
    "example_of": KindRow("memory", "memory", "memory"),
    "fixes_issue": KindRow("memory", "memory", "memory"),
    "compatible": KindRow("verdict", "memory", "memory", symmetric=True),
    "scoped": KindRow("verdict", "memory", "memory", symmetric=True),
    "not_conflict": KindRow("verdict", "memory", "memory", symmetric=True),
    "about_person": KindRow("person", "memory", "person"),
    "authored_by": KindRow("person", "memory", "person"),
    "from_session": KindRow("provenance", "memory", "session"),
    "blocks": KindRow("task", "task", "task"),
    "subtask_of": KindRow("task", "task", "task"),
}

assert set(REGISTRY) == set(get_args(Kind)), "every kind has a row"


LINK_TOKENS: dict[Kind, str] = {kind: "memhtml-" + kind.replace("_", "-") for kind in REGISTRY}
"""What text exports call the kinds; one to one."""

KINDS_BY_TOKEN: dict[str, Kind] = {token: kind for kind, token in LINK_TOKENS.items()}

assert len(KINDS_BY_TOKEN) == len(REGISTRY), "no two kinds have one token"


def kinds_of(kind_class: KindClass) -> tuple[Kind, ...]:
    """The kinds of a class, in registry order."""
    return tuple(kind for kind, row in REGISTRY.items() if row.kind_class == kind_class)
