# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""Curated links (views.md)."""

from __future__ import annotations

from typing import Final, Unpack

from relatum.client.blocking.group import Group
from relatum.client.requests import MEMORY, VERSION, CommandOptions
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.commands import LinkCommandAnswer
from relatum.core.answers.receipts import LinkKind, LinkReceipt
from relatum.core.ids import Scope
from relatum.core.links import Link, LinkCommand, LinkOperation, Unlink

_PATH: Final = f"{MEMORY}/links/commands"


class Links(Group):
    """Links that people tend: they pin no revision, and a pair has at most one."""

    def link(
        self, source_id: RecordAt | str, target_id: RecordAt | str, kind: LinkKind, **options: Unpack[CommandOptions]
    ) -> LinkReceipt:
        """Link two records, or give the link of the pair another kind and direction. Raises RevisionConflict."""
        return self._operate(Link(source_id=id_of(source_id), target_id=id_of(target_id), kind=kind), options)

    def unlink(
        self, source_id: RecordAt | str, target_id: RecordAt | str, **options: Unpack[CommandOptions]
    ) -> LinkReceipt:
        """Take the link of a pair away."""
        return self._operate(Unlink(source_id=id_of(source_id), target_id=id_of(target_id)), options)

    def _operate(self, operation: LinkOperation, options: CommandOptions) -> LinkReceipt:
        def body(scope: Scope, key: str) -> LinkCommand:
            return LinkCommand(contract_version=VERSION, scope=scope, idempotency_key=key, operation=operation)

        return (self._command(_PATH, "link", body, LinkCommandAnswer, options)).receipt
