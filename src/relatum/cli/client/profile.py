"""`relatum profile`: where a server is, who asks it, and in which scope, by names of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from relatum.cli.client.output import Column, Json
from relatum.cli.client.profile_file import ProfileFile
from relatum.cli.client.profiles import config_path
from relatum.cli.client.session import Session, given
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import Word, interactive, standard_input
from relatum.cli.client.verb import verb_at_home
from relatum.core.secret import credential_id_of

_SECRET_BYTES_MAX: Final = 4096
_MEMBERS: Final = {
    "url": "url",
    "project": "project_id",
    "agent": "agent_id",
    "mission": "mission_id",
    "visibility": "visibility",
}
_PROFILES: Final = (
    Column("PROFILE", 16, lambda one: one["profile"]),
    Column("USED", 4, lambda one: one["current"]),
    Column("URL", 30, lambda one: one.get("url")),
    Column("PROJECT", 16, lambda one: one.get("project_id")),
    Column("AGENT", 16, lambda one: one.get("agent_id")),
)


def profile_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The profiles that a name may be completed to."""
    return [name for name in ProfileFile(config_path()).profiles if name.startswith(incomplete)]


name_argument = click.argument("name", shell_complete=profile_names)


@click.group()
def profile() -> None:
    """Keep addresses, secrets and scopes under names.

    \b
    Examples:
        relatum profile set work --url http://127.0.0.1:7474 --project demo --agent extractor --secret-stdin < it
        relatum profile use work
    """


@verb_at_home(profile, "set")
@name_argument
@click.option("--url", metavar="URL", help="The server's address.")
@click.option("--project", metavar="ID", help="The project of the scope.")
@click.option("--agent", metavar="ID", help="The agent of the scope.")
@click.option("--mission", metavar="ID", help="The mission of the scope.")
@click.option("--visibility", type=Word(("shared", "private")), help="Shared with the company, or private.")
@click.option("--secret-stdin", is_flag=True, help="Read the secret from standard input, and keep it in the file.")
@click.option("--secret-file", type=click.Path(path_type=Path), metavar="FILE", help="Where the secret lies.")
def set_profile(session: Session, name: str, secret_stdin: bool, secret_file: Path | None, **members: Any) -> None:
    """Make a profile, or change what is given of it. The first one is used from then on.

    Without --secret-stdin and --secret-file a terminal is asked for the secret of a new profile.

    \b
    Examples:
        relatum profile set work --url http://127.0.0.1:7474 --project demo --agent extractor --secret-stdin < it
        relatum profile set work --mission spring-cleaning
    """
    if secret_stdin and secret_file is not None:
        raise wrong("give either --secret-stdin or --secret-file")
    file = ProfileFile(config_path())
    before = file.profiles.get(name, {})
    after = before | {_MEMBERS[member]: value for member, value in given(members).items()}
    secret = _secret(secret_stdin, secret_file, is_new=not before)
    if secret:
        after = {member: value for member, value in after.items() if member not in {"secret", "secret_file"}} | secret
    if "url" not in after:
        raise wrong("a profile needs the server's address: --url http://127.0.0.1:7474")
    file.put(name, after)
    file.write()
    session.output.one(_shown(file, name))


def _secret(from_stdin: bool, secret_file: Path | None, *, is_new: bool) -> Json:
    if secret_file is not None:
        return {"secret_file": str(secret_file.absolute())}
    if from_stdin:
        text = standard_input().read(_SECRET_BYTES_MAX).decode("ascii", "replace").strip()
    elif is_new and interactive():
        text = click.prompt("Secret", hide_input=True, err=True).strip()
    else:
        return {}
    if credential_id_of(text) is None:
        raise wrong("this is not the secret of a credential; it begins with rtm1_")
    return {"secret": text}


@verb_at_home(profile, "list")
def list_profiles(session: Session) -> None:
    """List the profiles.

    \b
    Example:
        relatum profile list
    """
    file = ProfileFile(config_path())
    session.output.many((_shown(file, name) for name in file.profiles), _PROFILES)


@verb_at_home(profile, "show")
@click.argument("name", required=False, shell_complete=profile_names)
def show(session: Session, name: str | None) -> None:
    """Show a profile, or the one that is used; its secret by the credential alone.

    \b
    Example:
        relatum profile show work
    """
    file = ProfileFile(config_path())
    session.output.one(_shown(file, _known(file, name or file.current or "default")))


@verb_at_home(profile, "use")
@name_argument
def use(session: Session, name: str) -> None:
    """Use a profile wherever no other is named.

    \b
    Example:
        relatum profile use work
    """
    file = ProfileFile(config_path())
    file.use(_known(file, name))
    file.write()
    session.output.one(_shown(file, name))


@verb_at_home(profile, "remove")
@name_argument
def remove(session: Session, name: str) -> None:
    """Forget a profile. The credential stays as it is.

    \b
    Example:
        relatum profile remove work
    """
    file = ProfileFile(config_path())
    shown = _shown(file, _known(file, name))
    file.remove(name)
    file.write()
    session.output.one(shown)


def _known(file: ProfileFile, name: str) -> str:
    if name not in file.profiles:
        raise wrong(f"there is no profile {name!r} in {file.path}; relatum profile list tells which there are")
    return name


def _shown(file: ProfileFile, name: str) -> Json:
    members = dict(file.profiles[name])
    secret = members.pop("secret", None)
    if secret is not None:
        credential_id = credential_id_of(secret)
        members["secret"] = "(not one)" if credential_id is None else f"rtm1_{credential_id.replace('-', '')}_…"
    return {"profile": name, "current": name == file.current} | members
