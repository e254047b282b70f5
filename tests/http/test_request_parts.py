"""The parts that a request is taken apart by, each on its own: headers, bodies in pieces, query strings, slots."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from prometheus_client import Gauge

from relatum.core.queries import CredentialsQuery, RecordRead
from relatum.errors import Refusal
from relatum.http.decoding import BodyDecoder, ClientGone, QueryDecoder, read_body
from relatum.http.headers import bearer_token, is_json
from relatum.http.slots import Slots
from relatum.limits import TOKEN_CHARACTERS_MAX


def authorization(*values: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"host", b"x"), *((b"authorization", value) for value in values)]


def test_a_token_has_1_to_128_characters() -> None:
    longest = b"t" * TOKEN_CHARACTERS_MAX
    assert longest.decode() == bearer_token(authorization(b"Bearer " + longest))
    assert bearer_token(authorization(b"Bearer " + longest + b"t")) is None
    assert bearer_token(authorization(b"Bearer ")) is None


@pytest.mark.parametrize("token", [b"a b", b" a", b"a ", b"a\tb", b"\x0b", b"a\x0c", b"\xe9", "é".encode(), b"\xa0"])
def test_a_token_has_no_blanks_and_nothing_but_ascii(token: bytes) -> None:
    assert bearer_token(authorization(b"Bearer " + token)) is None


def test_the_header_occurs_once() -> None:
    assert "t" == bearer_token(authorization(b"Bearer t"))
    assert bearer_token(authorization()) is None
    assert bearer_token(authorization(b"Bearer t", b"Bearer t")) is None
    assert bearer_token(authorization(b"Bearer t", b"")) is None


def test_a_media_type_ends_at_its_parameters() -> None:
    assert is_json([(b"content-type", b"application/json;charset=utf-8")])
    assert is_json([(b"content-type", b" APPLICATION/JSON ; x=y")])
    assert not is_json([(b"content-type", b"application/json2")])
    assert not is_json([(b"content-type", b"application/json, text/plain")])


class Pieces:
    """A client that sends a body piece by piece, and counts how much of it was asked for."""

    def __init__(self, pieces: Iterable[bytes | None]) -> None:
        self._pieces = list(pieces)
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        piece = self._pieces[self.taken]
        self.taken += 1
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": self.taken < len(self._pieces)}


def taken(pieces: Pieces, bytes_max: int) -> bytes | Refusal:
    return asyncio.run(read_body(pieces.receive, bytes_max))


@pytest.mark.parametrize("pieces", [[b"abcd"], [b"ab", b"cd"], [b"", b"abcd", b""], [b"a", b"b", b"c", b"d"]])
def test_a_body_is_put_together_up_to_its_bound(pieces: list[bytes]) -> None:
    assert b"abcd" == taken(Pieces(pieces), 4)
    refused = taken(Pieces(pieces), 3)
    assert isinstance(refused, Refusal)
    assert (413, "invalid_request") == (refused.status, refused.code)


def test_no_more_of_a_body_is_asked_for_than_shows_that_it_is_too_large() -> None:
    endless = Pieces([b"x" * 10] * 100)
    assert isinstance(taken(endless, 25), Refusal)
    assert 3 == endless.taken


def test_a_client_that_leaves_in_the_middle_gets_no_answer() -> None:
    with pytest.raises(ClientGone):
        taken(Pieces([b"ab", None]), 100)


BODIES = BodyDecoder(RecordRead)


def message(body: bytes) -> str:
    refused = BODIES.decode(body)
    assert isinstance(refused, Refusal)
    return refused.message


def test_a_message_names_places_by_members_of_the_contract_alone() -> None:
    scope = b'"scope":{"project_id":"p","agent_id":1,"visibility":"shared"}'
    wrong = "the body has a member of the wrong type at scope.agent_id: expected string"
    unknown = "the body has an unknown member; permitted members: contract_version, scope, record_id"
    assert wrong == message(b'{"contract_version":1,%s}' % scope)
    assert unknown == message(b'{"secret":1}')
    assert "the body has an unknown member" == message(b'{"x` - at `$.secret":1}')
    assert "the body lacks the required member contract_version" == message(b"{}")
    assert "the body has a member of the wrong type: expected object" == message(b"[]")


def test_a_query_string_decodes_as_its_type_says() -> None:
    queries = QueryDecoder(CredentialsQuery)
    found = queries.decode(b"contract_version=1&limit=7&after=FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF")
    assert CredentialsQuery(contract_version=1, limit=7, after="ffffffff-ffff-4fff-8fff-ffffffffffff") == found
    for refused in (b"contract_version=1&limit=%EF%BC%97", b"contract_version=1;limit=7", b"\xff"):
        assert isinstance(queries.decode(refused), Refusal)


def slots(number: int) -> Slots:
    return Slots(number, Gauge("slots", "In use.", registry=None))


def test_a_slot_is_given_back_once_its_lease_ends_and_not_before() -> None:
    pool = slots(1)
    with pool.lease() as first, pool.lease() as second:
        assert first.take()
        assert not second.take()
    with pool.lease() as third:
        assert third.take()


def test_a_lease_that_took_nothing_gives_nothing_back() -> None:
    pool = slots(1)
    with pool.lease():
        pass
    with pool.lease() as first:
        assert first.take()
        with pool.lease() as second:
            assert not second.take()
        with pool.lease() as third:
            assert not third.take()


def test_a_slot_is_given_back_after_a_failure_as_well() -> None:
    pool = slots(1)
    with pytest.raises(ZeroDivisionError), pool.lease() as lease:
        assert lease.take() / 0
    with pool.lease() as again:
        assert again.take()


def test_there_is_no_slot_to_take_out_of_none() -> None:
    with slots(0).lease() as lease:
        assert not lease.take()
