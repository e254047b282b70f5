"""`relatum credential` and `relatum whoami`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click

from relatum.cli.client.columns import CREDENTIALS
from relatum.cli.client.output import Json
from relatum.cli.client.session import Session, given
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import JSON_FILE, MOMENT, REFERENCE, RecordAt, Word
from relatum.cli.client.verb import verb
from relatum.core.answers.access import Capability
from relatum.limits import CREDENTIALS_PAGE_MAX

_OWNER_ONLY = 0o600

secret_out_option = click.option(
    "--secret-out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A new file that the secret goes to instead, readable by its owner alone.",
)


@click.group()
def credential() -> None:
    """Issue, list, rotate and revoke the company's credentials. Needs the capability credential_admin.

    \b
    Examples:
        relatum credential issue worker --can memory_read --can memory_write --project demo --agent extractor
        relatum credential list
    """


@verb(credential, "issue", writes=True, keyed=False)
@click.argument("subject_id", metavar="SUBJECT", required=False)
@click.option("--can", "capabilities", type=Word(get_args(Capability)), multiple=True, help="May be given again.")
@click.option("--expires", "expires_at_millis", type=MOMENT, help="When it ends.")
@click.option("--json", "whole", type=JSON_FILE, help="The whole spec, for several grants or a policy.")
@secret_out_option
def issue(session: Session, subject_id: str | None, whole: Any, secret_out: Path | None, **members: Any) -> None:
    """Issue a credential to SUBJECT in the scope of the options. Prints the secret, this once.

    \b
    Examples:
        relatum credential issue worker --can memory_read --can memory_write --project demo --agent extractor
        relatum credential issue ops --can credential_admin --secret-out ops.secret
    """
    spec = _spec(session, subject_id, members) if whole is None else whole
    if whole is not None and subject_id is not None:
        raise wrong("give either --json or a SUBJECT")
    _with_secret(session, secret_out, lambda: session.once("credentials", spec=spec))


def _spec(session: Session, subject_id: str | None, members: Json) -> Json:
    if subject_id is None or not members["capabilities"]:
        raise wrong("give a SUBJECT and what it can: --can memory_read")
    scoped = any(one.startswith("memory_") for one in members["capabilities"])
    grants = [session.scope_of_options()] if scoped else []
    return {"subject_id": subject_id, "grants": grants} | given(members)


@verb(credential, "list", scoped=False)
def list_credentials(session: Session) -> None:
    """List the company's credentials by their ids, revoked ones too.

    \b
    Example:
        relatum credential list -o json | jq -r .spec.subject_id
    """
    session.output.many(_credentials(session), CREDENTIALS)


def _credentials(session: Session) -> Iterator[Json]:
    after = ""
    while True:
        page = session.get(f"credentials?contract_version=1&limit={CREDENTIALS_PAGE_MAX}{after}")
        yield from page["credentials"]
        if page["next_after"] is None:
            return
        after = f"&after={page['next_after']}"


@verb(credential, "rotate", scoped=False, writes=True, keyed=False)
@click.argument("target", type=REFERENCE)
@secret_out_option
def rotate(session: Session, target: RecordAt, secret_out: Path | None) -> None:
    """Give a credential a new secret; the old one fails at once. Prints the secret, this once.

    \b
    Example:
        relatum credential rotate 0196f0a1-0000-7000-8000-000000000006 --secret-out worker.secret
    """
    revision = _revision(session, target)
    path = f"credentials/{target.id}/rotate"
    _with_secret(session, secret_out, lambda: session.once(path, expected_revision=revision))


@verb(credential, "revoke", scoped=False, writes=True, keyed=False)
@click.argument("target", type=REFERENCE)
def revoke(session: Session, target: RecordAt) -> None:
    """End a credential for ever.

    \b
    Example:
        relatum credential revoke 0196f0a1-0000-7000-8000-000000000006
    """
    revision = _revision(session, target)
    session.output.one(session.once(f"credentials/{target.id}/revoke", expected_revision=revision)["credential"])


@verb(None, "whoami", scoped=False)
def whoami(session: Session) -> None:
    """Who the secret speaks for, what it can, and where.

    \b
    Example:
        relatum whoami -o json | jq -r .spec.subject_id
    """
    session.output.one(session.get("identity")["credential"])


def _revision(session: Session, target: RecordAt) -> int:
    if target.revision is not None:
        return target.revision
    session.no_reads_when_dry(f"name the revision: {target.id}@REVISION")
    revision: int = session.get(f"credentials/{target.id}")["credential"]["revision"]
    session.note(f"{target.id} is at revision {revision}")
    return revision


def _with_secret(session: Session, secret_out: Path | None, send: Any) -> None:
    """Shows what was made with its secret, or puts the secret into a file that is there before anything is sent."""
    if secret_out is None or session.options.dry_run:
        answer = send()
        session.output.one({name: answer[name] for name in ("credential", "secret")})
        return
    opened = os.open(secret_out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    made = False
    try:
        with os.fdopen(opened, "w", encoding="ascii") as file:
            answer = send()
            file.write(answer["secret"] + "\n")
            file.flush()
            os.fsync(file.fileno())
            made = True
    finally:
        if not made:
            secret_out.unlink(missing_ok=True)
    session.output.one(answer["credential"])
