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
    """What a kind implies. `says` tells which way it points; `symmetric`: stored as asserted, read from both ends."""

    kind_class: KindClass
    source_type: RecordType
    target_type: RecordType
    says: str
    symmetric: bool = False


REGISTRY: dict[Kind, KindRow] = {
    "semantic_related": KindRow(
        "memory", "memory", "memory", "Source and target are connected in meaning.", symmetric=True
    ),
    "same_entity": KindRow("memory", "memory", "memory", "Source and target speak of one entity.", symmetric=True),
    "temporal_before": KindRow(
        "memory", "memory", "memory", "What the source tells of came before what the target tells of."
    ),
    "causal_claim": KindRow("memory", "memory", "memory", "The source is claimed to be a cause of the target."),
    "supports": KindRow("memory", "memory", "memory", "The source supports the target."),
    "contradicts": KindRow("memory", "memory", "memory", "The source conflicts with the target.", symmetric=True),
    "supersedes": KindRow("memory", "memory", "memory", "The source replaces the target."),
    "laterally_related": KindRow(
        "memory",
        "memory",
        "memory",
        "Source and target lie side by side; neither is part of the other.",
        symmetric=True,
    ),
    "caused_by": KindRow("memory", "memory", "memory", "The source was caused by the target."),
    "leads_to": KindRow("memory", "memory", "memory", "The source leads to the target."),
    "part_of": KindRow("memory", "memory", "memory", "The source is part of the target."),
    "example_of": KindRow("memory", "memory", "memory", "The source is an example of the target."),
    "fixes_issue": KindRow("memory", "memory", "memory", "The source fixes the issue that the target tells of."),
    "compatible": KindRow("verdict", "memory", "memory", "Source and target can both be true.", symmetric=True),
    "scoped": KindRow(
        "verdict", "memory", "memory", "Source and target are both true, each within bounds of its own.", symmetric=True
    ),
    "not_conflict": KindRow("verdict", "memory", "memory", "Source and target do not conflict.", symmetric=True),
    "about_person": KindRow("person", "memory", "person", "The source is about the person that the target is."),
    "authored_by": KindRow("person", "memory", "person", "The source was written by the person that the target is."),
    "from_session": KindRow("provenance", "memory", "session", "The source comes from the session that the target is."),
    "blocks": KindRow("task", "task", "task", "The source must be done before the target can be."),
    "subtask_of": KindRow("task", "task", "task", "The source is a part of the work that the target is."),
}

assert set(REGISTRY) == set(get_args(Kind)), "every kind has a row"


LINK_TOKENS: dict[Kind, str] = {kind: "memhtml-" + kind.replace("_", "-") for kind in REGISTRY}
"""What text exports call the kinds; one to one."""

KINDS_BY_TOKEN: dict[str, Kind] = {token: kind for kind, token in LINK_TOKENS.items()}

assert len(KINDS_BY_TOKEN) == len(REGISTRY), "no two kinds have one token"


def kinds_of(kind_class: KindClass) -> tuple[Kind, ...]:
    """The kinds of a class, in registry order."""
    return tuple(kind for kind, row in REGISTRY.items() if row.kind_class == kind_class)
