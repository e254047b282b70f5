"""What goes wrong with a backup; messages are for the operator."""

from __future__ import annotations

from relatum.errors import Failure


class BackupFailed(Failure):
    """A backup can't be made."""


class BackupUnusable(Failure):
    """A backup is incomplete or damaged: nothing is restored from it."""
