"""A company's workspaces: their list, and the way into one of them (company.md).

A workspace is a partition as an administrator sees it. It is listed from its first record on, for ever; private ones
are too.
What always holds: nobody is told whether a workspace that is not the company's exists.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from relatum import limits
from relatum.core.answers.company import Workspace, WorkspacePage
from relatum.core.ids import Partition
from relatum.core.text import is_digest
from relatum.errors import Refusal, StorageInconsistency, invalid, missing
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView


class Entered(NamedTuple):
    """A workspace and what it holds."""

    workspace: Workspace
    reader: PartitionReader


def workspaces(view: LedgerView, company_id: str, limit: int | None, after: str | None) -> WorkspacePage | Refusal:
    """At most `limit` (1 to 100, default 25) workspaces after `after`, which need not exist. 400 if it is malformed."""
    if after is not None and not is_digest(after):
        return _MALFORMED
    entries_max = limit or limits.WORKSPACES_PAGE_DEFAULT
    found = [
        entered(view, company_id, workspace_id, partition).workspace
        for workspace_id, partition in islice(view.workspaces(company_id, after), entries_max + 1)
    ]
    page = tuple(found[:entries_max])
    return WorkspacePage(
        workspaces=page, next_after_workspace_id=page[-1].workspace_id if len(found) > entries_max else None
    )


def enter(view: LedgerView, company_id: str, workspace_id: str) -> Entered | Refusal:
    """One workspace of the company. 400 for a malformed id; an absent one and another company's are the same 404."""
    if not is_digest(workspace_id):
        return _MALFORMED
    partition = view.workspace(company_id, workspace_id)
    return missing() if partition is None else entered(view, company_id, workspace_id, partition)


def entered(view: LedgerView, company_id: str, workspace_id: str, partition: Partition) -> Entered:
    """A workspace that the company's list names. Raises StorageInconsistency where the list names another's."""
    reader = view.partition(partition)
    if partition.company_id != company_id or reader.workspace_id != workspace_id:
        raise StorageInconsistency("a workspace is listed under a foreign name")
    workspace = Workspace(
        workspace_id=workspace_id,
        company_id=company_id,
        scope=partition.scope,
        private_subject_id=partition.private_subject_id,
    )
    return Entered(workspace, reader)


_MALFORMED = invalid("a workspace id is 64 lower-case hex digits")
