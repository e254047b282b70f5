"""No answer costs more than its budget, and what is missing is counted or marked (mcp.md, to be shown 3)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relatum.mcp.budget import compact, estimated, fitted, prefix, room, shortened
from relatum.mcp.tools.facts import validation
from relatum.mcp.tools.walks import graph_fitted

TEXTS = st.text(alphabet='a\n"é漢я😀', max_size=400)
RELATIONS = st.fixed_dictionaries({"kind": st.just("related"), "preview": TEXTS}, optional={"reason": TEXTS})


@st.composite
def memories(draw: st.DrawFn) -> dict[str, Any]:
    content = draw(TEXTS) * draw(st.integers(1, 30))
    relations = draw(st.lists(RELATIONS, max_size=5))
    shape: dict[str, Any] = {"id": "0" * 36, "content": content}
    return {**shape, "relations": relations, "relationsTotal": len(relations)} if relations else shape


def test_the_estimate_counts_characters_by_their_kind() -> None:
    assert [0, 1, 1, 2, 1, 3] == [estimated(text) for text in ("", "a", "ab", "abcd", "я", "😀")]
    assert 2 + 2 + 3 == estimated("abcd" + "яя" + "😀")


@given(st.lists(memories(), max_size=12), st.integers(500, 1_500))
def test_what_fits_is_a_beginning_and_the_rest_is_counted(entries: list[dict[str, Any]], max_tokens: int) -> None:
    answer = fitted({"ok": True}, "memories", entries, max_tokens)
    assert estimated(compact(answer)) <= max_tokens
    kept = answer["memories"]
    assert len(entries) == len(kept) + answer.get("left_out", 0)
    assert entries[1 : len(kept)] == kept[1:]
    if kept and kept[0] != entries[0]:
        first, whole = kept[0], entries[0]
        assert whole["content"].startswith(first["content"])
        assert first["content"] == whole["content"] or len(whole["content"]) == first["content_characters"]
        assert first.get("relationsTotal") == whole.get("relationsTotal")
        assert len(kept) == 1


@given(memories(), st.integers(700, 3_000))
def test_content_is_cut_before_anything_else(entry: dict[str, Any], fifths: int) -> None:
    kept, _ = prefix([entry], fifths)
    if kept and kept[0].get("content"):
        assert entry.get("relations") == kept[0].get("relations")


@given(TEXTS, st.integers(0, 400))
def test_a_text_is_shortened_as_little_as_needed(text: str, fifths: int) -> None:
    found = shortened(text, fifths)
    assert text.startswith(found)
    if found != text:
        longer = compact(text[: len(found) + 1])[1:-1]
        assert estimated(longer) * 5 >= fifths


@given(st.integers(0, 200), st.integers(0, 200), st.integers(500, 3_000))
def test_edges_left_out_are_counted_with_the_nodes(nodes: int, edges: int, max_tokens: int) -> None:
    known = [{"id": f"{number:036}", "preview": "x" * 50} for number in range(nodes)]
    joined = [
        {"kind": "related", "source": known[number % nodes]["id"], "target": known[(number + 1) % nodes]["id"]}
        for number in range(edges if nodes else 0)
    ]
    answer = graph_fitted({"ok": True}, known, joined, max_tokens)
    assert estimated(compact(answer)) <= max_tokens
    ids = {one["id"] for one in answer["nodes"]}
    assert all({one["source"], one["target"]} <= ids for one in answer["edges"])
    assert len(known) + len(joined) == len(answer["nodes"]) + len(answer["edges"]) + answer.get("left_out", 0)


@given(st.integers(0, 3_000), st.integers(0, 3_000))
def test_a_validation_counts_all_and_lists_what_fits(stale: int, conflicts: int) -> None:
    found = {
        "checked": 10_000,
        "stale_ids": ["s" * 36] * stale,
        "stale_count": stale,
        "conflict_ids": ["c" * 36] * conflicts,
        "conflict_count": conflicts,
    }
    answer = validation(found, 2_000)
    assert estimated(compact(answer)) <= 2_000
    assert (stale, conflicts) == (answer["stale_count"], answer["conflict_count"])
    listed = len(answer["stale_ids"]) + len(answer["conflict_ids"])
    assert stale + conflicts == listed + answer.get("left_out", 0)


def test_a_budget_is_five_fifths_of_a_token_each() -> None:
    assert 2_500 == room(500)
