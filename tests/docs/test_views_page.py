"""docs/views.md against the program: its examples are parts of real exchanges, its tables those of the code."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from relatum.core.kinds import REGISTRY, KindClass, kinds_of
from relatum.core.promotions import PromotionOutcome
from relatum.core.ranking import WEIGHTS
from relatum.http.openapi.examples import recorded
from relatum.http.route_table import ROUTES
from tests.docs.pages import DOCS, blocks, table

PAGE = DOCS / "views.md"
EXAMPLES = [json.loads(block.code) for block in blocks(PAGE, "json")]
ANYTHING = "…"


def is_part(part: Any, whole: Any) -> bool:
    """Whether all that an example says is in an exchange."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and is_part(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(is_part, part, whole))
    return part == whole or (part == ANYTHING and isinstance(whole, str))


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_part_of_an_exchange(example: Any) -> None:
    assert any(is_part(example, side) for one in recorded() for side in (one.request, one.response))


def test_an_example_of_something_else_is_noticed() -> None:
    assert not is_part({"state": "partial"}, {"state": "empty"})
    assert not is_part({"state": "partial"}, {})
    assert not is_part({"ids": [ANYTHING]}, {"ids": ["a", "b"]})
    assert not is_part(ANYTHING, 3)


def test_the_table_of_classes_is_the_registry() -> None:
    told = {row[0].strip("`"): (tuple(re.findall(r"`(\w+)`", row[1])), row[2]) for row in table(PAGE, "Class")}
    expected = {}
    for kind_class in get_args(KindClass):
        kinds = kinds_of(kind_class)
        row = REGISTRY[kinds[0]]
        expected[kind_class] = (kinds, f"{row.source_type} → {row.target_type}")
    assert expected == told


def test_every_kind_has_the_sentence_of_the_registry() -> None:
    assert {kind: row.says for kind, row in REGISTRY.items()} == {
        row[0].strip("`"): row[1] for row in table(PAGE, "Kind")
    }


def test_the_table_of_routes_names_all_there_are() -> None:
    told = {name for row in table(PAGE, "Route") for name in re.findall(r"`([\w/]+)`", row[0]) if "/" in name}
    served = {route.path.removeprefix("/api/v1/memory/") for route in ROUTES if route.tag in ("views", "derived")}
    assert served - {"context"} | {"records/commands"} == told


def test_the_table_of_outcomes_is_that_of_promotion() -> None:
    assert set(get_args(PromotionOutcome)) == {row[0].strip("`") for row in table(PAGE, "Outcome")}


def test_the_table_of_weights_is_the_one_in_the_code() -> None:
    told = [float(row[1].split()[0]) for row in table(PAGE, "Part of the score")]
    assert [weight for name, weight in WEIGHTS._asdict().items() if name != "ties_max"] == told
