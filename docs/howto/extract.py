"""Reads tickets, one JSON object a line, and writes what they say as records and claims; see write-memory.md.

Address, secret and scope come from `RELATUM_CLIENT_*` or a profile. Every command has a key made of its ticket, so the
program may be killed at any time, and started again from the first line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from relatum.client import Client, Provenance

SAYS = Provenance(origin="tool_observation", method="ticket import", method_revision="1", evidence_ref="unknown")


def main(path: Path) -> None:
    """Write every ticket of a file; what was written before is answered from its receipt."""
    with Client() as client, path.open(encoding="utf-8") as lines:
        memory = client.scope(provenance=SAYS)
        for ticket in map(json.loads, lines):
            name = f"ticket-{ticket['number']}"
            cause = memory.records.create(ticket["cause"], tags=[name], idempotency_key=f"{name}/cause")
            effect = memory.records.create(ticket["effect"], tags=[name], idempotency_key=f"{name}/effect")
            memory.relations.assert_("causal_claim", cause, effect, evidence_ref=name, idempotency_key=f"{name}/claim")
            print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
