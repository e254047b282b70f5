"""The list of a company's credentials."""

from __future__ import annotations

import asyncio

import pytest

from relatum import limits
from relatum.core.access import Credential, CredentialSpec
from relatum.core.ids import company_partition
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from tests.reads.reading import answered
from tests.support.builders import SCOPE


def page(ledger: Ledger, limit: int | None = None, after: str | None = None) -> credentials.CredentialPage:
    with ledger.view() as view:
        return credentials.page(view.partition(company_partition("acme")), limit, after)


def issue(ledger: Ledger, admin: Credential, count: int) -> list[str]:
    """Ids of `count` new readers, ascending."""
    spec = CredentialSpec(subject_id="ada", capabilities=("memory_read",), grants=(SCOPE,))

    async def issued() -> list[str]:
        return [answered(await ledger.issue_credential(admin, spec)).credential.id for _ in range(count)]

    return sorted(asyncio.run(issued()))


@pytest.fixture
def company(ledger: Ledger) -> Credential:
    return answered(ledger.bootstrap("acme", "root")).credential


def test_a_company_that_does_not_exist_has_no_credentials(ledger: Ledger) -> None:
    assert ((), None) == (page(ledger).credentials, page(ledger).next_after)


def test_pages_run_through_the_credentials_of_one_company_by_id(ledger: Ledger, company: Credential) -> None:
    answered(ledger.bootstrap("other", "root"))
    expected = sorted([company.id, *issue(ledger, company, 4)])
    for limit in range(1, 7):
        found: list[str] = []
        after: str | None = None
        for _ in range(6):
            one = page(ledger, limit, after)
            found += [credential.id for credential in one.credentials]
            after = one.next_after
            if after is None:
                break
        assert expected == found


def test_a_page_is_the_last_where_nothing_follows(ledger: Ledger, company: Credential) -> None:
    issue(ledger, company, 1)
    assert page(ledger, 2).next_after is None
    first = page(ledger, 1)
    assert first.credentials[-1].id == first.next_after


def test_the_default_page_holds_twenty_five(ledger: Ledger, company: Credential) -> None:
    issue(ledger, company, limits.CREDENTIALS_PAGE_DEFAULT - 1)
    assert (25, None) == (len(page(ledger).credentials), page(ledger).next_after)
    issue(ledger, company, 1)
    full = page(ledger)
    assert (25, full.credentials[-1].id) == (len(full.credentials), full.next_after)
