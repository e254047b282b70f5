"""What the head of a request must be besides parsable, and a head without its offer to speak another protocol.

Here: rules of RFC 9110 and 9112 that the parser leaves to whoever uses it. Not here: bounds (protocol.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from relatum.http.responses import Header

VERSIONS: Final = ("1.0", "1.1")

_HOST: Final = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?")


def is_sound(method: bytes, version: str, headers: Iterable[Header]) -> bool:
    """Whether a head can be answered at all. `headers` have names in lower case.

    CONNECT asks for a tunnel, which would begin where the head ends: what follows it is no request of this server.
    HTTP/1.1 has exactly one sound Host, HTTP/1.0 at most one and no Transfer-Encoding, which it does not know, so that
    a proxy and a server might see the end of such a body at different places (RFC 9112, 3.2 and 6.1).
    """
    if method == b"CONNECT" or version not in VERSIONS:
        return False
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or not all(map(_HOST.fullmatch, hosts)):
        return False
    if version == "1.1":
        return len(hosts) == 1
    return all(name != b"transfer-encoding" for name, _ in headers)


def without_offer(method: bytes, target: bytes, version: str, headers: Iterable[Header]) -> bytes:
    """A head as it came but for its `Upgrade`: an offer that is not taken is ignored (RFC 9110, 7.8)."""
    kept = (b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade")
    return b"".join([b"%b %b HTTP/%b\r\n" % (method, target, version.encode()), *kept, b"\r\n"])
