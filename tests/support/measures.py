"""Reading a ledger's own metrics, the way a monitor does: from the rendered text."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from relatum.ledger import Ledger


def measured(ledger: Ledger, sample: str, **labels: str) -> int:
    """The value of a sample such as `relatum_syncs_total`, summed over the labels that are not named."""
    text = ledger.metrics.render().decode()
    return int(
        sum(
            found.value
            for family in text_string_to_metric_families(text)
            for found in family.samples
            if found.name == sample and labels.items() <= found.labels.items()
        )
    )
