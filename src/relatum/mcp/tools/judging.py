"""Verdicts on pairs and confirmations of memories (mcp.md, tools; judgments.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relatum.mcp.calls import Call
from relatum.mcp.fields import free_object, of, several, share, text, word
from relatum.mcp.numbers import time_of
from relatum.mcp.refusals import HINTS, ToolRefused, invalid
from relatum.mcp.tool import KEY, WRITES, Answer, Arguments, Tool
from relatum.mcp.tools.memory import annotated, given

SUCCESSORS_MAX: Final = 10
VERDICTS: Final = ("supersedes", "conflicts_with", "related", "compatible", "scoped", "not_conflict")


async def judge_batch(call: Call, arguments: Arguments) -> Answer:
    """A verdict on each candidate, each its own commit."""
    judged = arguments["judgments"]
    judgments = [
        {
            "candidate_id": one["judgmentId"],
            "relation": one["relation"],
            "provenance": call.provenance({}),
            **given(one, "reason", "confidence", "evidence"),
        }
        for one in judged
    ]
    key = arguments.get("idempotency_key") or call.fresh_key()
    answer = await call.command("judgments/batch", key, judgments=judgments)
    results = [_result(one["judgmentId"], result) for one, result in zip(judged, answer["results"], strict=True)]
    told: Answer = {"ok": not answer["all_failed"], "results": results}
    if answer["all_failed"]:
        told["hint"] = HINTS.get(results[0]["code"], "")
    return told


def _result(judgment_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    if not result["ok"]:
        return {"ok": False, "judgmentId": judgment_id, "code": result["code"], "message": result["message"]}
    return {
        "ok": True,
        "judgmentId": judgment_id,
        "relation": result["judgment"]["relation"],
        "status": "judged",
        "judgedAt": time_of(result["receipt"]["committed_at_millis"]),
    }


async def compare(call: Call, arguments: Arguments) -> Answer:
    """A verdict on two memories that nobody has surfaced as a pair."""
    first, second = arguments["memoryIdA"], arguments["memoryIdB"]
    if first.lower() == second.lower():
        raise invalid("memoryIdB: must be another memory than memoryIdA")
    members = given(arguments, "relation", "confidence", "reason", "evidence")
    answer = await call.command("judgments/compare", call.fresh_key(), source_id=first, target_id=second, **members)
    judgment = answer["judgment"]
    return {
        "ok": True,
        "judgmentId": judgment["candidate_id"],
        "relationId": judgment["relation_id"],
        "relation": judgment["relation"],
        "status": "judged",
    }


async def confirm_batch(call: Call, arguments: Arguments) -> Answer:
    """Memories looked at again and found right, or wrong; all or nothing."""
    refuting, reason = arguments["verdict"] == "refute", arguments.get("reason")
    if reason is not None and not refuting:
        raise invalid("reason: goes with the verdict refute")
    newest = await _newest(call, list(dict.fromkeys(arguments["ids"])))
    outcome = "refuted" if refuting else "affirmed"
    confirmations = [
        {"record_id": one, "outcome": outcome, "evidence_ref": call.evidence_ref(reason)}
        for one in dict.fromkeys(newest.values())
    ]
    answer = await call.command("records/confirm", call.fresh_key(), confirmations=confirmations)
    at = {one["record_id"]: one for one in answer["confirmations"]}
    return {
        "ok": True,
        "confirmations": [
            {"id": one, "confirmedId": now, "outcome": at[now]["outcome"], "at": time_of(at[now]["at_millis"])}
            for one, now in newest.items()
        ],
    }


async def _newest(call: Call, ids: list[str]) -> dict[str, str]:
    """Each id with that of its newest successor."""
    newest = {one: one for one in ids}
    for _ in range(SUCCESSORS_MAX + 1):
        found = await annotated(call, list(newest.values()))
        moved = False
        for one, now in newest.items():
            item = found[now]
            if item is None:
                raise ToolRefused("record_not_found", f"ids[{ids.index(one)}]: no such memory")
            successor = item["standing"]["superseded_by"]
            newest[one], moved = successor or item["record"]["record_id"], moved or successor is not None
        if not moved:
            return newest
    raise ToolRefused("revision_conflict", f"a memory was superseded more than {SUCCESSORS_MAX} times in a row")


JUDGE_BATCH: Final = Tool(
    name="memory_judge_batch",
    title="Judge pairs of memories",
    about=(
        "Give a verdict on pairs that memory_save or memory_context surfaced, by judgmentId. supersedes: the saved "
        "memory replaces the other, which is no longer shown; conflicts_with: both can't be true; related; compatible: "
        "both hold; scoped: each holds in its own setting; not_conflict: surfaced by mistake. Each verdict stands "
        "alone; results come in order."
    ),
    takes={
        "judgments": several(
            of(
                {
                    "judgmentId": text(required=True),
                    "relation": word(*VERDICTS, required=True),
                    "reason": text("Why, in a sentence"),
                    "confidence": share(),
                    "evidence": free_object(),
                }
            ),
            1,
            20,
            required=True,
        ),
        "idempotency_key": KEY,
    },
    answers={"results": "array", "idempotency_key": "string"},
    run=judge_batch,
    needs=WRITES,
    writes=True,
    repeats=True,
)

COMPARE: Final = Tool(
    name="memory_compare",
    title="Judge two memories",
    about=(
        "Give a verdict on two memories that nobody surfaced as a pair. supersedes: A replaces B. Said again of the "
        "same pair it takes the place of the earlier verdict, and adds a revision."
    ),
    takes={
        "memoryIdA": text(required=True),
        "memoryIdB": text(required=True),
        "relation": word(*(one for one in VERDICTS if one != "not_conflict"), required=True),
        "confidence": share(required=True),
        "reason": text("Why, in a sentence"),
        "evidence": free_object(),
    },
    answers={
        "judgmentId": "",
        "relationId": "string",
        "relation": "string",
        "status": "string",
        "idempotency_key": "string",
    },
    run=compare,
    needs=WRITES,
    writes=True,
)

CONFIRM_BATCH: Final = Tool(
    name="memory_confirm_batch",
    title="Confirm memories",
    about=(
        "Say that memories were checked and are right (affirm), or wrong (refute, with the reason). An affirmed one is "
        "no longer due; a refuted one is due until it is affirmed or replaced. A superseded id stands for its newest "
        "successor. All or nothing; each call adds a confirmation."
    ),
    takes={
        "ids": several(text(), 1, 20, required=True),
        "verdict": word("affirm", "refute", default="affirm"),
        "reason": text("With refute: why"),
    },
    answers={"confirmations": "array", "idempotency_key": "string"},
    run=confirm_batch,
    needs=WRITES,
    writes=True,
)
