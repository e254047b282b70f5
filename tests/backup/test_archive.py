"""An image as a stream of bytes: whoever unpacks it has all of it, or an error."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.store.backup.archive import packed, unpacked
from relatum.store.backup.backup_errors import BackupFailed
from relatum.store.backup.file_copy import CHUNK_BYTES
from relatum.store.backup.image_contents import Contents, FileSize, is_path_of_a_store
from relatum.store.file_maintenance import Image
from relatum.store.rows import Position

FILES = {
    "engine/000007.sst": bytes(range(256)) * 2_500,
    "engine/000009.log": b"",
    "engine/CURRENT": b"MANIFEST-000001\n",
    "engine/OPTIONS-000011": b"x" * 512,
    "watermark": b"w" * 8_192,
}
POSITION = Position(position=3, committed_at_millis=5, digest=b"d" * 32)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    directory = tmp_path_factory.mktemp("image")
    (directory / "engine").mkdir()
    for name, content in FILES.items():
        (directory / name).write_bytes(content)
    return Image(directory, POSITION)


def taken(chunks: Iterator[bytes]) -> tuple[Contents, dict[str, bytes]]:
    source = unpacked(chunks)
    return source.contents, {path: b"".join(parts) for path, parts in source.chunks}


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def archive_of(members: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    """A tar archive that somebody else made; the first member is as it should be."""
    sizes = tuple(FileSize(path=path, bytes=len(content)) for path, content in members.items())
    contents = msgspec.json.encode(Contents(position=3, digest="00", files=sizes))
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in {"image.json": contents, **members}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.type = tarfile.REGTYPE if name == "image.json" else kind
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def test_what_is_packed_is_unpacked(image: Image) -> None:
    contents, files = taken(packed(image))
    assert FILES == files
    assert (3, POSITION.digest.hex()) == (contents.position, contents.digest)
    assert {path: len(content) for path, content in FILES.items()} == {one.path: one.bytes for one in contents.files}
    assert sum(map(len, FILES.values())) == contents.bytes


def test_it_is_a_tar_archive_like_any_other(image: Image) -> None:
    with tarfile.open(fileobj=io.BytesIO(b"".join(packed(image)))) as archive:
        assert ["image.json", *FILES] == archive.getnames()


def test_no_chunk_is_large(image: Image) -> None:
    assert max(map(len, packed(image))) <= CHUNK_BYTES


@given(size=st.integers(1, 20_000))
def test_it_may_arrive_in_pieces_of_any_size(image: Image, size: int) -> None:
    assert FILES == taken(in_pieces(b"".join(packed(image)), size))[1]


@given(data=st.data())
def test_an_archive_that_ends_early_is_an_error(image: Image, data: st.DataObject) -> None:
    whole = b"".join(packed(image))
    end = data.draw(st.integers(0, len(whole) - 1 - 1_024))
    with pytest.raises(BackupFailed):
        taken(in_pieces(whole[:end], 4_096))


@given(junk=st.binary(max_size=3_000))
def test_something_else_is_an_error(junk: bytes) -> None:
    with pytest.raises(BackupFailed):
        taken(iter([junk]))


@pytest.mark.parametrize(
    "path",
    ["../watermark", "/etc/passwd", "engine/../../x", "engine/a/b", "other", "engine/", "engine/.hidden", "engine\\x"],
)
def test_no_path_leads_out_of_the_directory(path: str) -> None:
    assert not is_path_of_a_store(path)
    with pytest.raises(BackupFailed):
        taken(iter([archive_of({path: b"x"})]))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_nothing_but_files_is_taken(kind: bytes) -> None:
    with pytest.raises(BackupFailed):
        taken(iter([archive_of({"watermark": b""}, kind)]))


def test_files_that_are_not_those_that_were_told_are_an_error(image: Image) -> None:
    whole = b"".join(packed(image))
    for told, found in ((b"000007", b"000008"), (b'"bytes":16', b'"bytes":17')):
        assert told in whole[:4_096]
        with pytest.raises(BackupFailed):
            taken(iter([whole.replace(told, found, 1)]))
