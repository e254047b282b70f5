"""Histories of credentials: they grow with every change, and what one costs has a bound all the same."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from msgspec import json

from relatum.core.access import Authority, Credential, StoredCredential
from relatum.core.canonical import encode
from relatum.core.ids import Scope, company_partition
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from relatum.limits import BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, CREDENTIALS_PAGE_BYTES_MAX, GRANTS_MAX
from relatum.store import rows
from relatum.store.credential_cache import CredentialMemory
from tests.core.test_access import spec
from tests.core.test_credential_decisions import WORKER, Office, granted, issued, revoked, rotated
from tests.http.client import IDENTITY
from tests.http.test_failures import Desk, desk
from tests.support.stores import assert_rebuilds

WIDE = tuple(Scope(project_id=f"project-{one:03}" + "x" * 60, agent_id="a", visibility="shared") for one in range(256))
"""As many grants as there may be, of a length that a body just holds."""
WORKER_2 = WORKER[:-1] + "9"


def full() -> tuple[Office, StoredCredential]:
    """An office whose worker's authority was replaced by the widest one as often as it may be."""
    office = Office()
    after = office.change(issued(WORKER_2, spec()))
    while True:
        decision = office.ask(granted(WORKER_2, after.credential.revision, grants=WIDE))
        if isinstance(decision, Refusal):
            return office, after
        after = office.change(granted(WORKER_2, after.credential.revision, grants=WIDE))


def test_the_widest_authority_fits_a_request_and_can_be_replaced_many_times() -> None:
    assert GRANTS_MAX == len(WIDE)
    assert BODY_BYTES_MAX * 0.4 < len(json.encode(Authority(grants=WIDE))) < BODY_BYTES_MAX
    _, after = full()
    assert 10 < after.credential.revision < 100


def test_a_full_history_takes_no_change_but_its_end() -> None:
    office, after = full()
    assert CREDENTIAL_BYTES_MAX * 0.9 < len(encode(after)) <= CREDENTIAL_BYTES_MAX
    revision = after.credential.revision
    refused = office.ask(granted(WORKER_2, revision, grants=WIDE))
    assert isinstance(refused, Refusal)
    assert (400, "invalid_request") == (refused.status, refused.code)
    assert not isinstance(office.ask(rotated(WORKER_2, revision)), Refusal), "a rotation takes little"
    ended = office.change(revoked(WORKER_2, revision))
    assert revision + 1 == ended.credential.revision == len(ended.credential.history)


def test_rotations_come_to_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relatum.limits.CREDENTIAL_BYTES_MAX", 2_000)
    office = Office()
    after = office.change(issued(WORKER_2, spec()))
    while not isinstance(office.ask(rotated(WORKER_2, after.credential.revision)), Refusal):
        after = office.change(rotated(WORKER_2, after.credential.revision))
    assert len(encode(after)) <= 2_000 < len(encode(after)) + 200
    office.change(revoked(WORKER_2, after.credential.revision))


# What reading them costs


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.in_memory() as opened:
        yield opened


@pytest.fixture
def admin(ledger: Ledger) -> Credential:
    made = ledger.bootstrap("acme", "root")
    assert not isinstance(made, Refusal)
    return made.credential


def with_history(ledger: Ledger, admin: Credential, changes: int) -> Credential:
    async def changed() -> Credential:
        made = await ledger.issue_credential(admin, spec())
        assert not isinstance(made, Refusal)
        credential = made.credential
        for _ in range(changes):
            after = await ledger.change_scope_authority(
                admin, credential.id, credential.revision, Authority(grants=WIDE)
            )
            assert not isinstance(after, Refusal)
            credential = after
        return credential

    return asyncio.run(changed())


def test_a_page_of_long_histories_is_shorter_and_goes_on(ledger: Ledger, admin: Credential) -> None:
    made = sorted([admin.id, *(with_history(ledger, admin, 12).id for _ in range(6))])
    found: list[str] = []
    pages, after = 0, None
    while pages == 0 or after is not None:
        with ledger.view() as view:
            page = credentials.page(view.partition(company_partition("acme")), 100, after)
        assert sum(len(encode(one)) for one in page.credentials) < CREDENTIALS_PAGE_BYTES_MAX
        found += [credential.id for credential in page.credentials]
        pages, after = pages + 1, page.next_after
    assert (made, 2) == (found, pages)
    assert_rebuilds(ledger)


def test_a_credential_is_decoded_once_until_it_changes(
    ledger: Ledger, admin: Credential, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = with_history(ledger, admin, 1)
    decoded = count_decodes(monkeypatch)
    for _ in range(5):
        with_history(ledger, admin, 0)  # a commit that is about another one
        with ledger.view() as view:
            assert known == credential_in(view.credential(known.id))
    assert 1 == decoded(known.id)
    revoked = asyncio.run(ledger.revoke_credential(admin, known.id, known.revision))
    with ledger.view() as view:
        assert revoked == credential_in(view.credential(known.id))
    assert 2 <= decoded(known.id)


def count_decodes(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    seen: list[str] = []
    decode = rows.CREDENTIAL.decode

    def counted(body: bytes) -> StoredCredential:
        found = decode(body)
        seen.append(found.credential.id)
        return found

    monkeypatch.setattr(rows.CREDENTIAL, "decode", counted)
    return seen.count


def credential_in(stored: StoredCredential | None) -> Credential:
    assert stored is not None
    return stored.credential


def test_what_is_remembered_has_a_bound_and_the_oldest_goes_first() -> None:
    office = Office()
    ids = [f"{WORKER[:-2]}{number:02}" for number in range(50, 90)]
    stored = [office.change(issued(one, spec())) for one in ids]
    length = len(rows.CREDENTIAL.encode(stored[0]))
    memory, places = CredentialMemory(10 * length), [rows.CredentialPlace(bytes([n]) * 32, "acme") for n in range(40)]
    for place, one in zip(places, stored, strict=True):
        memory.remember(place, one, None)
    kept = [one for one, place in zip(ids, places, strict=True) if memory.recall(one, place, None) is not None]
    assert ids[-10:] == kept
    assert memory.recall(ids[-1], places[0], None) is None, "it was read from another row"
    memory.remember(places[0], stored[-1], None)
    assert stored[-1] == memory.recall(ids[-1], places[0], None)


def test_a_server_keeps_no_more_of_those_who_come_than_fits_into_what_is_remembered() -> None:
    """However many they are: who was let in, and has been answered, is kept there alone."""

    async def kept() -> tuple[int, int, int]:
        async with desk() as served:
            ledger = served.services.ledger
            with ledger.view() as view:
                admin = credentials.authenticate(view, served.admin_secret)
            assert admin is not None
            secrets, length = [], 0
            for _ in range(20):
                made = await ledger.issue_credential(admin, spec(grants=WIDE))
                assert not isinstance(made, Refusal)
                secrets.append(made.secret)
                length = len(encode(made.credential))
            ledger._remembered = CredentialMemory(5 * length + length // 2)
            await grown(served, secrets[-1:])
            return length, await grown(served, secrets[:5]), await grown(served, secrets[5:])

    async def grown(served: Desk, secrets: list[str]) -> int:
        before = tracemalloc.get_traced_memory()[0]
        for secret in secrets:
            assert 200 == (await served.send("GET", IDENTITY, secret)).status_code
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        length, first, then = asyncio.run(kept())
    finally:
        tracemalloc.stop()
    assert first > 4 * length, "one takes more room in memory than as stored"
    assert then < 4 * length, "the other fifteen came in the place of these"
