"""How a token is compared: in constant time, and with as much work for one of nobody as for a wrong one."""

from __future__ import annotations

import hmac
from collections.abc import Iterator

import pytest

from relatum.core import digests
from relatum.core.secret import credential_id_of
from relatum.errors import Refusal
from relatum.http.events import cursor_of
from relatum.http.headers import bearer_token
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from relatum.store import rows
from tests.doors.mutating import Mutator, bounded

Compared = list[tuple[bytes, bytes]]
CASES = 5_000


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    """What was handed to the comparison of the standard library that takes constant time."""
    seen: Compared = []
    constant_time = hmac.compare_digest

    def observed(left: bytes, right: bytes) -> bool:
        seen.append((left, right))
        return constant_time(left, right)

    monkeypatch.setattr(hmac, "compare_digest", observed)
    return seen


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.in_memory() as opened:
        yield opened


@pytest.fixture
def secret(ledger: Ledger) -> str:
    issued = ledger.bootstrap("acme", "root")
    assert not isinstance(issued, Refusal)
    return issued.secret


def lets_in(ledger: Ledger, token: str) -> bool:
    with ledger.view() as view:
        return credentials.authenticate(view, token) is not None


def altered(secret: str, place: int) -> str:
    other = "0" if secret[place] != "0" else "1"
    return secret[:place] + other + secret[place + 1 :]


def test_a_right_secret_is_compared_as_a_whole(ledger: Ledger, secret: str, compared: Compared) -> None:
    assert lets_in(ledger, secret)
    verifier = digests.secret_verifier(secret)
    assert [(verifier, verifier)] == compared


def test_a_wrong_secret_an_unknown_credential_and_any_other_text_are_compared_alike(
    ledger: Ledger, secret: str, compared: Compared
) -> None:
    wrong, unknown, other = altered(secret, -10), altered(secret, 10), "no secret at all"
    tokens = [wrong, unknown, other]
    assert not any(lets_in(ledger, token) for token in tokens)
    assert [digests.secret_verifier(token) for token in tokens] == [given for _, given in compared]
    assert {32} == {len(expected) for expected, _ in compared}
    assert digests.secret_verifier(secret) == compared[0][0]


def test_no_secret_is_within_reach_of_a_comparison_that_stops_early(ledger: Ledger, secret: str) -> None:
    with ledger.view() as view:
        credential_id = credential_id_of(secret)
        assert credential_id is not None
        stored = view.credential(credential_id)
    assert stored is not None
    assert digests.secret_verifier(secret) == stored.verifier
    assert secret[-43:] not in repr(stored)


def test_one_altered_character_anywhere_keeps_a_secret_out(ledger: Ledger, secret: str) -> None:
    assert not any(lets_in(ledger, altered(secret, place)) for place in range(len(secret)))


def test_any_bytes_as_a_token_of_a_header_or_of_a_stream_are_one_or_none(ledger: Ledger, secret: str) -> None:
    resumed = b"AQE" + b"A" * 75
    tokens = (b"Bearer ", b"bearer ", b" ", b"\t", b"\0", b"\xff", b"rtm1_", b"_", b"=", b"=" * 4, b"A" * 200)
    let_in = 0
    with bounded():
        for value in Mutator([b"Bearer " + secret.encode(), resumed], tokens, "tokens").cases(CASES):
            cursor_of(value)
            token = bearer_token([(b"authorization", value)])
            if token is not None and lets_in(ledger, token):
                let_in += 1
                assert secret == token
    assert let_in < CASES / 2


def test_a_remembered_credential_is_read_again_only_after_a_publication(
    ledger: Ledger, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    unpacked = rows.unpack_credential_place

    def noting(body: bytes) -> rows.CredentialPlace:
        read.append(body)
        return unpacked(body)

    monkeypatch.setattr(rows, "unpack_credential_place", noting)
    assert lets_in(ledger, secret)
    once = len(read)
    assert [True] * 3 == [lets_in(ledger, secret) for _ in range(3)]
    assert 0 < once == len(read)
    assert not isinstance(ledger.bootstrap("another", "root"), Refusal)
    assert [True] * 3 == [lets_in(ledger, secret) for _ in range(3)]
    assert once < len(read) <= 2 * once
