"""Canonical bytes: shortest forms, sorted names, integers told apart from floats, one form for equal values."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum import limits
from relatum.core.canonical import encode, normal_json

BYTES: list[tuple[Any, str]] = [
    (None, "c0"),
    (False, "c2"),
    (True, "c3"),
    (0, "00"),
    (127, "7f"),
    (128, "cc80"),
    (255, "ccff"),
    (256, "cd0100"),
    (65_535, "cdffff"),
    (65_536, "ce00010000"),
    (2**32 - 1, "ceffffffff"),
    (2**32, "cf0000000100000000"),
    (limits.I64_MAX, "cf7fffffffffffffff"),
    (limits.I64_MAX + 1, "cf8000000000000000"),
    (limits.U64_MAX, "cfffffffffffffffff"),
    (-1, "ff"),
    (-32, "e0"),
    (-33, "d0df"),
    (-128, "d080"),
    (-129, "d1ff7f"),
    (-32_768, "d18000"),
    (-32_769, "d2ffff7fff"),
    (-(2**31), "d280000000"),
    (-(2**31) - 1, "d3ffffffff7fffffff"),
    (limits.I64_MIN, "d38000000000000000"),
    (0.0, "cb0000000000000000"),
    (1.0, "cb3ff0000000000000"),
    (-1.5, "cbbff8000000000000"),
    (5e-324, "cb0000000000000001"),
    ("", "a0"),
    ("é", "a2c3a9"),
    ("a" * 31, "bf" + "61" * 31),
    ("a" * 32, "d920" + "61" * 32),
    ("a" * 255, "d9ff" + "61" * 255),
    ("a" * 256, "da0100" + "61" * 256),
    ("a" * 65_536, "db00010000" + "61" * 65_536),
    (b"", "c400"),
    (bytes(256), "c50100" + "00" * 256),
    ([], "90"),
    ([1] * 15, "9f" + "01" * 15),
    ([1] * 16, "dc0010" + "01" * 16),
    ({}, "80"),
    ({"b": 1, "a": 2}, "82a16102a16201"),
    ({"b": 1, "aa": 2}, "82a2616102a16201"),
    ({"a": {"d": 1, "c": 2}}, "81a16182a16302a16401"),
]


@pytest.mark.parametrize(("value", "expected"), BYTES, ids=[encoded[:24] for _, encoded in BYTES])
def test_a_value_has_the_bytes_of_the_documented_form(value: Any, expected: str) -> None:
    assert expected == encode(value).hex()


def test_names_are_ordered_by_their_utf8_bytes_and_not_by_utf16_units() -> None:
    last_of_the_plane, first_beyond = "\uffff", "\U00010000"
    assert last_of_the_plane.encode() < first_beyond.encode()
    assert last_of_the_plane.encode("utf-16-be") > first_beyond.encode("utf-16-be")
    value = {first_beyond: 1, last_of_the_plane: 2}
    assert [last_of_the_plane, first_beyond] == list(msgspec.msgpack.decode(encode(value)))


def test_an_integer_is_never_a_float_and_no_bit_of_it_is_lost() -> None:
    assert encode(1) != encode(1.0)
    assert encode(2**53) != encode(2**53 + 1)
    assert encode(limits.U64_MAX) != encode(limits.U64_MAX - 1)
    assert encode(limits.I64_MIN) != encode(limits.I64_MIN + 1)


def test_minus_zero_is_zero_wherever_it_stands() -> None:
    found = normal_json({"a": -0.0, "b": [-0.0, {"c": -0.0}]})
    assert encode({"a": 0.0, "b": [0.0, {"c": 0.0}]}) == encode(found)
    assert 1.0 == math.copysign(1.0, found["b"][1]["c"])


@pytest.mark.parametrize("edge", [limits.U64_MAX, limits.I64_MIN, 0, -1])
def test_integers_of_free_json_fill_64_bits(edge: int) -> None:
    assert {"n": [edge]} == normal_json({"n": [edge]})


BEYOND: list[Any] = [
    limits.U64_MAX + 1,
    limits.I64_MIN - 1,
    math.inf,
    -math.inf,
    math.nan,
    {1: "a name that is no text"},
    {"bytes": b""},
    {"set": {1}},
    object(),
]


@pytest.mark.parametrize("value", BEYOND, ids=lambda value: f"{type(value).__name__} {value!s:.40}"[:24])
def test_what_is_not_free_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the class is the promise, the text is not
        normal_json([value])


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"n": inner}], ids=["lists", "objects"])
def test_free_json_nests_64_levels_and_no_deeper(wrap: Any) -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels - 1):
            value = wrap(value)
        return value

    assert nested(limits.JSON_DEPTH_MAX) == normal_json(nested(limits.JSON_DEPTH_MAX))
    with pytest.raises(ValueError, match="nested too deeply"):
        normal_json(nested(limits.JSON_DEPTH_MAX + 1))


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(limits.I64_MIN, limits.U64_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
FREE_JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20
)


def kinds(value: Any) -> Any:
    """The value with the type of every leaf beside it, since 1, 1.0 and True are equal."""
    match value:
        case dict():
            return {name: kinds(one) for name, one in value.items()}
        case list():
            return [kinds(one) for one in value]
        case _:
            return type(value), value


@given(FREE_JSON)
def test_free_json_survives_its_canonical_bytes_and_is_normal_after_one_pass(value: Any) -> None:
    normal = normal_json(value)
    assert kinds(normal) == kinds(msgspec.msgpack.decode(encode(normal)))
    assert encode(normal) == encode(normal_json(normal))


@given(st.dictionaries(st.text(), LEAVES, min_size=2, max_size=6), st.randoms())
def test_the_order_in_which_names_came_does_not_matter(value: dict[str, Any], random: Any) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)
    assert encode(normal_json(value)) == encode(normal_json(dict(shuffled)))
