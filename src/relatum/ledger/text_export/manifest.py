"""The manifest of an export: how much of what it has, and a digest of everything.

The digest covers every line of every file: those of the manifest too, but for the line of the digest itself.

What always holds: the manifest tells of what is carried and of nothing else, so equal memory has an equal root,
whatever the store held besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from relatum.core import digests
from relatum.core.kinds import LINK_TOKENS
from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.grammar import Entry, Fields, read, whole, written
from relatum.ledger.text_export.model import CarriedPartition
from relatum.ledger.text_export.serializer import FORMAT

MANIFEST_NAME: Final = "manifest.txt"

Counts = dict[str, int]
LeftOut = dict[str, Counts]
"""What was left out: why, and how many of each kind."""


class Manifest(Struct, frozen=True, kw_only=True):
    """Counts of what is carried; records by type, relations by token, links by kind.

    `left_out` stands in manifests that were made when they still told of it, and is read and never written anew.
    """

    files: int
    partitions: int
    records: Counts
    relations: Counts
    links: Counts
    left_out: LeftOut = {}


def manifest_of(partitions: Iterable[CarriedPartition]) -> Manifest:
    """The manifest of what is carried."""
    records, relations, links = Counter[str](), Counter[str](), Counter[str]()
    count = 0
    for carried in partitions:
        count += 1
        for record in carried.records.values():
            records[record.input.type or "memory"] += 1
            relations.update(LINK_TOKENS[relation.kind] for relation in record.relations)
            links.update(link.kind for link in record.links)
    return Manifest(
        files=count + records.total(),
        partitions=count,
        records=_sorted(records),
        relations=_sorted(relations),
        links=_sorted(links),
    )


def _sorted(counts: Mapping[str, int]) -> Counts:
    return {name: counts[name] for name in sorted(counts)}


def root_of(manifest: Manifest, files: Mapping[str, str]) -> str:
    """The root digest of a manifest and of the digests of the files by their paths."""
    return digests.text_root({**files, MANIFEST_NAME: digests.text_digest(written(_counts(manifest)))})


def text_of(manifest: Manifest, root: str) -> bytes:
    """The bytes of the manifest's file."""
    return written([*_counts(manifest), Entry("root", root)])


def _counts(manifest: Manifest) -> Iterator[Entry]:
    yield Entry("relatum-export", FORMAT)
    yield Entry("files", str(manifest.files))
    yield Entry("partitions", str(manifest.partitions))
    for name, counts in (
        ("records", manifest.records),
        ("relations", manifest.relations),
        ("links", manifest.links),
    ):
        yield Entry(name, str(sum(counts.values())), (), _members(counts))
    for why, counts in manifest.left_out.items():
        yield Entry("left-out", why, (), _members(counts))


def _members(counts: Counts) -> tuple[Entry, ...]:
    return tuple(Entry(name, str(number)) for name, number in counts.items())


def manifest_from(data: bytes) -> tuple[Manifest, str]:
    """The manifest of a file, and the root digest that it names."""
    fields = Fields(read(data))
    if fields.required("relatum-export") != FORMAT:
        raise TextUnusable(f"the export is of a version that this program does not know; it knows {FORMAT}")
    manifest = Manifest(
        files=whole("files", fields.required("files")),
        partitions=whole("partitions", fields.required("partitions")),
        records=_numbers(fields.one("records")),
        relations=_numbers(fields.one("relations")),
        links=_numbers(fields.one("links")),
        left_out={entry.value or "": _numbers(entry) for entry in fields.all("left-out")},
    )
    root = fields.required("root")
    fields.require_nothing_else()
    if text_of(manifest, root) != data:
        raise TextUnusable("the manifest is not as it was written")
    return manifest, root


def _numbers(entry: Entry | None) -> Counts:
    if entry is None:
        raise TextUnusable("the manifest is not as it was written")
    return {member.name: whole(member.name, member.value or "") for member in entry.members}
