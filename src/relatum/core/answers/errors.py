"""The envelope of every refusal (transport.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

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


class Problem(Answer, frozen=True, kw_only=True):
    """The same as problem details (RFC 9457). `retryable`: the identical request may be sent again."""

    type: Annotated[str, Meta(description="`urn:relatum:problem:` and the code.")]
    title: Annotated[str, Meta(description="The code in words.")]
    status: int
    detail: Annotated[str, Meta(description="For people: where, what is missing, what is permitted.")]
    code: Open[Code]
    retryable: bool
    contract_version: Literal[1]
