"""What the process tells, one JSON message a line, in the order in which it happened.

What always holds: `Sent` is written before its command is submitted; `Told` before the thread that got the outcome does
anything else; a batch's messages in one write each way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Literal

import msgspec
from msgspec import Struct

from crash_tests.history import Json
from relatum.core.cursors import CheckpointCommand
from relatum.core.streams import Stream

CredentialAction = Literal["bootstrap", "issue", "rotate", "revoke", "scope_authority"]


class Memory(Struct, frozen=True, kw_only=True, tag="memory", omit_defaults=True):
    """A command on records, relations or links, by the number of the desk it comes from.

    `hits` are the records that the search index is said to have found for a save; it may lie.
    """

    desk: int
    family: Literal["record", "relation", "link"]
    operation: Json
    hits: list[str] = []


class Judgment(Struct, frozen=True, kw_only=True, tag="judgment"):
    """A judgment command; verdicts on candidates come as a batch."""

    desk: int
    operation: Json


class Saving(Struct, frozen=True, kw_only=True, tag="saving"):
    """A checkpoint command."""

    desk: int
    stream: Stream
    command: CheckpointCommand


class Activation(Struct, frozen=True, kw_only=True, tag="activation"):
    """A stream is activated."""

    desk: int
    stream: Stream


class CredentialChange(Struct, frozen=True, kw_only=True, tag="credential"):
    """A credential is made, under a subject that no other has, or changed. Has no idempotency key."""

    action: CredentialAction
    subject_id: str = ""
    credential_id: str = ""
    expected_revision: int = 0


Ask = Memory | Judgment | Saving | Activation | CredentialChange


class Sent(Struct, frozen=True, kw_only=True, tag="sent"):
    """A command is about to be submitted. `id` is unique among all lives, and its idempotency key if it has one."""

    id: str
    ask: Ask


class Told(Struct, frozen=True, kw_only=True, tag="told"):
    """The outcome of a command, or the code of its refusal.

    `receipt` is the JSON of a receipt, credential or journal tip; of a judgment, of its events, one for each item.
    """

    id: str
    receipt: str | None = None
    refusal: str | None = None


class Opened(Struct, frozen=True, kw_only=True, tag="opened"):
    """The ledger is open: it exists from now on."""


class Shown(Struct, frozen=True, kw_only=True, tag="shown"):
    """What a view shows: the store's position, and by workspace id how many events there are and the last one's digest.

    Events are chained, so the digest stands for everything before it.
    """

    position: int
    heads: dict[str, tuple[int, str]]


class Unable(Struct, frozen=True, kw_only=True, tag="unable"):
    """The ledger said that it can't: the store was not opened, or a write failed. The life ends with it."""

    text: str


class Broken(Struct, frozen=True, kw_only=True, tag="broken"):
    """Something that must never happen did: a violation."""

    text: str


class Ended(Struct, frozen=True, kw_only=True, tag="ended"):
    """All commands of the plan are done, and the ledger is closed if it was to be."""


Message = Sent | Told | Opened | Shown | Unable | Broken | Ended

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


class Reporter:
    """Writes messages to a descriptor. For any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()

    def tell(self, *messages: Message) -> None:
        """Returns when all of it is in the pipe or file."""
        lines = memoryview(_ENCODER.encode_lines(messages))
        with self._lock:
            while lines:
                lines = lines[os.write(self._descriptor, lines) :]


def messages_in(told: bytes) -> Iterator[Message]:
    """The messages of whole lines; what follows the last line break was never said to its end."""
    lines: Iterable[bytes] = told.split(b"\n")[:-1]
    return map(_DECODER.decode, lines)
