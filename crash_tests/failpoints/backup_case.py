"""A backup, or the restoring of one, killed at a place: what is left says what it is, and can be begun anew."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from crash_tests.failpoints.killed_process import failpoint, require_killed_on_its_way
from crash_tests.server import Child, program, run
from crash_tests.store_case import Site
from crash_tests.violation import require
from relatum.store.failpoints import Name


class Copying:
    """On the store of a site, which nobody serves. The store is as before in the end, and the copies are gone."""

    def __init__(self, site: Site, place: Name) -> None:
        self._site = site
        self._place = place
        self._backup = site.store.with_suffix(".backup")
        self._restored = site.store.with_suffix(".restored")

    def run(self) -> None:
        """Raises `Violation` with the first thing that does not hold."""
        if self._place.startswith("image."):
            self._killed("backup", self._site.store, self._backup)
            self._require_refused("restore", self._backup, self._restored, because="no backup")
        made = self._done("backup", self._site.store, self._backup)
        if self._place.startswith("restore."):
            self._killed("restore", self._backup, self._restored)
            self._require_unfinished_or_whole()
            shutil.rmtree(self._restored)
        restored = self._done("restore", self._backup, self._restored)
        for member in ("position", "digest", "rows"):
            require(made[member] == restored[member], f"the {member} of a restored store is not that of its backup")
        for copy in (self._backup, self._restored):
            shutil.rmtree(copy)

    def _require_unfinished_or_whole(self) -> None:
        """A copy that was not verified is no store; one that was is whole."""
        if self._place == "restore.settled":
            report = self._done("verify", self._restored, "--json")
            require(report["clean"], "a restored store has findings")
            self._require_refused("restore", self._backup, self._restored, because="not empty")
            self._done("compact", self._restored)  # which opens it
        else:
            self._require_refused("serve", self._restored, "--port", "0", because="a restore was interrupted")
            self._done("restore", self._backup, self._restored)

    def _command(self, *arguments: str | Path, launch: tuple[str, ...] = ()) -> list[str]:
        return program(*arguments, launch=(*self._site.launch, *launch))

    def _killed(self, *arguments: str | Path) -> None:
        with Child(self._command(*arguments, launch=failpoint(self._place)), self._site.log) as child:
            require_killed_on_its_way(child, self._place)

    def _done(self, *arguments: str | Path) -> dict[str, Any]:
        status, told = run(self._site.log, self._command(*arguments))
        require(status == 0, f"{arguments[0]} ended with {status} after a kill at {self._place}: {told}")
        done: dict[str, Any] = json.loads(told)
        return done

    def _require_refused(self, *arguments: str | Path, because: str) -> None:
        refusals = self._site.log.with_suffix(".refusal")
        refusals.unlink(missing_ok=True)
        status, _ = run(refusals, self._command(*arguments))
        told = refusals.read_text()
        require(status == 1 and because in told, f"{arguments[0]} ended with {status} after {self._place}: {told}")
