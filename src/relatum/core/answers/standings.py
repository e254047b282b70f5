"""The standing of a record as answered, beside the record (views.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.wire import Uuid

Outcome = Literal["affirmed", "refuted"]
"""What a confirmation may say."""

StandingAction = Literal["superseded", "reinstated", "archived", "unarchived", "pinned", "unpinned"]
"""What can happen to a standing, as the record stream tells it."""

StandingState = Literal["current", "superseded", "archived"]


class StandingView(Answer, frozen=True, kw_only=True):
    """A standing as answered, beside the record."""

    state: Open[StandingState]
    pinned: bool
    superseded_by: Uuid | None
    replaces: tuple[Uuid, ...]
