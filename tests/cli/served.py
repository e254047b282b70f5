"""A server with somebody who may do everything at one scope, and the command line as that somebody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner, Result

from relatum.cli import main
from tests.http.serving import Server, initialise

CAPABILITIES = ("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine")


class Caller(NamedTuple):
    """The command line with a profile of its own; `config` is the profile's file."""

    config: Path

    @property
    def env(self) -> dict[str, str | None]:
        home = self.config.parent
        return {
            "RELATUM_CLIENT_CONFIG": str(self.config),
            "XDG_STATE_HOME": str(home / "state"),
            "NO_COLOR": None,
            "TZ": "Europe/Berlin",
        }

    @property
    def environment(self) -> dict[str, str]:
        """For processes."""
        return {name: value for name, value in self.env.items() if value is not None}

    def run(self, *words: str | int | Path, given: str | bytes | None = None) -> Result:
        """A verb, in this process."""
        return CliRunner().invoke(main, [str(word) for word in words], input=given, env=self.env, prog_name="relatum")

    def lines(self, *words: str | int | Path, given: str | bytes | None = None) -> list[Any]:
        """What a verb prints, line by line."""
        done = self.run(*words, given=given)
        assert 0 == done.exit_code, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def one(self, *words: str | int | Path, given: str | bytes | None = None) -> Any:
        """The one line that it prints."""
        (line,) = self.lines(*words, given=given)
        return line

    def profile(self, name: str, url: str, secret: str, *words: str) -> None:
        """Makes a profile and uses it."""
        self.one("profile", "set", name, "--url", url, "--secret-stdin", *words, given=secret)
        self.one("profile", "use", name)

    def at(self, project: str) -> Caller:
        """The same caller in the scope of another project of hers, which is empty so far."""
        other = Caller(self.config.with_name(f"{project}.toml"))
        text = self.config.read_text().replace('project_id = "demo"', f'project_id = "{project}"')
        other.config.write_text(text)
        other.config.chmod(0o600)
        return other


@contextmanager
def served(base: Path, *options: str) -> Iterator[tuple[Server, Caller, Caller]]:
    """A server, its administrator, and somebody who may do everything at any shared scope."""
    secret = initialise(base / "store")
    with Server(base / "store", *options) as server:
        admin = Caller(base / "admin.toml")
        admin.profile("admin", server.url, secret)
        worker = Caller(base / "worker.toml")
        spec = {
            "subject_id": "worker",
            "capabilities": CAPABILITIES,
            "grants": [],
            "scope_policy": {
                "version": "company_scopes_v1",
                "projects": {"mode": "all"},
                "agents": {"mode": "all"},
                "missions": {"mode": "all"},
                "allow_unassigned_mission": True,
                "visibilities": ["shared", "private"],
            },
        }
        issued = admin.one("credential", "issue", "--json", "-", given=json.dumps(spec))
        worker.profile("worker", server.url, issued["secret"], "--project", "demo", "--agent", "extractor")
        yield server, admin, worker
