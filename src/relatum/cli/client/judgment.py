"""`relatum judgment`: pairs that wait for a verdict, and verdicts."""

from __future__ import annotations

from typing import Any, get_args

import click

from relatum.cli.client.columns import CANDIDATES, text_of
from relatum.cli.client.output import Json, block
from relatum.cli.client.session import Session, body_of, given
from relatum.cli.client.statuses import Ended, Status, wrong
from relatum.cli.client.values import DOCUMENT, IDENTIFIER, Word, interactive
from relatum.cli.client.verb import verb
from relatum.core.answers.judgments import Status as CandidateStatus
from relatum.core.verdicts import Verdict
from relatum.limits import QUEUE_LIMIT_MAX

VERDICT = Word(get_args(Verdict), metavar="VERDICT")
_SKIP, _STOP = "skip", "stop"

reason_option = click.option("--reason", metavar="TEXT", help="Why.")
evidence_option = click.option("--evidence", type=DOCUMENT, help="What it rests on: any JSON.")


@click.group()
def judgment() -> None:
    """See which records may contradict each other, and judge them.

    \b
    Examples:
        relatum judgment list --all-ages
        relatum judgment give 0196f0a1-0000-7000-8000-000000000004 supersedes --reason "the newer one"
    """


@verb(judgment, "list")
@click.option("--status", type=Word(get_args(CandidateStatus)), help="pending unless told otherwise.")
@click.option("--all-ages", is_flag=True, help="The youngest too, which are offered to nobody yet.")
@click.option("--limit", type=click.IntRange(1, QUEUE_LIMIT_MAX), default=QUEUE_LIMIT_MAX, metavar="N", help="At most.")
def list_candidates(session: Session, status: str | None, all_ages: bool, limit: int) -> None:
    """List pairs that wait for a verdict with both their texts, the oldest first.

    \b
    Example:
        relatum judgment list --all-ages
    """
    answer = candidates(session, status, all_ages=all_ages, limit=limit)
    count = session.output.many(answer["candidates"], CANDIDATES)
    if answer["total"] > count:
        session.note(f"{count} of {answer['total']}")


def candidates(session: Session, status: str | None, *, all_ages: bool, limit: int) -> Json:
    """The answer of the queue, each candidate with the records at its ends, null where one is not served."""
    answer = session.read("judgments/query", status=status, min_age_millis=0 if all_ages else None, limit=limit)
    ids = sorted({one[end]["record_id"] for one in answer["candidates"] for end in ("source", "target")})
    batch = session.read("records/batch", record_ids=ids)["batch"] if ids else {"entries": []}
    records = {entry["record_id"]: entry["record"] for entry in batch["entries"]}
    for one in answer["candidates"]:
        one["source_record"] = records.get(one["source"]["record_id"])
        one["target_record"] = records.get(one["target"]["record_id"])
    return answer


@verb(judgment, "give", writes=True)
@click.argument("candidate", type=IDENTIFIER, required=False)
@click.argument("verdict", type=VERDICT, required=False)
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="X", help="0 to 1.")
@reason_option
@evidence_option
def give(session: Session, candidate: str | None, verdict: str | None, **members: Any) -> None:
    """Judge a pair. Without arguments, on a terminal: go through the queue, one by one.

    Verdicts: supersedes, conflicts_with, related, compatible, scoped, not_conflict; each said of the source.

    \b
    Example:
        relatum judgment give 0196f0a1-0000-7000-8000-000000000004 supersedes --reason "the newer one"
    """
    if candidate is None:
        if not interactive():
            raise wrong("give CANDIDATE and VERDICT; the queue can only be gone through on a terminal")
        session.no_reads_when_dry("give CANDIDATE and VERDICT")
        _go_through(session)
        return
    if verdict is None:
        raise wrong("give a VERDICT behind the candidate")
    session.output.one(_judged(session, session.key, {"candidate_id": candidate, "relation": verdict} | given(members)))


def _judged(session: Session, key: str, given_judgment: Json) -> Json:
    """The outcome of one verdict; refused, it ends the verb."""
    answer = session.command_under(key, "judgments/batch", judgments=[given_judgment])
    (result,) = answer["results"]
    if not result["ok"]:
        raise refusal(result)
    outcome: Json = result
    return outcome


def refusal(result: Json) -> Ended:
    """A refusal inside an answer that is not one itself."""
    from relatum.errors import STATUS

    return Ended(result["code"], result["message"], Status.REFUSED, status=STATUS.get(result["code"]))


def _go_through(session: Session) -> None:
    waiting = candidates(session, None, all_ages=True, limit=QUEUE_LIMIT_MAX)["candidates"]
    if not waiting:
        session.note("nothing waits for a verdict")
    words = click.Choice([*get_args(Verdict), _SKIP, _STOP])
    for number, one in enumerate(waiting, 1):
        click.echo(f"\n{number} of {len(waiting)}: {one['candidate_id']}", err=True)
        for end in ("source", "target"):
            there = one[f"{end}_record"]
            content = text_of(there) if there is None else there["input"]["content"]
            click.echo(f"{end}: {block(content)}", err=True)
        word = click.prompt("The source, to the target", type=words, default=_SKIP, err=True)
        if word == _STOP:
            return
        if word == _SKIP:
            continue
        try:
            key = f"{session.key}:{one['candidate_id']}"
            session.output.one(_judged(session, key, {"candidate_id": one["candidate_id"], "relation": word}))
        except Ended as ended:
            ended.show()


@verb(judgment, "compare", writes=True)
@click.argument("source_id", metavar="A", type=IDENTIFIER)
@click.argument("target_id", metavar="B", type=IDENTIFIER)
@click.argument("relation", type=VERDICT)
@click.option("--confidence", type=click.FloatRange(0, 1), required=True, metavar="X", help="0 to 1.")
@reason_option
@evidence_option
def compare(session: Session, **members: Any) -> None:
    """Judge two records that nothing has surfaced; the verdict is said of A.

    \b
    Example:
        relatum judgment compare $A $B compatible --confidence 0.9
    """
    answer = session.command("judgments/compare", **members)
    session.output.one(body_of(answer))


@verb(judgment, "sweep", writes=True)
def sweep(session: Session) -> None:
    """Orphan what has waited too long. Needs the capability to review.

    \b
    Example:
        relatum judgment sweep
    """
    answer = session.command("judgments/sweep")
    session.output.one(body_of(answer))


@verb(judgment, "undo", writes=True)
@click.argument("name", metavar="RUN|OPERATION", type=IDENTIFIER)
def undo(session: Session, name: str) -> None:
    """Take a sweep back: all of a run, or one operation of it.

    \b
    Example:
        relatum judgment undo 0196f0a1-0000-7000-8000-000000000005
    """
    session.output.one({"candidate_ids": _undone(session, name)["candidate_ids"]})


def _undone(session: Session, name: str) -> Json:
    from relatum.client import NotFound

    try:
        return session.command("judgments/undo", run_id=name)
    except NotFound:
        return session.command("judgments/undo", operation_id=name)
