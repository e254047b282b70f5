"""Whatever a record or a relation can hold comes back, to the last character and the last bit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from relatum import limits
from relatum.core.commands import CreateRecord
from relatum.core.ids import Author, Scope, memory_partition
from relatum.core.records import RecordInput, RecordProvenance
from relatum.core.relations import Model, Provenance
from relatum.core.text import is_blank
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.text_export.importer import import_text
from tests.support import builders
from tests.support.desk import Desk
from tests.support.steps import reached
from tests.text_export.carrying import empty_ledger, exported, files

WILD = st.characters(codec="utf-8")
TEXT = st.text(WILD, max_size=40)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12).filter(
    lambda s: not is_blank(s)
)
NUMBERS = st.integers(limits.I64_MIN, limits.U64_MAX) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MILLIS = st.none() | st.integers(limits.I64_MIN, limits.I64_MAX)
SOURCES = st.builds(RecordProvenance, source_id=NAMES, source_hash=st.none() | NAMES, source_revision=st.none() | NAMES)
RECORDS = st.builds(
    RecordInput,
    content=st.text(WILD, min_size=1, max_size=80).filter(lambda text: not is_blank(text)),
    type=st.sampled_from(("memory", "person", "session", "task")),
    title=st.none() | st.text(WILD, max_size=20),
    data=st.none() | st.dictionaries(TEXT, JSON, max_size=4),
    tags=st.lists(st.text(WILD, min_size=1, max_size=8), max_size=4, unique=True).map(tuple),
    category=st.none() | NAMES,
    topic_key=st.none() | NAMES,
    fact_key=st.none() | NAMES,
    provenance=st.none() | SOURCES,
    confidence=st.none() | st.floats(0, 1),
    event_time_millis=MILLIS,
    valid_until_millis=MILLIS,
)
PROVENANCES = st.builds(
    Provenance,
    origin=st.just("model_inference"),
    method=NAMES,
    method_revision=NAMES,
    evidence_ref=NAMES,
    model=st.builds(Model, provider=NAMES, model=NAMES, revision=NAMES),
)


def comes_back(ledger: Ledger) -> None:
    """Exports, imports, exports again; and everything is as it was, in the files and in the ledger."""
    with tempfile.TemporaryDirectory() as place, empty_ledger() as again:
        first, second = Path(place) / "first", Path(place) / "second"
        exported(ledger, first)
        import_text(again, first)
        exported(again, second)
        assert files(first) == files(second)
        assert _payloads(ledger) == _payloads(again)


def _payloads(ledger: Ledger) -> list[Any]:
    with ledger.view() as view:
        readers = [view.partition(partition) for partition in view.partitions()]
        found = [(one.meta.record_id, one.meta.facts, r.payload(one.meta)) for r in readers for one in r.records()]
        relations = [
            (one.relation.relation_id, one.relation.input.provenance) for r in readers for one in r.relations()
        ]
        return [*found, *relations]


@settings(max_examples=40)
@given(RECORDS)
def test_any_payload_comes_back(record: RecordInput) -> None:
    with empty_ledger() as ledger:
        desk = Desk(ledger)
        outcome = desk.submit(CreateRecord(record=record))
        if not isinstance(outcome, Refusal):
            comes_back(ledger)


@settings(max_examples=15)
@given(PROVENANCES, st.none() | st.integers(limits.I64_MIN, 0))
def test_any_provenance_comes_back(provenance: Provenance, valid_from: int | None) -> None:
    with empty_ledger() as ledger:
        desk = Desk(ledger)
        one, other = desk.create("one"), desk.create("other")
        desk.relate(one, other, provenance=provenance, valid_from_millis=valid_from, evidence_sources=(desk.create(),))
        comes_back(ledger)


@settings(max_examples=15)
@given(NAMES, NAMES, NAMES)
def test_any_partition_comes_back(project: str, agent: str, subject: str) -> None:
    with empty_ledger() as ledger:
        scope = Scope(project_id=project, agent_id=agent, mission_id=subject, visibility="private")
        partition = memory_partition("acme", subject, scope)
        author = Author(credential_id=builders.unknown_id(), subject_id=subject)
        reached(Desk(ledger, partition, author).accept(builders.create()))
        comes_back(ledger)


def test_a_content_of_the_greatest_length_comes_back() -> None:
    with empty_ledger() as ledger:
        desk = Desk(ledger)
        for unit in ("\x01", "夢", "a\n", " "):
            desk.create("x" + unit * ((limits.CONTENT_BYTES_MAX - 1) // len(unit.encode())))
        comes_back(ledger)
