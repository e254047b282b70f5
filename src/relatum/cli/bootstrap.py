"""Making an administrator in a store that nobody serves: what `init`, `admin issue` and `quickstart` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relatum.cli.output import SecretFile, print_json, room_to_tell
from relatum.errors import Refusal
from relatum.limits import CONTRACT_VERSION

if TYPE_CHECKING:
    from relatum.ledger.company import IssuedCredential


Command = TypeVar("Command", bound=Callable[..., Any])
Keep = Callable[[str], None]
"""Is handed a secret before it is good for anything."""


def make_administrator(
    directory: Path, company: str, subject: str, *, keep: Keep = lambda _secret: None
) -> IssuedCredential:
    """The first administrator of a company, in a store that is made where there is none."""
    from relatum.ledger import Ledger

    with Ledger.open(directory, create=True) as ledger:
        issued = ledger.bootstrap(company, subject, keep=keep)
    if isinstance(issued, Refusal):
        raise click.ClickException(f"{issued.message}; a lost administrator is replaced with: relatum admin issue")
    return issued


def replace_administrator(
    directory: Path, company: str, subject: str, *, keep: Keep = lambda _secret: None
) -> IssuedCredential:
    """One more administrator of a company that exists."""
    from relatum.ledger import Ledger

    with Ledger.open(directory) as ledger:
        issued = ledger.bootstrap(company, subject, recover=True, keep=keep)
    if isinstance(issued, Refusal):
        raise click.ClickException(issued.message)
    return issued


def company_exists(directory: Path, company: str) -> bool:
    """Whether the store in a directory has the company; where there is no directory, or an empty one, it has none."""
    from relatum.ledger import Ledger

    if not directory.is_dir() or not any(directory.iterdir()):
        return False
    with Ledger.open(directory, create=True) as ledger, ledger.view() as view:
        return view.company_exists(company)


def secret_file_option(command: Command) -> Command:
    """Adds the option that names a file for the secret."""
    return click.option(
        "--secret-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A file to be made for the secret, for its owner alone; else the secret is printed.",
    )(command)


def tell(make: Callable[[Keep], IssuedCredential], secret_file: Path | None) -> None:
    """Makes a credential and prints it; its secret goes to a file, or is printed with it.

    Nothing is made unless it is certain that the secret can be told: it is told this one time.
    """
    if secret_file is None:
        with room_to_tell():
            issued = make(lambda _secret: None)
            print_json(with_secret(issued))
        return
    file = SecretFile(secret_file)
    needed = True  # the outcome is unknown where something fails: the secret may be good
    try:
        issued = make(file.write)
    except click.ClickException:
        needed = False  # refused
        raise
    except BaseException:
        if file.written:
            click.echo(f"{secret_file} keeps the secret, in case that the administrator was made", err=True)
        raise
    finally:
        file.close(needed=needed)
    print_json(_credential(issued))


def with_secret(issued: IssuedCredential) -> dict[str, object]:
    """What is printed of a credential, its secret with it."""
    return {**_credential(issued), "secret": issued.secret}


def _credential(issued: IssuedCredential) -> dict[str, object]:
    return {"contract_version": CONTRACT_VERSION, "credential": issued.credential}
