"""The columns that tables of records, relations and the like have."""

from __future__ import annotations

from typing import Final

from relatum.cli.client.output import ID_CELLS, TIME_CELLS, Column, Json, local, shown


def text_of(record: Json | None) -> str:
    """What a record says, on one line: its title, else its content."""
    given = (record or {}).get("input")
    return "(deleted)" if given is None else str(given.get("title") or given["content"])


def ref(value: Json) -> str:
    """A reference as it is given on the command line."""
    return f"{value['record_id']}@{value['revision']}"


def disposition(item: Json) -> str:
    """The current disposition of a record or relation."""
    review = item.get("review")
    return "-" if review is None else str(review["disposition"])


REF_CELLS: Final = ID_CELLS + 3

RECORDS: Final = (
    Column("RECORD", ID_CELLS, lambda one: one["record_id"]),
    Column("REV", 4, lambda one: one["revision"]),
    Column("MODIFIED", TIME_CELLS, lambda one: local(one["modified_at_millis"])),
    Column("TEXT", 60, text_of),
)
ANNOTATED: Final = (
    Column("RECORD", ID_CELLS, lambda one: one["record"]["record_id"]),
    Column("REV", 4, lambda one: one["record"]["revision"]),
    Column("STANDING", 10, lambda one: one["standing"]["state"]),
    Column("RELATIONS", 9, lambda one: one["relations_total"]),
    Column("TEXT", 60, lambda one: text_of(one["record"])),
)
RELATIONS: Final = (
    Column("RELATION", ID_CELLS, lambda one: one["relation_id"]),
    Column("REV", 4, lambda one: one["revision"]),
    Column("KIND", 17, lambda one: one["input"]["kind"]),
    Column("STATE", 7, lambda one: one["state"]),
    Column("REVIEW", 10, disposition),
    Column("FROM", ID_CELLS, lambda one: ref(one["input"]["source"])),
    Column("TO", ID_CELLS, lambda one: ref(one["input"]["target"])),
)
JUDGED_RELATIONS: Final = (
    Column("RELATION", ID_CELLS, lambda one: one["relation"]["relation_id"]),
    Column("REV", 4, lambda one: one["relation"]["revision"]),
    Column("KIND", 17, lambda one: one["relation"]["input"]["kind"]),
    Column("COUNTS", 25, lambda one: one["eligibility"]["reason"]),
    Column("FROM", ID_CELLS, lambda one: ref(one["relation"]["input"]["source"])),
    Column("TO", ID_CELLS, lambda one: ref(one["relation"]["input"]["target"])),
)
RECEIPTS: Final = (
    Column("ID", ID_CELLS, lambda one: one.get("record_id") or one.get("relation_id") or one.get("source_id")),
    Column("REV", 4, lambda one: one.get("revision")),
    Column("ACTION", 12, lambda one: one.get("action")),
    Column("COMMITTED", TIME_CELLS, lambda one: local(one["committed_at_millis"])),
    Column("SEQUENCE", 10, lambda one: one.get("commit_sequence")),
)
RECORD_HISTORY: Final = (
    Column("REV", 4, lambda one: one["record"]["revision"]),
    Column("ACTION", 12, lambda one: one["receipt"]["action"]),
    Column("COMMITTED", TIME_CELLS, lambda one: local(one["receipt"]["committed_at_millis"])),
    Column("BY", 16, lambda one: one["receipt"]["author"]["subject_id"]),
    Column("TEXT", 60, lambda one: text_of(one["record"])),
)
RELATION_HISTORY: Final = (
    Column("REV", 4, lambda one: one["relation"]["revision"]),
    Column("ACTION", 12, lambda one: one["receipt"]["action"]),
    Column("COMMITTED", TIME_CELLS, lambda one: local(one["receipt"]["committed_at_millis"])),
    Column("BY", 16, lambda one: one["receipt"]["author"]["subject_id"]),
    Column("EVIDENCE", 40, lambda one: one["receipt"]["evidence_ref"]),
)
STATUSES: Final = (
    Column("RECORD", ID_CELLS, lambda one: one["record_id"]),
    Column("STATUS", 10, lambda one: one["status"]),
    Column("CONTESTED", 9, lambda one: one["contested_count"]),
    Column("REASONS", 60, lambda one: "; ".join(shown(reason) for reason in one["reasons"]) or "-"),
)
DUE: Final = (
    Column("RECORD", ID_CELLS, lambda one: one["record"]["record_id"] if "record" in one else one["record_id"]),
    Column("WHY", 60, lambda one: {name: value for name, value in one.items() if name not in {"record", "record_id"}}),
)
CANDIDATES: Final = (
    Column("CANDIDATE", ID_CELLS, lambda one: one["candidate_id"]),
    Column("STATUS", 8, lambda one: one["status"]),
    Column("SINCE", TIME_CELLS, lambda one: local(one["created_at_millis"])),
    Column("SOURCE", 40, lambda one: text_of(one["source_record"])),
    Column("TARGET", 40, lambda one: text_of(one["target_record"])),
)
CREDENTIALS: Final = (
    Column("CREDENTIAL", ID_CELLS, lambda one: one["id"]),
    Column("REV", 4, lambda one: one["revision"]),
    Column("SUBJECT", 16, lambda one: one["spec"]["subject_id"]),
    Column(
        "REVOKED", TIME_CELLS, lambda one: "-" if one["revoked_at_millis"] is None else local(one["revoked_at_millis"])
    ),
    Column("CAPABILITIES", 60, lambda one: one["spec"]["capabilities"]),
)
