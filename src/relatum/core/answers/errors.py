"""The envelope of every refusal (transport.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.errors import Code


class ErrorDetail(Answer, frozen=True, kw_only=True):
    """What went wrong: `code` for programs, `message` for people."""

    code: Open[Code]
    message: str


class ErrorAnswer(Answer, frozen=True, kw_only=True):
    """The body of every error."""

    contract_version: Literal[1]
    error: ErrorDetail
