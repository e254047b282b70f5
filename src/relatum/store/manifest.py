"""The manifest of a store: which table files it consists of, and where its write-ahead logs take over.

What lives here: `read_manifest`, which plays the engine's edits as far as opening needs to know them. What must not: a
judgement of the table files themselves, which the engine checks by size and checksum.

An edit is a sequence of entries, each a tag and what that tag says follows; integers are varints.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from relatum.errors import StoreUnavailable
from relatum.store.log_format import Beginning, LogScan, scan_records

EDIT_BYTES_MAX: Final = 32768  # a record is taken whole: no fragment is longer

_CURRENT = re.compile(rb"(MANIFEST-\d+)\n")
_LOG_NUMBER, _LAST_SEQUENCE, _DELETED_FILE, _CURSOR, _LOG_TO_KEEP, _NEW_FILE = 2, 4, 6, 5, 10, 103
_NUMBERS = frozenset({_LOG_NUMBER, 3, _LAST_SEQUENCE, 9, _LOG_TO_KEEP, 200, 203, 300})  # tags that an integer follows
_NAMES = frozenset({1, 201})  # tags that a name follows
_FLAGS = frozenset({202})  # tags that nothing follows
_IGNORABLE = 1 << 13  # of a tag that a name follows, whatever it is about
_NEW_FILE_END = 1

_NUMBER = rb"[\x80-\xff]{0,9}[\x00-\x7f]"
_LATER_EDIT = Beginning(
    re.compile(
        rb"(?<=\x00\x00)\x01"  # one without entries: its length is nothing
        rb"|[\x01\x02](?=\x01\x1a"  # the name of the order of keys, which has one length
        rb"|([\x02-\x04\x09\x0a])(?!" + _NUMBER + rb"\1)"  # a number, which no second one of its kind follows
        rb"|[\x05\x06g]|[\x80-\xff][\x01-\x03\x40])",  # files; tags of two bytes
        re.DOTALL,
    ),
    looked_at_bytes=12,
)
"""How an edit begins. Few places in a tail of equal bytes look like it: a checksum for each byte would take minutes."""


class Manifest(NamedTuple):
    """What a manifest says: rows up to number `last_row` are in table files, the rest in logs from `first_log` on."""

    path: Path
    content: bytes
    scan: LogScan
    first_log: int
    last_row: int


def read_manifest(directory: Path) -> Manifest | None:
    """The manifest that is in force in `directory`; None where it can't be found, of which the engine tells the reason.

    Raises OSError, and `StoreUnavailable` for an entry that this version does not know.
    """
    current = directory / "CURRENT"
    named = _CURRENT.fullmatch(current.read_bytes()) if current.is_file() else None
    path = directory / named.group(1).decode() if named else None
    if path is None or not path.is_file():
        return None
    content, edits = path.read_bytes(), _Edits()
    try:
        scan = scan_records(content, edits.accept, beginning_bytes=EDIT_BYTES_MAX, later=lambda: _LATER_EDIT)
    except (ValueError, IndexError) as error:
        raise StoreUnavailable(
            f"the manifest {path} has an entry of an unknown kind, of another version of the engine or with other "
            "settings. Nothing has been changed"
        ) from error
    return Manifest(path, content, scan, edits.first_log, edits.last_row)


class _Edits:
    """What the edits so far come to."""

    def __init__(self) -> None:
        self.first_log = 0
        self.last_row = 0

    def accept(self, edit: bytes) -> bool:
        entries = _Entries(edit)
        while entries.left:
            self._take(entries.integer(), entries)
        return True

    def _take(self, tag: int, entries: _Entries) -> None:
        if tag in _NUMBERS:
            self._number(tag, entries.integer())
        elif tag in _NAMES or tag & _IGNORABLE:
            entries.skip_name()
        elif tag == _DELETED_FILE:
            entries.skip_integers(2)
        elif tag == _CURSOR:
            entries.skip_integers(1)
            entries.skip_name()
        elif tag == _NEW_FILE:
            entries.skip_new_file()
        elif tag not in _FLAGS:
            raise ValueError("an unknown tag")

    def _number(self, tag: int, number: int) -> None:
        if tag in (_LOG_NUMBER, _LOG_TO_KEEP):
            self.first_log = max(self.first_log, number)
        elif tag == _LAST_SEQUENCE:
            self.last_row = max(self.last_row, number)


class _Entries:
    """An edit, read from its beginning to its end. Raises ValueError or IndexError where it ends too soon."""

    def __init__(self, edit: bytes) -> None:
        self._edit = edit
        self._at = 0

    @property
    def left(self) -> bool:
        return self._at < len(self._edit)

    def integer(self) -> int:
        value = shift = 0
        while True:
            byte = self._edit[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def skip_integers(self, count: int) -> None:
        for _ in range(count):
            self.integer()

    def skip_name(self) -> None:
        length = self.integer()
        self._at += length
        if self._at > len(self._edit):
            raise ValueError("a name that is too long")

    def skip_new_file(self) -> None:
        """Level, number, size; least and greatest key; numbers of the first and last row; then tagged particulars."""
        self.skip_integers(3)
        self.skip_name()
        self.skip_name()
        self.skip_integers(2)
        while self.integer() != _NEW_FILE_END:
            self.skip_name()
