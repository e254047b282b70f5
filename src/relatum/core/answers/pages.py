"""What the pages of all queries have in common."""

from __future__ import annotations

from typing import Literal

StopReason = Literal["exhausted", "record_limit", "scan_limit", "byte_limit", "dependency_limit"]
