"""The file with profiles as text: one table of it is written anew, everything else stays as somebody wrote it.

`relatum.client` reads the file and says what is right in it; here it is only changed. A change is held against what the
file meant before, so that a form of TOML that is not edited here is refused instead of damaged.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from relatum.cli.client.statuses import wrong

CURRENT: Final = "profile"
"""The member at the top of the file that names the profile that is used where none is named."""

_OWNER_ONLY: Final = 0o600
_OWNER_ALONE: Final = 0o700
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"\s*\[")
_CURRENT_LINE: Final = re.compile(rf"\s*{CURRENT}\s*=")

Profiles = dict[str, dict[str, Any]]


class ProfileFile:
    """`client.toml`: its profiles, and the name of the current one. A missing file is an empty one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            self._text = ""
        except UnicodeDecodeError:
            raise wrong(f"{path} is not UTF-8") from None
        self._document = self._parsed(self._text)

    @property
    def profiles(self) -> Profiles:
        """The profiles by name."""
        found: Profiles = self._document.get("profiles", {})
        return found

    @property
    def current(self) -> str | None:
        """The profile that is used where none is named."""
        return self._document.get(CURRENT)

    def put(self, name: str, members: Mapping[str, str]) -> None:
        """Gives a profile these members and no others; the first one becomes the current one."""
        first = not self.profiles and self.current is None
        wanted = self._document | {"profiles": self.profiles | {name: dict(members)}}
        table = [f"[profiles.{_key(name)}]", *(f"{member} = {_string(value)}" for member, value in members.items())]
        before, after = self._around(name)
        self._take([*before, *table, *after], wanted)
        if first:
            self.use(name)

    def remove(self, name: str) -> None:
        """Takes a profile away."""
        wanted = self._document | {"profiles": {one: self.profiles[one] for one in self.profiles if one != name}}
        if not wanted["profiles"]:
            del wanted["profiles"]
        before, after = self._around(name)
        self._take([*before, *after], wanted)
        if self.current == name:
            self.use(None)

    def use(self, name: str | None) -> None:
        """Makes a profile the current one."""
        lines = self._text.splitlines()
        top = next((n for n, line in enumerate(lines) if _HEADER.match(line)), len(lines))
        kept = [line for line in lines[:top] if not _CURRENT_LINE.match(line)]
        wanted = {member: value for member, value in self._document.items() if member != CURRENT}
        if name is not None:
            wanted[CURRENT] = name
            kept = [f"{CURRENT} = {_string(name)}", *(kept or [""])]
        self._take([*kept, *lines[top:]], wanted)

    def write(self) -> None:
        """Replaces the file, readable by its owner alone: at once, or not at all."""
        self.path.parent.mkdir(mode=_OWNER_ALONE, parents=True, exist_ok=True)
        target = self.path.resolve()  # a link to a file elsewhere stays one
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
            with os.fdopen(opened, "w", encoding="utf-8") as file:
                file.write(self._text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                beside.unlink()
            raise

    def _around(self, name: str) -> tuple[list[str], list[str]]:
        """The lines before a profile's table, or before where it will stand, and those behind it."""
        lines = self._text.splitlines()
        start = next((n for n, line in enumerate(lines) if self._is_header(line, name)), None)
        if start is None:
            return [*lines, *([""] if lines and lines[-1].strip() else [])], []
        end = next((n for n in range(start + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
        while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1  # what stands above the next table belongs to it
        return lines[:start], lines[end:]

    @staticmethod
    def _is_header(line: str, name: str) -> bool:
        if not _HEADER.match(line):
            return False
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(line) == {"profiles": {name: {}}}
        return False

    def _take(self, lines: list[str], wanted: Mapping[str, Any]) -> None:
        text = "\n".join(lines) + "\n" if lines else ""
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            found = None
        if found != wanted:
            raise wrong(f"{self.path} is written in a way that can't be changed from here; edit it by hand")
        self._text, self._document = text, found

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise wrong(f"{self.path} is not TOML: {error}") from error
        profiles = document.get("profiles", {})
        if not isinstance(profiles, dict) or not all(isinstance(profiles[one], dict) for one in profiles):
            raise wrong(f"{self.path} has no tables of profiles: [profiles.NAME]")
        return document


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(value: str) -> str:
    """A basic string of TOML."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(char, char if char.isprintable() else _escaped(char)) for char in value) + '"'


def _escaped(char: str) -> str:
    return f"\\U{ord(char):08X}"
