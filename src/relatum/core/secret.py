"""The text of a credential's secret: `rtm1_`, the credential id in hex, `_`, and 32 random bytes as base64url.

Pure formatting and parsing. Who draws the bytes and where the verifier is kept lies elsewhere; the text itself is
never stored.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode

SECRET_BYTES = 32
_SECRET = re.compile(r"rtm1_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


def format_secret(credential_id: str, random: bytes) -> str:
    """The secret of a credential, made of 32 random bytes."""
    assert len(random) == SECRET_BYTES
    return f"rtm1_{credential_id.replace('-', '')}_{urlsafe_b64encode(random).rstrip(b'=').decode()}"


def credential_id_of(secret: str) -> str | None:
    """The credential that a secret claims to belong to; None where it isn't the text of one."""
    match = _SECRET.fullmatch(secret)
    return None if match is None else "-".join(match.groups())
