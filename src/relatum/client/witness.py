"""A consumer's own memory of how far it has come: what tells a restored store from the one it has followed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from relatum.client.errors import ConfigurationError
from relatum.core.streams import Cursor


@runtime_checkable
class Witness(Protocol):
    """Keeps one cursor where a restore of the store doesn't reach."""

    def load(self) -> Cursor | None:
        """The cursor last saved; None before the first."""
        ...

    def save(self, cursor: Cursor) -> None:
        """Keep a cursor in the place of the one before."""
        ...


class FileWitness:
    """A witness in a file of its owner's, replaced whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Cursor | None:
        """The cursor of the file. Raises ConfigurationError where the file holds none."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Cursor)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, ValueError) as error:
            raise ConfigurationError(f"the witness {self._path} is no cursor that can be read") from error

    def save(self, cursor: Cursor) -> None:
        """Write the cursor beside the file, make sure of it, and put it in the file's place."""
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(opened, msgspec.json.encode(cursor) + b"\n")
            os.fsync(opened)
        finally:
            os.close(opened)
        beside.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def witness_of(given: str | os.PathLike[str] | Witness) -> Witness:
    """A witness, or the file of one."""
    return given if isinstance(given, Witness) else FileWitness(Path(given))
