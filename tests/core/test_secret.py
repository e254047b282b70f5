"""The text of a secret: made of an id and 32 bytes, and recognised only when it is exactly that."""

from __future__ import annotations

import pytest

from relatum import limits
from relatum.core import digests
from relatum.core.secret import credential_id_of, format_secret

ID = "0123abcd-4567-789a-bcde-f0123456789a"
SECRET = format_secret(ID, bytes(range(32)))


def test_a_secret_names_its_credential_and_fits_into_a_token() -> None:
    assert f"rtm1_{ID.replace('-', '')}_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" == SECRET
    assert ID == credential_id_of(SECRET)
    assert len(SECRET) <= limits.TOKEN_CHARACTERS_MAX


OTHERS = ["", SECRET[:-1], SECRET + "A", SECRET + "\n", " " + SECRET, SECRET.upper(), SECRET.replace("rtm1", "rtm2")]
OTHERS += [SECRET.replace("_", "-", 1), SECRET[:-1] + "=", SECRET[:-1] + "+", SECRET.replace("0123abcd", "0123ABCD")]


@pytest.mark.parametrize("text", OTHERS)
def test_other_text_is_no_secret(text: str) -> None:
    assert credential_id_of(text) is None


def test_a_verifier_tells_two_secrets_apart_and_holds_neither() -> None:
    other = format_secret(ID, bytes(reversed(range(32))))
    assert digests.same(digests.secret_verifier(SECRET), digests.secret_verifier(SECRET))
    assert not digests.same(digests.secret_verifier(SECRET), digests.secret_verifier(other))
