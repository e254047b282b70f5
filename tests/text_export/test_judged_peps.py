"""The PEPs, judged: supersessions by verdict, and topics whose slot each newer PEP takes over. Mined edges stay out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.ledger import Ledger
from relatum.ledger.reads.standings import Standings
from relatum.ledger.text_export.importer import import_text
from tests.corpora.mapping import PEPS
from tests.judgments.peps import peps, supersessions
from tests.support.builders import PARTITION, PRIVATE
from tests.support.judging import JudgingDesk
from tests.support.stores import assert_rebuilds
from tests.text_export.carrying import empty_ledger, exported, files


def judged(ledger: Ledger) -> Counter[str]:
    """Every PEP saved, in the order of creation, and every supersession judged; how many verdicts were accepted."""
    desk, found = JudgingDesk(ledger), Counter[str]()
    records: dict[str, Ref] = {pep.name: desk.save(pep.content, title=pep.title) for pep in peps()}
    for edge in supersessions(set(records)):
        outcome = desk.compare(
            records[edge.source], records[edge.target], "supersedes", reason=f"{edge.source} says so"
        )
        found["accepted" if isinstance(outcome, JudgmentEvent) else "refused"] += 1
    return found


def by_topic(ledger: Ledger) -> int:
    """The PEPs that have a topic, each saved under it; how many took a slot over."""
    desk = JudgingDesk(ledger, PRIVATE)
    rows = [row for row in PEPS.rows("records") if row["topic"]]
    for row in rows:
        desk.save(row["title"], topic_key=row["topic"])
    return len(rows) - len({row["topic"] for row in rows})


def standings(ledger: Ledger) -> list[object]:
    with ledger.view() as view:
        readers = [view.partition(partition) for partition in (PARTITION, PRIVATE)]
        return [Standings(reader).of(one.meta.record_id) for reader in readers for one in reader.records()]


def test_judged_peps_come_back_with_every_standing(tmp_path: Path) -> None:
    with empty_ledger() as ledger, empty_ledger() as again:
        verdicts, takeovers = judged(ledger), by_topic(ledger)
        assert verdicts["accepted"] > 40
        assert takeovers > 50
        told = exported(ledger, tmp_path / "text")
        assert ({"memhtml-supersedes": verdicts["accepted"] + takeovers}, {}) == (
            told.manifest.relations,
            told.left_out,
        )
        import_text(again, tmp_path / "text")
        exported(again, tmp_path / "again")
        assert files(tmp_path / "text") == files(tmp_path / "again")
        assert standings(ledger) == standings(again)
        assert_rebuilds(again)


def test_mined_edges_change_nothing_in_the_text(tmp_path: Path) -> None:
    with empty_ledger() as ledger:
        desk = JudgingDesk(ledger)
        one, other = desk.save("one"), desk.save("other")
        exported(ledger, tmp_path / "before")
        edge = MinedEdge(source_id=one.record_id, target_id=other.record_id, kind="supports", weight=0.5)
        run = MiningRun(run_id="night", run_date="2024-01-01")
        assert 1 == ledger.mining.replace(PARTITION, run, [edge], finish=True)
        exported(ledger, tmp_path / "after")
        assert files(tmp_path / "before") == files(tmp_path / "after")
