"""What a life has committed: all rows of the store as they were at each position, taken from the writes themselves.

With it a state is judged at the price of one scan: whatever a crash leaves, it must be what the store was at one of its
positions, whole, to the byte. Whether those rows agree with each other is for `check` and verification to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import msgspec

from crash_tests.embedded.accounts import COMPANY_PARTITION, DESKS
from crash_tests.embedded.messages import (
    Activation,
    CredentialChange,
    Judgment,
    Memory,
    Message,
    Saving,
    Sent,
    Shown,
    Told,
)
from crash_tests.violation import Violation
from relatum.core import digests
from relatum.store import keys, rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, PartitionKeys, Table
from relatum.store.rocks import RocksStore

Rows = dict[bytes, bytes]
Proof = tuple[bytes, object]
"""What is in the store only if a command was carried out: a row's key, and what its row must say at least."""


class Reference:
    """The rows at each position, from those at which the life began. For one writer."""

    def __init__(self, begin: Rows) -> None:
        self.at: dict[int, Rows] = {}
        self.rows = dict(begin)
        """Those of the last write."""
        self._first: dict[Proof, int] = {}
        self._changed = self.rows
        self._take()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Every write to a store in this process is noted, inside the block."""
        write = RocksStore.write

        def noted(store: RocksStore, staged: Mapping[bytes, bytes | None]) -> None:
            write(store, staged)
            self._note(staged)

        with mock.patch.object(RocksStore, "write", noted):
            yield

    def floor(self, messages: Iterable[Message], sent: dict[str, Sent]) -> int:
        """The least position at which everything is there that was told. `sent` gets every command that was sent."""
        floor = 0
        for message in messages:
            match message:
                case Sent():
                    sent[message.id] = message
                case Told(receipt=receipt) if receipt is not None:
                    floor = max(floor, self._position_of(sent[message.id], msgspec.json.decode(receipt)))
                case Shown():
                    floor = max(floor, message.position)
                case _:
                    pass
        return floor

    def _note(self, staged: Mapping[bytes, bytes | None]) -> None:
        for key, row in staged.items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = self._changed[key] = row
        if keys.POSITION in staged or keys.FORMAT in staged:
            self._take()

    def _take(self) -> None:
        """The position has changed, with everything else since the last time."""
        position = position_of(self.rows)
        self.at[position] = dict(self.rows)
        for proof in _proofs(self._changed):
            self._first.setdefault(proof, position)
        self._changed = {}

    def _position_of(self, sent: Sent, receipt: Any) -> int:
        position = self._first.get(_proof_of(sent, receipt))
        if position is None:
            raise Violation(f"{sent.id} was acknowledged and never written")
        return position


def position_of(found: Mapping[bytes, bytes]) -> int:
    """The position that rows say they are at."""
    row = found.get(keys.POSITION)
    return 0 if row is None else rows.POSITION.decode(rows.unseal(keys.POSITION, row)).position


def _proofs(changed: Rows) -> Iterator[Proof]:
    for key, row in changed.items():
        if key.startswith(STORE_PREFIX):
            continue
        match key[PREFIX_BYTES]:
            case Table.EVENT | Table.CHECKPOINT_REVISION:
                yield key, None
            case Table.CREDENTIAL:
                yield key, rows.CREDENTIAL.decode(rows.unseal(key, row)).credential.revision
            case Table.HEAD:
                yield from ((key, stream) for stream in rows.HEAD.decode(rows.unseal(key, row)).streams)
            case _:
                pass


def _proof_of(sent: Sent, receipt: Any) -> Proof:
    match sent.ask:
        case Memory(desk=desk):
            return _keys(desk).event(receipt["commit_sequence"]), None
        case Judgment(desk=desk):
            return _keys(desk).event(receipt[-1]["sequence"]), None
        case Saving(desk=desk, stream=stream):
            saved = receipt["checkpoint"]
            subject = DESKS[desk].account.subject_id
            return _keys(desk).checkpoint_revision(stream, subject, saved["consumer_id"], saved["revision"]), None
        case Activation(desk=desk, stream=stream):
            return _keys(desk).head, stream
        case CredentialChange():
            own = PartitionKeys(digests.workspace_id(COMPANY_PARTITION))
            return own.credential(receipt["id"]), receipt["revision"]


def _keys(desk: int) -> PartitionKeys:
    return PartitionKeys(digests.workspace_id(DESKS[desk].partition))
