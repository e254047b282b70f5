"""A directory of text held against its manifest: whole, unaltered, in the form in which it was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from relatum.core import digests
from relatum.core.ids import Partition
from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.files import read_folder
from relatum.ledger.text_export.manifest import MANIFEST_NAME, Manifest, manifest_from, manifest_of, root_of
from relatum.ledger.text_export.model import CarriedPartition, CarriedRecord
from relatum.ledger.text_export.parser import partition_from, record_from
from relatum.ledger.text_export.serializer import PARTITION_NAME, file_name, files_of


class Checked(Struct, frozen=True, kw_only=True):
    """An export that was read and is what its manifest says; `passed_over`: what lay between its files."""

    manifest: Manifest
    root: str
    partitions: list[CarriedPartition]
    passed_over: tuple[str, ...]


def checked(directory: Path) -> Checked:
    """The export in `directory`. Raises TextUnusable, with the file where it is known, and OSError."""
    data, files, passed_over = read_folder(directory)
    try:
        manifest, root = manifest_from(data)
    except TextUnusable as error:
        raise TextUnusable(f"{MANIFEST_NAME}: {error}") from error
    partitions = _partitions(files)
    _require_same_files(partitions, files)
    if root_of(manifest, {path: digests.text_digest(text) for path, text in files.items()}) != root:
        raise TextUnusable("the files are not those that the manifest was made of: something was altered")
    if manifest_of(partitions) != replace(manifest, left_out={}):
        raise TextUnusable("the files are not those that the manifest counts: something is missing, or too much")
    return Checked(manifest=manifest, root=root, partitions=partitions, passed_over=passed_over)


def _partitions(files: Mapping[str, bytes]) -> list[CarriedPartition]:
    partitions: dict[str, Partition] = {}
    records: dict[str, dict[str, CarriedRecord]] = {}
    for path, data in files.items():
        folder, _, name = path.partition("/")
        try:
            if name == PARTITION_NAME:
                partitions[folder] = _partition(folder, data)
            else:
                record = _record(name, data)
                records.setdefault(folder, {})[record.record_id] = record
        except TextUnusable as error:
            raise TextUnusable(f"{path}: {error}") from error
    if partitions.keys() != records.keys():
        raise TextUnusable(f"a folder without {PARTITION_NAME}, or with nothing else")
    return [CarriedPartition(partition=partitions[folder], records=records[folder]) for folder in sorted(partitions)]


def _partition(folder: str, data: bytes) -> Partition:
    partition = partition_from(data)
    if digests.workspace_id(partition) != folder:
        raise TextUnusable("the folder has the name of another partition")
    return partition


def _record(name: str, data: bytes) -> CarriedRecord:
    record = record_from(data)
    if file_name(record.record_id) != name:
        raise TextUnusable("the file has the name of another record")
    return record


def _require_same_files(partitions: list[CarriedPartition], files: Mapping[str, bytes]) -> None:
    """What was understood, written again, must be what was read: both ends of a relation say the same."""
    for carried in partitions:
        folder = digests.workspace_id(carried.partition)
        for name, data in files_of(carried):
            if files[f"{folder}/{name}"] != data:
                raise TextUnusable(f"{folder}/{name}: it is not as it was written, or another file disagrees with it")
