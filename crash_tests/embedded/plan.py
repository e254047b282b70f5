"""What one life of the process is told."""

from __future__ import annotations

from msgspec import Struct

from relatum.store import rocks


class Plan(Struct, frozen=True, kw_only=True):
    """A life: everything is drawn from `seed`, which must be another one in each life on the same store."""

    seed: str
    commands: int
    """It ends after so many, if nothing ends it before."""
    threads: int = 3
    readers: int = 1
    """Threads that look at what is published, over and over, and tell it."""
    create: bool = True
    """Make a store where there is none."""
    close: bool = True
    """Close the ledger in the end; else the process just ends."""
    bug: str | None = None
    """A planted bug of crash_tests/bugs."""
    stop_at: str | None = None
    """A failpoint at which the process stops itself (SIGSTOP), having told what a reader would see there."""
    stop_number: int = 1
    """When it comes there for the so-manieth time."""
    watermark_lag: int = 0
    """By how many groups the watermark lags behind the answers."""
    write_buffer_bytes: int = rocks.WRITE_BUFFER_BYTES
    """A small one makes the engine flush and compact within a few hundred commands."""
