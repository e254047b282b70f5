"""Where a server takes what only its operator may ask for."""

from __future__ import annotations

from typing import Final

IMAGE_PATH: Final = "/operator/v1/backup"
COMPACT_PATH: Final = "/operator/v1/compact"
