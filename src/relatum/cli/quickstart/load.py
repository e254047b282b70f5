"""The corpus over HTTP, as batches of commands: records, then their real revisions, then what they say of each other.

Relations come last because a relation names its ends at exact revisions: asserted earlier, the next revision of an end
would hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import click

from relatum.cli.quickstart.api import Api, Json
from relatum.cli.quickstart.corpus import Corpus, Statement
from relatum.limits import COMMAND_BATCH_MAX

Progress = Callable[[str, int, int], None]
"""Is told what is loaded, how much of it is done, and how much there is."""


class Loaded(NamedTuple):
    """Where the corpus lies: each PEP's record at its current revision, each statement's relation."""

    records: dict[str, Json]
    relations: dict[Statement, str]


def load(writer: Api, corpus: Corpus, progress: Progress) -> Loaded:
    """Loads the corpus. Its keys are always the same, so that a second run would replay and change nothing."""
    created = _send(writer, "records", "records", list(_creations(corpus)), progress)
    records = {pep: receipt["record_id"] for pep, receipt in zip(corpus.revisions, created, strict=True)}
    _send(writer, "records", "revisions", list(_revisions(corpus, records)), progress)
    refs = {pep: {"record_id": record_id, "revision": len(corpus.revisions[pep])} for pep, record_id in records.items()}
    asserted = _send(writer, "relations", "relations", list(_assertions(corpus, refs)), progress)
    relations = [receipt["relation_id"] for receipt in asserted]
    return Loaded(refs, dict(zip(corpus.statements, relations, strict=True)))


def _creations(corpus: Corpus) -> Iterator[Json]:
    for pep, inputs in corpus.revisions.items():
        yield _command(f"peps/{pep}/1", {"type": "create", "record": inputs[0]})


def _revisions(corpus: Corpus, records: dict[str, str]) -> Iterator[Json]:
    for pep, inputs in corpus.revisions.items():
        for known, record in enumerate(inputs[1:], start=1):
            operation = {
                "type": "revise",
                "record_id": records[pep],
                "expected_revision": known,
                "record": record,
            }
            yield _command(f"peps/{pep}/{known + 1}", operation)


def _assertions(corpus: Corpus, refs: dict[str, Json]) -> Iterator[Json]:
    for statement in corpus.statements:
        relation = {
            "source": refs[statement.source],
            "target": refs[statement.target],
            "kind": statement.kind,
            "provenance": {
                "origin": "imported_assertion",
                "method": "pep-header",
                "method_revision": "1",
                "evidence_ref": statement.evidence_ref,
            },
        }
        yield _command(statement.idempotency_key, {"type": "assert", "relation": relation})


def _command(key: str, operation: Json) -> Json:
    return {"idempotency_key": key, "operation": operation}


def _send(writer: Api, family: str, what: str, commands: Sequence[Json], progress: Progress) -> list[Json]:
    """Sends commands in their order; their receipts. Ends the tour where one is refused: all of them are sound."""
    receipts: list[Json] = []
    for start in range(0, len(commands), COMMAND_BATCH_MAX):
        batch = commands[start : start + COMMAND_BATCH_MAX]
        for result in writer.memory(f"{family}/commands/batch", commands=batch).expect(200)["results"]:
            if "error" in result:
                raise click.ClickException(f"a command of the corpus was refused: {result['error']['message']}")
            receipts.append(result["receipt"])
        progress(what, len(receipts), len(commands))
    return receipts
