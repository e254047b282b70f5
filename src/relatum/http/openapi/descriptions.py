"""What members mean and which bounds they have, by name: the part of the contract that their types alone don't say.

One name means one thing throughout the contract, so one table serves every schema. Lengths of strings are in UTF-8
bytes, which JSON Schema can't count; the `maxLength` given is the same number of characters and lets no valid text
out. Bounds here document static rules: the ledger checks them itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from relatum import limits
from relatum.core.kinds import REGISTRY

Schema = dict[str, Any]


def _text(bytes_max: int, words: str, bytes_min: int = 1) -> Schema:
    span = f"{bytes_min} to {bytes_max}" if bytes_min else f"at most {bytes_max}"
    return {"minLength": bytes_min, "maxLength": bytes_max, "description": f"{words}; {span} UTF-8 bytes."}


def _name(bytes_max: int, words: str) -> Schema:
    schema = _text(bytes_max, words)
    schema["description"] += " Not blank, no control characters."
    return schema


def _identifier(words: str) -> Schema:
    return _name(limits.IDENTIFIER_BYTES_MAX, f"{words}: an opaque, case-sensitive identifier")


def _method(words: str) -> Schema:
    return _name(limits.METHOD_BYTES_MAX, words)


_EVIDENCE: Final = _name(limits.EVIDENCE_REF_BYTES_MAX, "A reference to evidence; it is never fetched")
_CURSOR: Final[Schema] = {"description": "Opaque; good for the same partition, filter and order, whatever the limits."}
_END_TITLE: Final[Schema] = {
    "description": "The title of one end; null where there is none, or the end is not eligible."
}
_END_SNIPPET: Final[Schema] = {
    "maxLength": limits.END_SNIPPET_CHARACTERS_MAX,
    "description": "How the content of one end begins; null where the end is not eligible.",
}

STRINGS: Final[dict[str, Schema]] = {
    "company_id": _identifier("The company"),
    "subject_id": _identifier("The subject, a person or a program"),
    "project_id": _identifier("The project"),
    "mission_id": _identifier("The mission; null is the missionless scope"),
    "agent_id": _identifier("The agent"),
    "private_subject_id": _identifier("The subject whose private partition it is; null for a shared one"),
    "reporter": _identifier("The subject that asserted"),
    "author": _identifier("The subject that wrote the present content"),
    "category": _identifier("The category"),
    "topic_key": _identifier("A slot that one record of the partition holds at a time"),
    "fact_key": _identifier("A group of records that are compared"),
    "idempotency_key": _name(limits.KEY_BYTES_MAX, "The client's name for a command; a repetition is answered alike"),
    "consumer_id": _name(limits.CONSUMER_BYTES_MAX, "The name of a consumer of a change feed"),
    "method": _method("How the statement came about"),
    "method_revision": _method("The revision of the method"),
    "provider": _method("Who provides the model"),
    "model": _method("The model"),
    "revision": _method("The revision of the model"),
    "evidence_ref": _EVIDENCE,
    "reconciliation_evidence": _EVIDENCE,
    "source_id": _name(limits.EVIDENCE_REF_BYTES_MAX, "Where the content came from"),
    "source_hash": _name(limits.EVIDENCE_REF_BYTES_MAX, "A hash of the source"),
    "source_revision": _name(limits.EVIDENCE_REF_BYTES_MAX, "The revision of the source"),
    "content": _text(limits.CONTENT_BYTES_MAX, "The text of the record, not blank"),
    "title": _text(limits.TITLE_BYTES_MAX, "A title", 0),
    "tags": _text(limits.TAG_BYTES_MAX, "A tag"),
    "tag": {"description": "Records that carry this tag."},
    "text": {"description": "Sought in titles and contents, whatever the case."},
    "ids": _identifier("A selected one"),
    "stream": {"description": "The stream to which the cursor belongs."},
    "cursor": _CURSOR,
    "next_cursor": _CURSOR,
    "secret": {"pattern": "^rtm1_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$", "description": "The bearer token; shown this once."},
    "preview": {"maxLength": limits.PREVIEW_CHARACTERS_MAX, "description": "How the other end begins."},
    "block": {"description": "Text for a model's prompt, within the budget."},
    "prompt": {"description": "What the model is about to work on."},
    "kind": {"description": "The kind of the relation, or of the link."},
    "run_id": _identifier("The miner's name for its run"),
    "current_source_hash": _name(limits.EVIDENCE_REF_BYTES_MAX, "The hash that the source has now"),
    "source_title": _END_TITLE,
    "target_title": _END_TITLE,
    "source_snippet": _END_SNIPPET,
    "target_snippet": _END_SNIPPET,
    "snippet": {"maxLength": limits.SNIPPET_CHARACTERS_MAX, "description": "How the content begins; null once erased."},
    "reason": {"maxLength": limits.REASON_CHARACTERS_MAX, "description": "Why, in words."},
    "message": {"description": "For people. Programs branch on the status and the code."},
    "version": {"description": "The version of the server."},
}

_U64: Final[Schema] = {"minimum": 0, "maximum": limits.U64_MAX}
INTEGERS: Final[dict[str, Schema]] = {
    "contract_version": {"const": limits.CONTRACT_VERSION},
    "status": {"minimum": 400, "maximum": 599, "description": "The status of the command alone."},
}

NUMBERS: Final[dict[str, Schema]] = {
    "confidence": {"minimum": 0, "maximum": 1},
    "similarity": {"minimum": 0, "maximum": 1},
    "weight": {"minimum": 0, "maximum": 1},
    "score": {"minimum": -1_000, "maximum": 1_000_000, "description": "Good for comparison within one answer."},
}

ARRAYS: Final[dict[str, Schema]] = {
    "tags": {"maxItems": limits.TAGS_MAX, "uniqueItems": True},
    "sources": {"minItems": 1, "maxItems": limits.DERIVATION_SOURCES_MAX, "uniqueItems": True},
    "evidence_sources": {"maxItems": limits.EVIDENCE_SOURCES_MAX, "uniqueItems": True},
    "record_ids": {"minItems": 1, "maxItems": limits.RECORD_BATCH_MAX, "uniqueItems": True},
    "commands": {"minItems": 1, "maxItems": limits.COMMAND_BATCH_MAX},
    "capabilities": {"minItems": 1, "uniqueItems": True},
    "grants": {"maxItems": limits.GRANTS_MAX, "uniqueItems": True},
    "ids": {"maxItems": limits.POLICY_IDS_MAX, "uniqueItems": True},
    "judgments": {"minItems": 1, "maxItems": limits.JUDGMENTS_MAX},
    "confirmations": {"minItems": 1, "maxItems": limits.CONFIRMATIONS_MAX},
    "visibilities": {"minItems": 1, "maxItems": 2, "uniqueItems": True},
}

_PLAIN: Final = {"type", "title", "default", "description"}
_CHAPTER: Final = re.compile(r" \([a-z]+\.md[^)]*\)")
"""Where the code names the chapter of the contract that it implements; a client does not have it at hand."""


def refine(components: dict[str, Schema]) -> None:
    """Complete the schemas in place: every string and integer gets what its name means, unless its type said it.

    Answers are closed like everything else here, whatever a client that decodes them passes over.
    """
    for schema in components.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
        if "description" in schema:
            schema["description"] = _CHAPTER.sub("", schema["description"])
        for name, member in schema.get("properties", {}).items():
            for part in _parts(member):
                _refine(name, part)
    asserted = components["RelationInput"]["properties"]["kind"]
    asserted["description"] = " ".join(f"`{kind}`: {row.says}" for kind, row in REGISTRY.items())


def _parts(schema: Schema) -> Iterator[Schema]:
    """A member's schema, its alternatives, and the items of arrays."""
    yield schema
    for part in (*schema.get("anyOf", ()), *([schema["items"]] if isinstance(schema.get("items"), dict) else ())):
        yield from _parts(part)


def _refine(name: str, schema: Schema) -> None:
    match schema.get("type"):
        case "string" if schema.keys() <= _PLAIN:
            schema.update(STRINGS.get(name, {}))
        case "integer" if not {"minimum", "const"} & schema.keys():
            schema.update(INTEGERS.get(name, _U64))
        case "number":
            schema.update(NUMBERS.get(name, {}))
        case "array":
            schema.update({bound: value for bound, value in ARRAYS.get(name, {}).items() if bound not in schema})
        case _:
            pass
