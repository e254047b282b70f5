"""Credentials whose rows are lost, old or another's: nobody is let in by them, and no list is cut short by them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from relatum.core.access import Credential, CredentialSpec
from relatum.core.ids import company_partition
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import credentials
from relatum.store import keys, rows
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.integrity.scene import Rows, opened
from tests.support.stores import published_rows

COMPANY = company_partition("acme")


class Issued:
    """A company with two members, one of them revoked; its rows then and before that."""

    def __init__(self) -> None:
        with opened({}) as ledger:
            admin = self._issued(ledger.bootstrap("acme", "root"))
            self.member, self.other = (self._member(ledger, admin.credential, name) for name in ("ada", "bob"))
            self.before = published_rows(ledger)
            revoked = asyncio.run(ledger.revoke_credential(admin.credential, self.member.credential.id, 1))
            assert not isinstance(revoked, Refusal)
            self.rows = published_rows(ledger)

    def _member(self, ledger: Ledger, admin: Credential, subject_id: str) -> IssuedCredential:
        spec = CredentialSpec(subject_id=subject_id, capabilities=("memory_read",), grants=())
        return self._issued(asyncio.run(ledger.issue_credential(admin, spec)))

    def _issued(self, outcome: IssuedCredential | Refusal) -> IssuedCredential:
        assert isinstance(outcome, IssuedCredential)
        return outcome

    def row(self, issued: IssuedCredential) -> bytes:
        """The key of a credential's row."""
        return PartitionReader(MemoryStore({}), COMPANY).keys.credential(issued.credential.id)


@pytest.fixture(scope="module")
def issued() -> Issued:
    return Issued()


def old(issued: Issued) -> Rows:
    """The row from before the revocation."""
    key = issued.row(issued.member)
    return {**issued.rows, key: issued.before[key]}


def missing(issued: Issued) -> Rows:
    gone = issued.row(issued.member)
    return {key: row for key, row in issued.rows.items() if key != gone}


def unlisted(issued: Issued) -> Rows:
    """Without the row that leads from its id to its company."""
    gone = keys.credential_company(issued.member.credential.id)
    return {key: row for key, row in issued.rows.items() if key != gone}


def another(issued: Issued) -> Rows:
    """The row of the other member in its place, under a sound checksum."""
    body = rows.body_of(issued.rows[issued.row(issued.other)])
    key = issued.row(issued.member)
    return {**issued.rows, key: rows.seal(key, body)}


Damage = Callable[[Issued], Rows]


@pytest.mark.parametrize("damage", [old, missing, another])
def test_nobody_is_let_in_by_a_credential_that_is_damaged(issued: Issued, damage: Damage) -> None:
    with opened(damage(issued)) as ledger, ledger.view() as view:
        with pytest.raises(StorageInconsistency):
            credentials.authenticate(view, issued.member.secret)
        assert credentials.authenticate(view, issued.other.secret) == issued.other.credential


@pytest.mark.parametrize("damage", [old, unlisted, another])
def test_a_list_that_comes_to_a_damaged_credential_is_no_list(issued: Issued, damage: Damage) -> None:
    with opened(damage(issued)) as ledger, ledger.view() as view, pytest.raises(StorageInconsistency):
        credentials.page(view.partition(COMPANY))


def test_a_revoked_credential_is_no_damage(issued: Issued) -> None:
    with opened(issued.rows) as ledger, ledger.view() as view:
        assert credentials.authenticate(view, issued.member.secret) is None
        assert 3 == len(credentials.page(view.partition(COMPANY)).credentials)


def test_a_change_of_a_credential_that_is_missing_is_not_told_that_there_never_was_one(issued: Issued) -> None:
    with opened(missing(issued)) as ledger, ledger.view() as view, pytest.raises(StorageInconsistency):
        view.partition(COMPANY).credential(issued.member.credential.id)
