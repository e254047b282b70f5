"""Relations on the ledger: assert, change, read, link (mcp.md, tools; relations.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from relatum.core.answers.records import Disposition
from relatum.core.answers.relations import Origin
from relatum.core.kinds import REGISTRY
from relatum.mcp.budget import fitted
from relatum.mcp.calls import Call
from relatum.mcp.fields import Field, digits, flag, instant, of, several, text, word
from relatum.mcp.refusals import ToolRefused, invalid
from relatum.mcp.shapes import pinned, ref, relation
from relatum.mcp.tool import KEY, MAX_TOKENS, READS, WRITES, Answer, Arguments, Tool
from relatum.mcp.tools.memory import TRIES, given, with_hint

LINKS: Final[Mapping[str, str]] = {
    "supersedes": "supersedes",
    "contradicts": "contradicts",
    "caused_by": "caused_by",
    "leads_to": "leads_to",
    "part_of": "part_of",
    "relates_to": "semantic_related",
    "example_of": "example_of",
    "supports": "supports",
    "laterally_related": "laterally_related",
}
"""What `memory_link` takes, and the kinds they stand for."""


async def assert_relation(call: Call, arguments: Arguments) -> Answer:
    """State that one record relates to another."""
    return await _asserted(call, arguments, arguments["kind"])


async def link(call: Call, arguments: Arguments) -> Answer:
    """The same in fewer words."""
    answer = await _asserted(call, arguments, LINKS[arguments["rel"]])
    return {name: answer[name] for name in ("ok", "id", "revision")}


async def _asserted(call: Call, arguments: Arguments, kind: str) -> Answer:
    key = arguments.get("idempotency_key")
    made = key is None
    if key is None:
        key, receipt = await call.repeatable("relation", lambda found: _stands(call, found))
        if receipt is not None:
            return await _found(call, receipt)
    fixed = "source_revision" in arguments and "target_revision" in arguments and "evidence_ids" not in arguments
    for left in reversed(range(TRIES)):
        said = await _input(call, arguments, kind)
        operation = {"type": "assert", "relation": said}
        try:
            answer = await call.command("relations/commands", key, operation=operation)
        except ToolRefused as refused:
            if made and refused.code == "idempotency_conflict":  # the same call at once, an end reviewed in between
                receipt = await call.receipt("relation", key)
                if receipt is not None:
                    return await _found(call, receipt)
            if fixed or not left or refused.code != "revision_conflict":
                raise
            continue
        receipt = answer["receipt"]
        return _told(receipt, said)
    raise AssertionError("the last try answers or raises")


async def _input(call: Call, arguments: Arguments, kind: str) -> dict[str, Any]:
    """The relation as it is asserted: what has no revision is named at the one it has now."""
    ends, evidence = (arguments["source_id"], arguments["target_id"]), arguments.get("evidence_ids") or []
    revisions = (arguments.get("source_revision"), arguments.get("target_revision"))
    wanted = [one for one, revision in zip(ends, revisions, strict=True) if revision is None]
    current = await current_refs(call, [*wanted, *evidence])
    source, target = (
        current[one] if revision is None else {"record_id": one, "revision": revision}
        for one, revision in zip(ends, revisions, strict=True)
    )
    found: dict[str, Any] = {
        "source": source,
        "target": target,
        "kind": kind,
        "provenance": call.provenance(arguments),
        "evidence_sources": [current[one] for one in evidence],
    }
    for name in ("valid_from", "valid_until"):
        if name in arguments:
            found[f"{name}_millis"] = arguments[name]
    return found


async def current_refs(call: Call, ids: list[str]) -> Mapping[str, dict[str, Any]]:
    """Records at the revisions that they have now, by the ids as given. Raises ToolRefused for one not served."""
    if not ids:
        return {}
    distinct = list(dict.fromkeys(ids))
    batch = (await call.read("records/batch", record_ids=distinct))["batch"]
    found = {}
    for one, entry in zip(distinct, batch["entries"], strict=True):
        if entry["record"] is None:
            raise ToolRefused("record_not_found", f"no such memory: number {ids.index(one) + 1} of those to be named")
        found[one] = pinned(entry["record"])
    return found


async def _stands(call: Call, receipt: Mapping[str, Any]) -> bool:
    return await _current(call, receipt["relation_id"]) is not None


async def _current(call: Call, relation_id: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = (await call.read("relations/read", relation_id=relation_id))["relation"]
    except ToolRefused as refused:
        if refused.code == "record_not_found":
            return None
        raise
    return found


async def _found(call: Call, receipt: Mapping[str, Any]) -> Answer:
    """The answer to a call that was made before, as it was answered then."""
    stored = await _current(call, receipt["relation_id"])
    if stored is None:
        raise ToolRefused("revision_conflict", "the relation that this call made was retired or rejected meanwhile")
    return _told(receipt, stored["input"])


def _told(receipt: Mapping[str, Any], said: Mapping[str, Any]) -> Answer:
    return {
        "ok": True,
        "id": receipt["relation_id"],
        "revision": str(receipt["revision"]),
        "kind": said["kind"],
        "source": ref(said["source"]),
        "target": ref(said["target"]),
    }


async def change(call: Call, arguments: Arguments) -> Answer:
    """Retire, restore or review a relation."""
    action = arguments["action"]
    if (action == "review") != ("disposition" in arguments):
        raise invalid("disposition: must be given with the action review, and with no other")
    operation = {
        "type": action,
        "relation_id": arguments["id"],
        "expected_revision": arguments["expected_revision"],
        "evidence_ref": arguments["evidence"],
        **given(arguments, "disposition"),
    }
    receipt = (await call.command("relations/commands", call.fresh_key(), operation=operation))["receipt"]
    state = {"retire": "retired", "restore": "active"}.get(action)
    if state is None:  # a review leaves it as it is
        found = await call.read("relations/inspect", relation_id=receipt["relation_id"])
        state = found["inspection"]["relation"]["state"]
    return {"ok": True, "id": receipt["relation_id"], "revision": str(receipt["revision"]), "state": state}


async def get(call: Call, arguments: Arguments) -> Answer:
    """Relations by id, in order."""
    entries = [await relation_shape(call, one, why=arguments["why"]) for one in arguments["ids"]]
    return with_hint(fitted({"ok": True}, "relations", entries, arguments["max_tokens"] - 40))


async def relation_shape(call: Call, relation_id: str, *, why: bool) -> dict[str, Any]:
    """One relation as it is answered; with `why`, one that is not served too, and why it is not."""
    if not why:
        found = await _current(call, relation_id)
        return {"id": relation_id, "status": "not_found"} if found is None else relation(found)
    try:
        inspection = (await call.read("relations/inspect", relation_id=relation_id))["inspection"]
    except ToolRefused as refused:
        if refused.code == "record_not_found":
            return {"id": relation_id, "status": "not_found"}
        raise
    judged = inspection["eligibility"]
    return {**relation(inspection["relation"]), "eligible": judged["eligible"], "reason": judged["reason"]}


_ASSERTED: Final = {
    "id": "string",
    "revision": "string",
    "kind": "string",
    "source": "object",
    "target": "object",
    "idempotency_key": "string",
}
_ENDS: Final[dict[str, Field]] = {"source_id": text(required=True), "target_id": text(required=True)}

ASSERT: Final = Tool(
    name="relation_assert",
    title="Assert a relation",
    about=(
        "State on the ledger that one record relates to another, with evidence: an identifier of what shows it. Both "
        "are named at exact revisions, the current ones unless given; when a record changes, the relation is no longer "
        "served. The same call within 10 minutes is done once; later it adds another."
    ),
    takes={
        **_ENDS,
        "kind": word(*REGISTRY, required=True),
        "evidence": text("What shows it", required=True),
        "source_revision": digits(),
        "target_revision": digits(),
        "origin": word(*get_args(Origin)),
        "method": text(),
        "method_revision": text(),
        "model": of({name: text(required=True) for name in ("provider", "model", "revision")}),
        "valid_from": instant("RFC 3339"),
        "valid_until": instant("RFC 3339"),
        "evidence_ids": several(text(), 0, 16, "Records it was concluded from"),
        "idempotency_key": KEY,
    },
    answers=_ASSERTED,
    run=assert_relation,
    needs=WRITES,
    writes=True,
)

CHANGE: Final = Tool(
    name="relation_change",
    title="Change a relation",
    about=(
        "Retire a relation that no longer holds, restore a retired one, or review one (with a disposition; needs the "
        "capability to review). Names the revision that you have read, so that nothing is changed unseen."
    ),
    takes={
        "id": text(required=True),
        "action": word("retire", "restore", "review", required=True),
        "expected_revision": digits("The one you read", required=True),
        "evidence": text("What it rests on", required=True),
        "disposition": word(*get_args(Disposition), about="With review"),
    },
    answers={"id": "string", "revision": "string", "state": "string", "idempotency_key": "string"},
    run=change,
    needs=(("memory_read", "memory_write"), ("memory_read", "memory_review")),
    writes=True,
    repeats=True,
)

GET: Final = Tool(
    name="relation_get",
    title="Read relations",
    about=(
        "Read relations by id, in order. With why also those that are not served, and the reason (needs the "
        "capability to review)."
    ),
    takes={
        "ids": several(text(), 1, 20, required=True),
        "why": flag("Say whether each is eligible, and why not"),
        "max_tokens": MAX_TOKENS,
    },
    answers={"relations": "array", "left_out": "integer"},
    run=get,
    needs=READS,
)

LINK: Final = Tool(
    name="memory_link",
    title="Link two memories",
    about=(
        "State that one memory relates to another, without more ado: relation_assert in three words. The same call "
        "within 10 minutes is done once; later it adds another."
    ),
    takes={**_ENDS, "rel": word(*LINKS, required=True), "idempotency_key": KEY},
    answers={"id": "string", "revision": "string", "idempotency_key": "string"},
    run=link,
    needs=WRITES,
    writes=True,
)
