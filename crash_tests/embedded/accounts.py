"""Who works: two accounts, each in a scope that they share and in one of its own, and the company's administrator."""

from __future__ import annotations

from typing import Final

from crash_tests.company import COMPANY, desks_of
from crash_tests.history import Account, Desk
from relatum.core.ids import Author, Partition, company_partition

ACCOUNTS: Final = tuple(
    Account(COMPANY, subject, f"01000000-0000-7000-8000-00000000000{number}", secret="")
    for number, subject in enumerate(("extractor", "reviewer"), start=1)
)
"""In process nobody asks for a secret."""

DESKS: Final[tuple[Desk, ...]] = tuple(desks_of(list(ACCOUNTS)))
COMPANY_PARTITION: Final = company_partition(COMPANY)
PARTITIONS: Final[tuple[Partition, ...]] = (*dict.fromkeys(desk.partition for desk in DESKS), COMPANY_PARTITION)


def author_of(desk: Desk) -> Author:
    """How the ledger names who works at a desk."""
    return Author(credential_id=desk.account.credential_id, subject_id=desk.account.subject_id)
