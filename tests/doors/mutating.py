"""Bytes that nobody meant: random ones, and sound ones that were bent a little. The same seed bends the same way."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from tests.fuzz.dice import Dice

RANDOM_BYTES_MAX: Final = 64
BENDS_MAX: Final = 4
MIB: Final = 1024 * 1024


class Mutator:
    """Bends `samples`, sound bytes of one kind. `tokens` are pieces that mean something there."""

    def __init__(self, samples: Sequence[bytes], tokens: Sequence[bytes], *place: object) -> None:
        assert samples
        self._samples = samples
        self._tokens = tokens
        self._dice = Dice(*place)
        self._bends: tuple[Callable[[bytes], bytes], ...] = (
            self._flipped,
            self._overwritten,
            self._cut_off,
            self._cut_out,
            self._inserted,
            self._token_inserted,
            self._repeated,
            self._spliced,
        )

    def cases(self, number: int) -> Iterator[bytes]:
        """So many of them."""
        return (self.case() for _ in range(number))

    def case(self) -> bytes:
        """One, mostly a bent one."""
        if not self._dice.often(90):
            return self._random(RANDOM_BYTES_MAX)
        bent = self._sample()
        for _ in range(1 + (self._dice.below(BENDS_MAX) if self._dice.often(40) else 0)):
            bent = self._dice.one_of(self._bends)(bent)
        return bent

    def _sample(self) -> bytes:
        return self._dice.one_of(self._samples)

    def _random(self, length_max: int) -> bytes:
        return bytes(self._dice.below(256) for _ in range(self._dice.below(length_max)))

    def _place(self, data: bytes) -> int:
        return self._dice.below(len(data) + 1)

    def _flipped(self, data: bytes) -> bytes:
        return self._at_one_byte(data, lambda byte: byte ^ 1 << self._dice.below(8))

    def _overwritten(self, data: bytes) -> bytes:
        return self._at_one_byte(data, lambda _: self._dice.below(256))

    def _at_one_byte(self, data: bytes, change: Callable[[int], int]) -> bytes:
        if not data:
            return data
        place = self._dice.below(len(data))
        return data[:place] + bytes([change(data[place])]) + data[place + 1 :]

    def _cut_off(self, data: bytes) -> bytes:
        return data[: self._place(data)]

    def _cut_out(self, data: bytes) -> bytes:
        place = self._place(data)
        return data[:place] + data[place + 1 + self._dice.below(8) :]

    def _inserted(self, data: bytes) -> bytes:
        return self._with(data, self._random(8))

    def _token_inserted(self, data: bytes) -> bytes:
        return self._with(data, self._dice.one_of(self._tokens))

    def _repeated(self, data: bytes) -> bytes:
        place = self._place(data)
        return self._with(data, data[place : place + self._dice.below(32)])

    def _spliced(self, data: bytes) -> bytes:
        other = self._sample()
        return data[: self._place(data)] + other[self._place(other) :]

    def _with(self, data: bytes, piece: bytes) -> bytes:
        place = self._place(data)
        return data[:place] + piece + data[place:]


JSON_TOKENS: Final = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"{}", b"[]", b"null", b"true", b"-", b"0", b" ", b"\n"),
    *(b"-0", b"-0.0", b"1e999", b"-1e999", b"1e-999", b"1.5", b"NaN", b"Infinity", b"01", b"0x1", b"+1", b"1_0"),
    *(b"18446744073709551615", b"18446744073709551616", b"-9223372036854775808", b"-9223372036854775809"),
    *(b"9" * 400, b"1" + b"0" * 5_000, b"0." + b"3" * 5_000),
    *(b'"contract_version":1,', b'"contract_version":2,', b'"scope":null,', b'"unknown":1,', b'"a":1,"a":2,'),
    *(
        b"\xef\xbb\xbf",
        b"\0",
        b"\x1f",
        b"\x7f",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xff\xfe",
        b"\xc3",
    ),
    *(b'"\\ud800"', b'"\\udc00\\ud800"', b"\\ud83d\\ude00", b"\\u0000", b"\\u00zz", b"\\x41", b"\\"),
    *("é".encode(), "e\u0301".encode(), "\u2028".encode(), "\ufeff".encode(), "\u202e".encode(), "🙂".encode()),
    *(b"[" * 70, b"[" * 5_000, b'{"a":' * 70, b'{"a":' * 5_000, b"]" * 70, b"}" * 70),
    *(b"/* */", b"//", b"'", b"undefined", b"}{", b"\r\n\r\n"),
)

MSGPACK_TOKENS: Final = (
    *(bytes([byte]) for byte in (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xE0, 0xFF)),
    *(b"\xc4\x00", b"\xc5\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xc6\x7f\xff\xff\xff"),  # bytes of a length
    *(b"\xd9\xff", b"\xda\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xa1\xff", b"\xa3\xed\xa0\x80"),  # text
    *(b"\xdc\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xdd\x7f\xff\xff\xff", b"\x91" * 70, b"\x91" * 20_000),  # arrays
    *(b"\xde\xff\xff", b"\xdf\xff\xff\xff\xff", b"\x81\xa1a" * 70, b"\x81\xa1a" * 20_000),  # maps
    *(b"\xca\x7f\xc0\x00\x00", b"\xcb\x7f\xf0" + bytes(6), b"\xcb\x80" + bytes(7)),  # floats: NaN, infinity, -0.0
    *(b"\xcf" + b"\xff" * 8, b"\xd3\x80" + bytes(7), b"\xd0\xff", b"\xcc\x00"),  # integers
    *(b"\xd4\xff\x00", b"\xd6\xff" + bytes(4), b"\xd8\x00" + bytes(16), b"\xc9\xff\xff\xff\xff\x01"),  # extensions
)


@contextmanager
def bounded(seconds: float = 120, growth_bytes: int = 64 * MIB) -> Iterator[None]:
    """Fails if what is within takes longer, or makes this process so much larger than it was at its largest."""
    before = _peak_bytes()

    def expired(_number: int, frame: FrameType | None) -> None:
        raise AssertionError("a hang")

    previous = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert _peak_bytes() - before < growth_bytes


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def as_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
