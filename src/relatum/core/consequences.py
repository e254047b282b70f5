"""What a command does besides what its family says: one command is one event, whatever it brings about.

A save that takes a topic slot asserts a relation and supersedes a record; a verdict that replaces another retires its
relation; a retired verdict gives a record its standing back. All of it stands in the event of that one command.
"""

from __future__ import annotations

from relatum.core.candidates import CandidateChange
from relatum.core.commands import RelationOperation
from relatum.core.receipts import RelationReceipt
from relatum.core.records import Proof
from relatum.core.standings import Confirmation, StandingChange
from relatum.core.wire import Sparse, Uuid


class RelationPart(Sparse, frozen=True, kw_only=True):
    """What a command of another family does to a relation, as if it were a command of its own.

    A relation that is asserted so is a verdict unless it is `plain`: the candidate that it closes and how sure somebody
    was go with it.
    """

    relation_id: Uuid
    operation: RelationOperation
    receipt: RelationReceipt
    candidate_id: Uuid | None = None
    confidence: float | None = None
    plain: bool = False


class Consequences(Sparse, frozen=True, kw_only=True):
    """What a command does besides what its family says, in this order.

    `words` is the proof of a verdict's reason and evidence, whose row lies under the event's sequence.
    """

    relations: tuple[RelationPart, ...] = ()
    standings: tuple[StandingChange, ...] = ()
    candidates: tuple[CandidateChange, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    words: Proof | None = None
