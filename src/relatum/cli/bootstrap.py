"""Making an administrator in a store that nobody serves: what `init`, `admin issue` and `quickstart` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from relatum.errors import Refusal
from relatum.limits import CONTRACT_VERSION

if TYPE_CHECKING:
    from relatum.ledger.company import IssuedCredential


def make_administrator(directory: Path, company: str, subject: str) -> IssuedCredential:
    """The first administrator of a company, in a store that is made where there is none."""
    from relatum.ledger import Ledger

    with Ledger.open(directory, create=True) as ledger:
        issued = ledger.bootstrap(company, subject)
    if isinstance(issued, Refusal):
        raise click.ClickException(f"{issued.message}; a lost administrator is replaced with: relatum admin issue")
    return issued


def replace_administrator(directory: Path, company: str, subject: str) -> IssuedCredential:
    """One more administrator of a company that exists."""
    from relatum.ledger import Ledger

    with Ledger.open(directory) as ledger:
        issued = ledger.bootstrap(company, subject, recover=True)
    if isinstance(issued, Refusal):
        raise click.ClickException(issued.message)
    return issued


def as_json(issued: IssuedCredential) -> str:
    """What an operator keeps: one JSON object, its secret told here and never again."""
    told = {"contract_version": CONTRACT_VERSION, "credential": issued.credential, "secret": issued.secret}
    return msgspec.json.encode(told).decode()
