"""Where a client's settings come from: an argument, then the environment, then a profile (client.md, settings).

Always holds: an unknown name in any source is refused, and no message tells what a source holds.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from relatum.client.errors import ConfigurationError
from relatum.client.secret import Secret

PREFIX: Final = "RELATUM_CLIENT_"
URL_DEFAULT: Final = "http://127.0.0.1:7474"

_SCOPE: Final = {"PROJECT": "project_id", "MISSION": "mission_id", "AGENT": "agent_id", "VISIBILITY": "visibility"}
_VARIABLES: Final = ("URL", "SECRET", "SECRET_FILE", "PROFILE", "CONFIG", *_SCOPE)
_CURRENT: Final = "profile"
"""Names the profile that is used where none is named, and `default` is not meant; `relatum profile use` writes it."""

_MEMBERS: Final = ("url", "secret", "secret_file", *_SCOPE.values())


class SecretSource:
    """A secret, and the file that it was read from, if it was."""

    def __init__(self, secret: Secret | None, file: Path | None = None) -> None:
        self._secret = secret
        self._file = file

    @classmethod
    def of_file(cls, file: Path) -> SecretSource:
        """The secret in a file. Raises ConfigurationError unless its owner alone can read it."""
        return cls(_read_secret(file), file)

    @property
    def secret(self) -> Secret:
        """The secret as last read. Raises ConfigurationError where there is none."""
        if self._secret is None:
            raise ConfigurationError(f"no secret: give one, a secret_file or a profile, or set {PREFIX}SECRET")
        return self._secret

    def refresh(self, used: Secret | None) -> bool:
        """Read the file again; whether there is now another secret than `used`, with which an attempt was refused.

        A file that can't be read brings none. Another call may have read it meanwhile: its secret is tried, too.
        """
        if self._file is None:
            return False
        try:
            self._secret = _read_secret(self._file)
        except ConfigurationError:
            return False
        return self._secret != used


class Settings(NamedTuple):
    """What a client goes by."""

    url: str
    secret: SecretSource
    scope: Mapping[str, str]
    """`project_id`, `mission_id`, `agent_id` and `visibility`, those that the environment or the profile names."""


def gather(
    url: str | None = None,
    secret: str | Secret | None = None,
    secret_file: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from all sources. Raises ConfigurationError for what any of them has wrong."""
    environ = os.environ if environ is None else environ
    variables = {name.removeprefix(PREFIX): value for name, value in environ.items() if name.startswith(PREFIX)}
    unknown = sorted(variables.keys() - set(_VARIABLES))
    if unknown:
        raise ConfigurationError(f"{PREFIX}{unknown[0]} is no setting of clients")
    table, base = _profile(profile or variables.get("PROFILE"), environ)
    sources = (
        _source("an argument", secret, secret_file, Path()),
        _source("the environment", variables.get("SECRET"), variables.get("SECRET_FILE"), Path()),
        _source("the profile", table.get("secret"), table.get("secret_file"), base),
    )
    found = next((one for one in sources if one is not None), SecretSource(None))
    scope = {name: table[name] for name in _SCOPE.values() if name in table}
    scope |= {name: variables[spelled] for spelled, name in _SCOPE.items() if spelled in variables}
    return Settings(checked_url(url or variables.get("URL") or table.get("url") or URL_DEFAULT), found, scope)


def checked_url(url: str) -> str:
    """The address without a path. Raises ConfigurationError for anything but scheme, host and port."""
    try:
        parts = urlsplit(url)
        sound = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.path in ("", "/")
            and not (parts.query or parts.fragment or "@" in parts.netloc)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        sound = False
    if not sound or any(character.isspace() for character in url):
        raise ConfigurationError("a url is http or https, a host and a port, without a path or user information")
    return url.rstrip("/")


def _source(
    name: str, secret: str | Secret | None, file: str | os.PathLike[str] | None, base: Path
) -> SecretSource | None:
    """The secret of one source, which may name it in one way."""
    if secret is not None and file is not None:
        raise ConfigurationError(f"{name} gives both a secret and a secret_file")
    if secret is not None:
        return SecretSource(secret if isinstance(secret, Secret) else Secret(secret))
    return None if file is None else SecretSource.of_file(base / Path(file).expanduser())


def _read_secret(file: Path) -> Secret:
    text = _private_text(file)
    return Secret(text.removesuffix("\n").removesuffix("\r"))


def _private_text(file: Path) -> str:
    """The text of a file that nobody but its owner can read."""
    try:
        with file.open(encoding="utf-8") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise ConfigurationError(f"the file {file} holds a secret and others can read it; its mode must be 600")
            return opened.read()
    except OSError as error:
        raise ConfigurationError(f"the file {file} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"the file {file} is not UTF-8") from None


def _profile(name: str | None, environ: Mapping[str, str]) -> tuple[dict[str, str], Path]:
    """The members of a profile, and where its relative paths begin."""
    file = config_file(environ)
    if not file.is_file():
        if name is not None or PREFIX + "CONFIG" in environ:
            raise ConfigurationError(f"there is no file {file}")
        return {}, Path()
    import tomllib

    try:
        config = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"the file {file} can't be read: {error.strerror}") from None
    except ValueError:
        raise ConfigurationError(f"the file {file} is not TOML in UTF-8") from None
    profiles = _profiles(file, config)
    chosen = config.get(_CURRENT) if name is None else name
    if chosen is not None and chosen not in profiles:
        raise ConfigurationError(f"the file {file} has no such profile")
    table = profiles.get(chosen or "default", {})
    if "secret" in table:
        _private_text(file)
    return table, file.parent


def config_file(environ: Mapping[str, str]) -> Path:
    """Where profiles lie."""
    named = environ.get(PREFIX + "CONFIG")
    if named:
        return Path(named).expanduser()
    home = environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path("~/.config").expanduser()) / "relatum" / "client.toml"


def _profiles(file: Path, config: dict[str, Any]) -> dict[str, dict[str, str]]:
    """All profiles of a file, each sound: a wrong one is refused even where another is used."""
    if config.keys() - {"profiles", _CURRENT} or not isinstance(config.get(_CURRENT, ""), str):
        raise ConfigurationError(f"the file {file} has something beside profiles and the name of the one in use")
    profiles = config.get("profiles", {})
    if not isinstance(profiles, dict):
        raise ConfigurationError(f"profiles of the file {file} is no table")
    for name, table in profiles.items():
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise ConfigurationError(f"profile {name} of the file {file} is no table of strings")
        unknown = sorted(table.keys() - set(_MEMBERS))
        if unknown:
            raise ConfigurationError(f"{unknown[0]} in profile {name} of the file {file} is no setting of clients")
    return profiles
