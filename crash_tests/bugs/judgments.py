"""Bugs of saves, judgments, links and standings: a row of theirs that is forgotten, or a rule that is overlooked."""

from __future__ import annotations

from crash_tests.bugs.bug import Bug, Patch
from relatum.core.decide import promotions, relations
from relatum.core.events import Event, JudgmentEvent
from relatum.core.ids import Author, Ref
from relatum.core.links import StoredLink
from relatum.core.relations import StoredRelation
from relatum.core.state import PartitionState
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.projection import apply
from relatum.store.projection.staged_partition import Staging

_put = Staging.put
_receipt = apply._receipt


def put_without_candidate(staging: Staging, key: bytes, body: bytes) -> None:
    """A candidate is listed everywhere and is not there itself."""
    if key[PREFIX_BYTES] != Table.CANDIDATE:
        _put(staging, key, body)


def put_without_standing(staging: Staging, key: bytes, body: bytes) -> None:
    """A standing is told of and not kept."""
    if key[PREFIX_BYTES] != Table.STANDING:
        _put(staging, key, body)


def put_without_promotions(staging: Staging, key: bytes, body: bytes) -> None:
    """How many edges were promoted for a day stands in the events and nowhere else."""
    if key[PREFIX_BYTES] != Table.PROMOTED:
        _put(staging, key, body)


def receipt_but_of_judgments(staging: Staging, author: Author, key: str, event: Event, command_digest: str) -> None:
    """The key of a judgment leads nowhere."""
    if not isinstance(event, JudgmentEvent):
        _receipt(staging, author, key, event, command_digest)


def put_link_at_source(staging: Staging, link: StoredLink) -> None:
    """A link is found at one of its ends."""
    staging.put(staging.keys.link(link.source_id, link.target_id), rows.LINK.encode(link))


def leave_words(staging: Staging, record_id: str) -> None:
    """A deletion leaves what verdicts on the record have said."""


def relate_nothing(promoter: promotions._Promoter, one: Ref, other: Ref) -> bool:
    """Every pair is taken for one that nobody has related."""
    return False


def leave_standing(state: PartitionState, before: StoredRelation, after: StoredRelation) -> tuple[()]:
    """A verdict is taken back, and what it superseded stays superseded."""
    return ()


BUGS = (
    Bug(
        name="missing-candidate",
        help="candidates are listed and not kept",
        patches=(Patch(Staging, "put", put_without_candidate),),
    ),
    Bug(
        name="missing-standing",
        help="changes of a standing are told and not kept",
        patches=(Patch(Staging, "put", put_without_standing),),
    ),
    Bug(
        name="promotion-not-counted",
        help="promotions are told and not counted for their day",
        patches=(Patch(Staging, "put", put_without_promotions),),
    ),
    Bug(
        name="related-overlooked",
        help="a promotion relates what is related already",
        patches=(Patch(promotions._Promoter, "_are_related", relate_nothing),),
    ),
    Bug(
        name="missing-judgment-receipt",
        help="the idempotency key of a judgment is not written",
        patches=(Patch(apply, "_receipt", receipt_but_of_judgments),),
    ),
    Bug(
        name="link-at-one-end",
        help="links are written under one of their ends",
        patches=(Patch(apply, "put_link", put_link_at_source),),
    ),
    Bug(
        name="words-kept",
        help="a deletion does not erase what verdicts have said",
        patches=(Patch(apply, "erase_words", leave_words),),
    ),
    Bug(
        name="standing-without-cause",
        help="what a verdict superseded stays so when it is taken back",
        patches=(Patch(relations, "standing_effects", leave_standing),),
    ),
)
