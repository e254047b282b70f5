"""The projection: which rows an accepted event touches, written once.

The writer stages rows through it as it accepts commands; a rebuild arrives at the same rows from the events alone.
"""

from relatum.store.projection.apply import Decision, project
from relatum.store.projection.staged_partition import Staging

__all__ = ["Decision", "Staging", "project"]
