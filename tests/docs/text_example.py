"""The export behind the example of docs/text-export.md: a ledger with a fixed clock and fixed randomness.

`python -m tests.docs.text_example` prints the blocks for the page. A test holds the page to them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from relatum.clock import ManualClock
from relatum.core.commands import AssertRelation, CreateRecord
from relatum.core.ids import Author, Ref, Scope, memory_partition
from relatum.core.links import Link
from relatum.core.receipts import RecordReceipt
from relatum.core.records import RecordInput, RecordProvenance
from relatum.core.relations import Provenance, RelationInput
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.text_export.exporter import export
from tests.docs.digest_vectors import START_MILLIS, CountedEntropy

ADA = Author(credential_id="018bcfe5-6800-7000-8000-00000000000a", subject_id="ada")
PARTITION = memory_partition("acme", "ada", Scope(project_id="atlas", agent_id="scout", visibility="shared"))


def example() -> Iterator[tuple[str, str]]:
    """Path and text of every file of the example."""
    clock = ManualClock(START_MILLIS)
    with tempfile.TemporaryDirectory() as place, Ledger.in_memory(clock=clock, entropy=CountedEntropy()) as ledger:
        _write(ledger, clock)
        with ledger.view() as view:
            export(view, Path(place) / "text")
        for path in sorted((Path(place) / "text").rglob("*.txt")):
            yield str(path.relative_to(Path(place) / "text")), path.read_text(encoding="utf-8")


def _write(ledger: Ledger, clock: ManualClock) -> None:
    cause = RecordInput(
        content="The cable of rack 4 was pulled out.\n\tSeen at 10:15.\n",
        title="Rack 4",
        data={"rack": 4, "seen_by": ["ada", "夢"]},
        tags=("incident",),
        provenance=RecordProvenance(source_id="incident-17"),
        confidence=0.75,
    )
    first = _create(ledger, "cause", cause)
    clock.advance(1000)
    second = _create(ledger, "effect", RecordInput(content="The build server was unreachable."))
    said = Provenance(
        origin="human_statement", method="incident-review", method_revision="1", evidence_ref="incident-17"
    )
    relation = RelationInput(source=first, target=second, kind="causal_claim", provenance=said)
    link = Link(source_id=second.record_id, target_id=first.record_id, kind="related")
    for key, operation in (("claim", AssertRelation(relation=relation)), ("link", link)):
        outcome = ledger.submit(ledger.command(PARTITION, ADA, key, operation))
        assert not isinstance(outcome, Refusal), outcome


def _create(ledger: Ledger, key: str, record: RecordInput) -> Ref:
    receipt = ledger.submit(ledger.command(PARTITION, ADA, key, CreateRecord(record=record)))
    assert isinstance(receipt, RecordReceipt), receipt
    return Ref(record_id=receipt.record_id, revision=receipt.revision)


if __name__ == "__main__":
    for path, text in example():
        sys.stdout.write(f"{path}\n\n```text\n{text}```\n\n")
