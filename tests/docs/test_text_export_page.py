"""docs/text-export.md shows what the program writes, and a root digest can be made from the pages alone."""

from __future__ import annotations

from blake3 import blake3

from relatum.core.kinds import LINK_TOKENS
from relatum.ledger.text_export import extract
from relatum.ledger.text_export.serializer import LINK_PREFIX
from tests.docs.pages import DOCS, blocks, table
from tests.docs.test_digests_page import digest
from tests.docs.text_example import example

PAGE = DOCS / "text-export.md"


def test_the_files_of_the_example_are_those_that_the_program_writes() -> None:
    shown = [block.code for block in blocks(PAGE, "text")]
    page = PAGE.read_text(encoding="utf-8")
    for path, text in example():
        assert text in shown
        assert path.rpartition("/")[2] in page


def test_the_root_digest_of_the_example_is_made_as_the_page_says() -> None:
    files = dict(example())
    manifest = files.pop("manifest.txt")
    counted, root = manifest.rsplit("root: ", 1)
    digests = {
        path: blake3(b"relatum/1/text-file\x00" + text.encode()).hexdigest()
        for path, text in (files | {"manifest.txt": counted}).items()
    }
    assert root.strip() == digest("relatum/1/text-export", digests)


def test_every_token_and_every_reason_is_listed() -> None:
    assert LINK_TOKENS == {row[0].strip("`"): row[1].strip("`") for row in table(PAGE, "Kind")}
    reasons = {value for name, value in vars(extract).items() if name.isupper() and isinstance(value, str)}
    reasons.remove(LINK_PREFIX)
    assert reasons == {row[0].strip("`") for row in table(PAGE, "Left out as")}
