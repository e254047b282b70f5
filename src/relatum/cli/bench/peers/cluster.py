"""A PostgreSQL cluster of one's own: made, started and stopped here, reached by a socket in its own directory.

PostgreSQL refuses to run as root; then it runs as the user `postgres` of Debian's package.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Final

_SETTINGS: Final = {
    "listen_addresses": "''",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "100",
    "shared_buffers": "'512MB'",
    "max_wal_size": "'4GB'",
    "checkpoint_timeout": "'30min'",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "logging_collector": "off",
}
"""Durable as installed; no checkpoint falls into a measurement, and no statement is planned twice.

IMPORTANT: a plan that is made once is made for tables that are still empty, and would read them from end to end ever
after. All access is by key, so the planner is told to use the keys.
"""

_START_SECONDS_MAX: Final = 60
_USER: Final = "postgres"


def programs() -> Path | None:
    """The directory of the newest installed server's programs."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return installed[-1].parent if installed else None


class Cluster:
    """A running cluster with one database, `postgres`."""

    def __init__(self, directory: Path) -> None:
        """Makes a cluster in an empty directory, which the server's user must be able to reach, and starts it."""
        found = programs()
        assert found is not None
        self._programs = found
        self._user = _USER if os.geteuid() == 0 else None
        self._directory = directory
        self._data = directory / "data"
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(directory, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "--auth=trust", "--username=bench", "--encoding=UTF8", "--no-locale", "-D", str(self._data))
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())
            settings.write(f"unix_socket_directories = '{directory}'\n")
        self._control("start", "--log", str(directory / "log"))

    @property
    def conninfo(self) -> str:
        """How a client reaches it."""
        return f"host={self._directory} user=bench dbname=postgres"

    def stop(self) -> None:
        """Stops the server and waits for it."""
        self._control("stop", "--mode=fast")

    def _control(self, what: str, *options: str) -> None:
        self._run("pg_ctl", what, "--wait", f"--timeout={_START_SECONDS_MAX}", "-D", str(self._data), *options)

    def _run(self, program: str, *arguments: str) -> None:
        """Runs one of the server's programs. Raises with its words where it fails.

        What it prints goes to a file: the server inherits it and would keep a pipe open.
        """
        with (self._directory.parent / f"{self._directory.name}.out").open("w+") as out:
            ran = subprocess.run(  # noqa: S603 - programs of the installed server
                [str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd="/",
                user=self._user,
                group=self._user,
                extra_groups=() if self._user else None,
                check=False,
            )
            out.seek(0)
            if ran.returncode != 0:
                raise RuntimeError(f"{program} failed: {out.read()}")
