"""A store with a company and accounts in which nothing was done yet: made once, and copied for every case."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Self

from msgspec import Struct

from crash_tests.company import issue
from crash_tests.history import Account
from crash_tests.store_case import SUBJECTS, Site


class Template(Struct, frozen=True):
    """The store, closed in order, and who may work in it."""

    store: Path
    accounts: list[Account]
    admin_secret: str

    @classmethod
    def make(cls, directory: Path, launch: Sequence[str] = ()) -> Self:
        """One in `directory`, by programs that are prepared with `launch` (crash_tests.relatum_process)."""
        with Site(directory, "template", launch=launch) as site:
            admin_secret = site.make()
            server = site.serve()
            accounts = [issue(server.port, admin_secret, subject) for subject in SUBJECTS]
            site.drain(server)
        return cls(site.store, accounts, admin_secret)

    def copy(self, site: Site, random: Random) -> None:
        """Make the store of a site a copy of this one, and let the accounts of this one work there."""
        shutil.copytree(self.store, site.store)
        site.inhabit(self.accounts, self.admin_secret, random)
