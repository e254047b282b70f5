"""A ranked block for a model's prompt, in three tiers (views.md, context).

    pinned    the pinned records, newest pin first: always there
    matched   records that match the prompt or are tied to one that does, best score first
    rest      the others, best score first, in at most a quarter of the budget

Here: the block and what is answered beside it. Which records there are, and in which order, stands in
context_ranking.py. Records are read as they come into the block, and no others.
"""

from __future__ import annotations

from collections.abc import Collection

from relatum.core.answers.context import Context, ContextEntry
from relatum.core.context_records import Surroundings
from relatum.core.ids import uuid_bytes
from relatum.ledger.reads.context_block import Block
from relatum.ledger.reads.context_ranking import Ranking
from relatum.ledger.reads.context_work import WANTED_DEFAULT, Wanted
from relatum.ledger.reads.standings import Standings
from relatum.limits import CONTEXT_CHARACTERS_DEFAULT
from relatum.store.partition import PartitionReader


def context(
    partition: PartitionReader,
    now_millis: int,
    around: Surroundings,
    budget_characters: int = CONTEXT_CHARACTERS_DEFAULT,
    shown: Collection[str] = (),
    wanted: Wanted = WANTED_DEFAULT,
) -> Context:
    """A block of at most `budget_characters`, and the work that is `wanted`.

    `around` is what the search index knows of the partition.
    """
    ranking = Ranking(partition, now_millis, around, frozenset(map(uuid_bytes, shown)))
    block, standings = Block(budget_characters, ranking.look, ranking.mark), Standings(partition)
    block.add_pinned(ranking.pinned())
    block.add_matched(ranking.matched())
    if block.has_room:
        block.add_rest(ranking.rest())
    due, work = ranking.due(), ranking.work(wanted)
    pending_judgments, due_records = work.pending_judgments(), work.due_records(due)
    return Context(
        block=block.text,
        entries=tuple(
            ContextEntry(
                record_id=meta.record_id,
                revision=meta.revision,
                tier=ranked.tier,
                score=round(ranked.score, 6),
                standing=standings.of(meta.record_id),
            )
            for ranked, meta in block.added
        ),
        left_out=ranking.left_out(added.ranked for added in block.added),
        pending_candidates=ranking.pending_candidates(),
        needs_review=len(due),
        pending_judgments=pending_judgments,
        due_records=due_records,
        coverage=ranking.coverage(is_cut=block.is_cut),
    )
