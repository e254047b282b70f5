"""A text whose digests were made anew is held to the rules of commands like any client: nothing of it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relatum.core import digests
from relatum.ledger import Ledger
from relatum.ledger.text_export.export_errors import ImportRefused, TextUnusable
from relatum.ledger.text_export.importer import import_text
from relatum.ledger.text_export.manifest import MANIFEST_NAME
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.text_export.carrying import empty_ledger, exported, files


@pytest.fixture
def text(ledger: Ledger, tmp_path: Path) -> Path:
    """Three records, a verdict with its reason, a relation and a topic."""
    desk, judging = Desk(ledger), JudgingDesk(ledger)
    one, two = judging.save("one", topic_key="first"), judging.save("two", topic_key="second")
    judging.compare(one, two, "supersedes", reason="because", evidence={"seen": 1})
    desk.relate(desk.create("three"), one, "supports")
    exported(ledger, tmp_path / "text")
    return tmp_path / "text"


def seal(text: Path) -> None:
    """Gives a text that was altered a root digest that fits."""
    counted = (text / MANIFEST_NAME).read_bytes().rpartition(b"root: ")[0]
    found = {path: digests.text_digest(data) for path, data in (files(text) | {MANIFEST_NAME: counted}).items()}
    (text / MANIFEST_NAME).write_bytes(counted + f"root: {digests.text_root(found)}\n".encode())


def replaced(old: str, new: str) -> Callable[[Path], None]:
    """A forger who writes something else wherever something stands."""

    def forge(text: Path) -> None:
        for path in sorted(text.rglob("*.txt")):
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    return forge


def _without_lines(*beginnings: str) -> Callable[[Path], None]:
    """A forger who takes lines out, and the blocks below them."""

    def forge(text: Path) -> None:
        for path in sorted(text.rglob("*.txt")):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if not line.startswith(beginnings)]
            path.write_text("".join(kept), encoding="utf-8")

    return forge


FORGERIES = {
    "a reason that is too long": (replaced("reason: because", f"reason: {'x' * 2_001}"), "reason must be at most"),
    "a confidence beyond 1": (replaced("confidence: 0.75", "confidence: 1.5"), "confidence must lie between"),
    "a method that is blank": (replaced("method: judgment", r"method: \u{20}"), "method"),
    "an evidence nested too deep": (replaced('"seen": 1', '"seen": ' + "[" * 70 + "]" * 70), "can't be understood"),
    "a blank content": (replaced("|three", r"|\u{20}"), "was refused: content"),
    "a topic twice": (replaced("topic-key: second", "topic-key: first"), "was refused|no order|two records hold"),
    "a kind of other types": (replaced("type: memory", "type: task"), "was refused|counts"),
    "an author without a name": (replaced("a ada", r"a \u{20}"), "identifier"),
    "no credential": (replaced("00000000-0000-4000-8000-00000000000a", "somebody"), "can't be understood"),
    "a kind that no verdict has": (replaced("memhtml-supersedes", "memhtml-part-of"), "no verdict has|counts"),
    "a standing without its cause": (replaced("superseded-by: ", "superseded-by: 0"), "can't be understood"),
    "a standing that nothing brings about": (
        _without_lines("  verdict", "  confidence", "  reason", "  |"),
        "not what is written",
    ),
    "a verdict that supersedes nothing": (_without_lines("superseded-by"), "not what is written"),
    "an unknown word": (replaced("origin: tool_observation", "origin: hearsay"), "a word that is not known"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_text_is_refused_before_anything_is_written(text: Path, name: str) -> None:
    forge, said = FORGERIES[name]
    before = files(text)
    forge(text)
    assert before != files(text)
    seal(text)
    with empty_ledger() as ledger:
        with pytest.raises((TextUnusable, ImportRefused), match=said):
            import_text(ledger, text)
        with ledger.view() as view:
            assert [] == list(view.partitions())


def test_a_seal_alone_changes_nothing(text: Path) -> None:
    before = files(text)
    seal(text)
    assert before == files(text)
