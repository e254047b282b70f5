"""What is submitted and what is answered can be said in bytes, and is equal on the other side of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from relatum.company import IssuedCredential
from relatum.core import digests
from relatum.core.access import CredentialSpec
from relatum.core.commands import DeleteRecord, SaveRecord
from relatum.core.cursors import Advance, CheckpointCommand, Cursor
from relatum.core.judgments import Comparing, Comparison
from relatum.core.links import Link
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.core.receipts import RecordReceipt
from relatum.core.streams import RECORDS
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support.builders import ADA, PARTITION, SCOPE, assertion, record
from tests.support.desk import Desk, reached
