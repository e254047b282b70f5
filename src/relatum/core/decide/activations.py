"""Activation of a change stream (feeds.md, journals): idempotent, always the original baseline."""

from __future__ import annotations

from typing import NamedTuple

from relatum.core import digests, journal
from relatum.core.changes import JournalHead
from relatum.core.decide.event_envelope import linked
from relatum.core.events import ActivationEvent, Stamp
from relatum.core.ids import uuid7
from relatum.core.state import PartitionState
from relatum.core.streams import Stream


class ActivationDecision(NamedTuple):
    """A stream that is active from now on: its event and the journal's tip, which is its baseline."""

    event: ActivationEvent
    tip: JournalHead


def decide(state: PartitionState, stream: Stream, stamp: Stamp) -> ActivationDecision | None:
    """Activates `stream`; None where it is active already, and nothing is to be written."""
    head = state.head()
    if stream in head.streams:
        return None
    journal_id = uuid7(stamp.at_millis, digests.draw(stamp.entropy, "journal", 10))
    event = ActivationEvent(stream=stream, journal_ids={stream: journal_id}, **linked(head, state.partition, stamp))
    return ActivationDecision(event, journal.opened(state.workspace_id, stream, journal_id))
