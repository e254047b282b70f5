"""Names of kinds at other doors than the relation's own: those of links, verdicts and promotions (views.md, kinds).

What always holds: at one door no two names mean one kind, and a name that is used at several means the same at each.
"""

from __future__ import annotations

from collections.abc import Mapping

from relatum.core import promotions, verdicts
from relatum.core.answers.receipts import LinkKind
from relatum.core.kinds import REGISTRY, Kind

LINKS: dict[LinkKind, Kind] = {
    "related": "semantic_related",
    "conflicts": "contradicts",
    "supports": "supports",
    "supersedes": "supersedes",
}
OTHERS: dict[str, Kind] = {"relates_to": "semantic_related"}
"""Names that are understood and that no door of this ledger uses by itself."""


def _union() -> dict[str, Kind]:
    doors: tuple[Mapping[str, Kind], ...] = (
        {str(kind): kind for kind in REGISTRY},
        {str(name): kind for name, kind in LINKS.items()},
        {str(name): kind for name, kind in verdicts.KINDS.items()},
        {str(name): kind for name, kind in promotions.KINDS.items()},
        OTHERS,
    )
    found: dict[str, Kind] = {}
    for door in doors:
        for name, kind in door.items():
            assert found.setdefault(name, kind) == kind, "a name means one kind at every door"
        assert len(set(door.values())) == len(door), "at one door a kind has one name"
    return found


KINDS: dict[str, Kind] = _union()
"""Every name that a kind is known by."""
