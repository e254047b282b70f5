"""What an administrator is shown of the company: its credentials, and the consumers of both streams."""

from __future__ import annotations

from crash_tests.history import STREAMS, Json, Stream
from crash_tests.simulation.observations import STREAM_NAMES, Story
from crash_tests.violation import Violation, require_same
from relatum.core.company import ConsumersQuery
from relatum.errors import Refusal
from relatum.ledger.reads import consumers, credentials
from relatum.store.view import LedgerView

_LIMIT = 2


def check_administration(view: LedgerView, story: Story) -> None:
    """Every list, page by page, against what the events have told."""
    _check_credentials(view, story)
    for stream in STREAMS:
        _check_consumers(view, story, stream)


def _check_credentials(view: LedgerView, story: Story) -> None:
    reader, after = view.partition(story.company.partition), None
    found: dict[str, int] = {}
    while True:
        page = credentials.page(reader, _LIMIT, after)
        found |= {one.id: one.revision for one in page.credentials}
        after = page.next_after
        if after is None:
            break
    require_same("the credentials of the company, and their revisions", story.badges.revisions, found)


def _check_consumers(view: LedgerView, story: Story, stream: Stream) -> None:
    found: dict[tuple[str, str, str], Json] = {}
    cursor = None
    while True:
        query = ConsumersQuery(stream=STREAM_NAMES[stream], limit=_LIMIT, cursor=cursor)
        page = consumers.page(view, story.company.partition.company_id, query)
        if isinstance(page, Refusal):
            raise Violation(f"the consumers of the company were refused: {page}")
        for one in page.consumers:
            shown = {"revision": one.revision, "sequence": one.sequence, "pending": one.pending_positions}
            found[one.workspace_id, one.subject_id, one.consumer_id] = shown
        cursor = page.next_cursor
        if cursor is None:
            break
    expected: dict[tuple[str, str, str], Json] = {}
    for chapter in story.chapters.values():
        workspace_id = view.partition(chapter.partition).workspace_id
        for owner, checkpoint in chapter.saved.items():
            if owner.stream == stream:
                sequence = checkpoint["cursor"]["sequence"]
                pending = len(chapter.told[stream]) - sequence
                shown = {"revision": checkpoint["revision"], "sequence": sequence, "pending": pending}
                expected[workspace_id, owner.desk.account.subject_id, owner.consumer_id] = shown
    require_same(f"the consumers of {stream}s", expected, found)
