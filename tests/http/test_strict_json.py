"""The scan of a body before its typed decode: what it refuses, what it leaves alone, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.http import strict_json
from relatum.http.strict_json import StrictJsonError

MIB = 1024 * 1024


def refusal_of(body: bytes) -> str | None:
    try:
        strict_json.check(body)
    except StrictJsonError as error:
        return str(error)
    return None


# Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"b":2,"a":3}',
        b'{"ab":1,"a\\u0062":2}',
        b'{"a\\u0062":1,"\\u0061b":2}',
        b'{"/":1,"\\/":2}',
        b'{"\\ud83d\\ude00":1,"\xf0\x9f\x98\x80":2}',
        b'{"":1,"":2}',
        b'{"a" : 1 , "a"\n:\t2}',
        b'[{"a":[{"b":1,"b":2}]}]',
        b'{"a":{"a":1,"a":2}}',
        b'{"a":{"b":1},"a":{"b":1}}',
    ],
)
def test_a_name_repeated_in_one_object_is_refused_however_it_is_spelled(body: bytes) -> None:
    assert refusal_of(body) == "an object repeats a member name"


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"A":2}',
        b'{"a":{"a":{"a":1}}}',
        b'[{"a":1},{"a":1}]',
        b'{"a":"a","b":"a"}',
        b'{"a":"\\"b\\":1","b":2}',
        b'{"\xc3\xa9":1,"e\xcc\x81":2}',
        b'{"a\\\\u0062":1,"ab":2}',
    ],
)
def test_equal_names_of_different_objects_and_different_names_of_one_pass(body: bytes) -> None:
    assert refusal_of(body) is None


# Depth --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_64_levels_pass_and_65_do_not(opening: str, closing: str) -> None:
    per_step = opening.count("[") + opening.count("{")

    def nested(levels: int) -> bytes:
        steps, rest = divmod(levels, per_step)
        return ("[" * rest + opening * steps + "1" + closing * steps + "]" * rest).encode()

    assert refusal_of(nested(64)) is None
    assert refusal_of(nested(65)) == "the body is nested deeper than 64 levels"


def test_many_shallow_objects_and_brackets_inside_strings_are_not_depth() -> None:
    assert refusal_of(b"[" + b",".join([b"[{}]"] * 1000) + b"]") is None
    assert refusal_of(b'["' + b"[{" * 1000 + b'"]') is None
    assert refusal_of(b'["\\"' + b"[" * 100 + b'\\\\",[1]]') is None


def test_nesting_past_the_interpreters_own_bound_is_refused_like_any_other() -> None:
    assert refusal_of(b"[" * 100_000 + b"]" * 100_000) == "the body is nested deeper than 64 levels"


# Numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, 2**63, 2**64 - 1, 0, 10**18, -(10**18), 10**19])
def test_integers_of_64_bits_pass(number: int) -> None:
    assert refusal_of(b'{"data":[%d]}' % number) is None


@pytest.mark.parametrize("number", ["-9223372036854775809", "18446744073709551616", "1" + "0" * 20, "9" * 5000])
def test_integers_past_64_bits_are_refused_at_any_depth(number: str) -> None:
    assert refusal_of(f'{{"data":[{number}]}}'.encode()) == "an integer does not fit 64 bits"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1.7976931348623159e308", "1E+309", "9" * 400 + ".5"])
def test_numbers_that_overflow_a_double_are_refused(number: str) -> None:
    assert refusal_of(f'{{"data":{number}}}'.encode()) == "a number does not fit a finite double"


@pytest.mark.parametrize("number", ["1.7976931348623157e308", "1e-999", "0e999", "-0", "-0.0", "1e2", "0.1"])
def test_finite_numbers_pass(number: str) -> None:
    assert refusal_of(f'{{"data":{number}}}'.encode()) is None


def test_a_negative_zero_is_the_integer_zero_for_the_decoder_and_a_float_where_it_is_written_as_one() -> None:
    integer, double = msgspec.json.decode(b"[-0,-0.0]")
    assert (0, "0") == (integer, str(integer))
    assert (0.0, "-0.0") == (double, str(double))


# Text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3"])
def test_bytes_that_are_not_utf8_are_refused_in_names_and_values(text: bytes) -> None:
    assert refusal_of(b'{"a":"' + text + b'"}') == "the body is not UTF-8"
    assert refusal_of(b'{"' + text + b'":1}') == "the body is not UTF-8"


class Narrow(msgspec.Struct):
    a: int


@pytest.mark.parametrize("escape", ["\\ud800", "\\udc00", "\\ud800\\u0041", "\\udc00\\ud800", "x\\uD800 and more"])
def test_msgspec_refuses_a_lone_surrogate_wherever_it_stands(escape: str) -> None:
    for decode in (msgspec.json.Decoder().decode, msgspec.json.Decoder(Narrow).decode):
        for body in (f'{{"a":1,"b":"{escape}"}}', f'{{"a":1,"{escape}":2}}', f'{{"a":1,"b":[["{escape}"]]}}'):
            with pytest.raises(msgspec.DecodeError):
                decode(body.encode())


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"{", b"[1,]", b"{,}", b'{"a"}', b'{"a":}', b"{'a':1}", b"01", b"1.", b".5", b"+1", b'"\x01"',
        b'"\\x"', b'"\\u00e"', b"{} {}", b"{}\x00", b"\xef\xbb\xbf{}", b"[1]//", b'"\n"', b"\x0c1", b'"abc', b"tru",
        '{"a":1}'.encode("utf-16"), '{"a":1}'.encode("utf-32"), b"\xc2\xa01", b"\\", b'"\\',
    ],
)  # fmt: skip
def test_what_is_no_json_at_all_is_refused(body: bytes) -> None:
    assert refusal_of(body) in ("the body is not well-formed JSON", "the body is not UTF-8")


@pytest.mark.parametrize("constant", [b"NaN", b"Infinity", b"-Infinity"])
def test_constants_of_other_languages_are_refused(constant: bytes) -> None:
    assert refusal_of(b'{"a":' + constant + b"}") == "NaN and Infinity are not JSON"


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0aeE+-.1 \n', max_size=60).map(str.encode))
def test_any_bytes_end_in_a_pass_or_in_the_one_error(body: bytes) -> None:
    refused = refusal_of(body)
    assert refused is None or refused.isprintable()


@given(st.text(alphabet='{}[]",:\\u0aeE+-.12 \n', max_size=40).map(str.encode))
def test_what_passes_is_json_for_the_typed_decoder_as_well(body: bytes) -> None:
    if refusal_of(body) is None and b"\\u" not in body:
        msgspec.json.decode(body)


# Against an oracle --------------------------------------------------------------------------------
# Documents are written out from a tree that keeps an object's members as a list, so that the tree itself says whether a
# name is repeated, how deep it is and which numbers it holds.


@dataclass(frozen=True)
class Members:
    pairs: list[tuple[str, object]]


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=6),
    st.integers(min_value=-(2**66), max_value=2**66),
    st.sampled_from([2**64 - 1, 2**64, -(2**63), -(2**63) - 1]),
    st.floats(allow_nan=False),
)
NAMES = st.sampled_from(["a", "b", "ab", "é", "😀", '"', "\\", "\\u0061", "{", ""])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(NAMES, inner), max_size=4).map(Members),
    max_leaves=20,
)


def fits(tree: object) -> bool:
    match tree:
        case Members(pairs):
            names = [name for name, _ in pairs]
            return len(set(names)) == len(names) and all(fits(value) for _, value in pairs)
        case list():
            return all(map(fits, tree))
        case bool() | str() | None:
            return True
        case int():
            return -(2**63) <= tree <= 2**64 - 1
        case float():
            return abs(tree) != float("inf")
        case _:
            raise AssertionError(tree)


def write(tree: object, draw: st.DataObject) -> str:
    gap = draw.draw(st.sampled_from(["", " ", "\n\t"]))
    match tree:
        case Members(pairs):
            members = [f"{write(name, draw)}{gap}:{gap}{write(value, draw)}" for name, value in pairs]
            return "{" + gap + f"{gap},".join(members) + gap + "}"
        case list():
            return "[" + f",{gap}".join(write(item, draw) for item in tree) + gap + "]"
        case str():
            spelling = draw.draw(st.sampled_from(["plain", "ascii", "escaped"]))
            if spelling == "escaped":
                units = tree.encode("utf-16-be").hex()
                return '"' + "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)) + '"'
            return json.dumps(tree, ensure_ascii=spelling == "ascii")
        case float() if abs(tree) == float("inf"):
            return "1e999" if tree > 0 else "-1e999"
        case _:
            return json.dumps(tree)


@given(st.data(), TREES)
def test_the_verdict_is_that_of_the_tree_the_document_was_written_from(data: st.DataObject, tree: object) -> None:
    body = write(tree, data).encode()
    assert fits(tree) == (refusal_of(body) is None)


# The quick look -----------------------------------------------------------------------------------


def is_found_fault_with(body: bytes) -> bool:
    try:
        strict_json.scan(body)
    except StrictJsonError:
        return True
    return False


@given(st.data(), TREES)
def test_a_quick_look_never_lets_through_what_the_scan_refuses(data: st.DataObject, tree: object) -> None:
    body = write(tree, data).encode()
    assert not (strict_json.is_evident(body) and is_found_fault_with(body))


@given(
    st.binary(max_size=60)
    | st.lists(
        st.sampled_from(
            [*'{}[]":,1-0 é', "\\", '"a"', '"a":', ".5", "e9", "9" * 18, "e308"],
        ),
        max_size=14,
    ).map(lambda parts: "".join(parts).encode())
)
def test_nor_does_it_of_bytes_that_are_hardly_json(body: bytes) -> None:
    assert not (strict_json.is_evident(body) and is_found_fault_with(body))


@pytest.mark.parametrize(("levels", "evident"), [(64, True), (65, False)])
def test_it_counts_levels_where_there_are_many_brackets_inside_strings_and_beside_each_other(
    levels: int, evident: bool
) -> None:
    body = b'["]]]",' + b"[" * (levels - 1) + b'"[[["' + b"]" * (levels - 1) + b",[]" * 100 + b"]"
    assert evident == strict_json.is_evident(body)


def test_it_is_enough_for_a_body_without_escapes_and_long_numbers() -> None:
    item = b'{"key":"k\xc3\xa9","operation":{"type":"assert","at":1700000000000,"weight":0.25,"note":null,"all":[]}}'
    assert strict_json.is_evident(b'{"commands":[' + b",".join([item] * 64) + b"]}")


# Hostile input ---------------------------------------------------------------------------------------------

HOSTILE: dict[str, Callable[[int], bytes]] = {
    "brackets never closed": lambda size: b"[" * size,
    "empty arrays": lambda size: b"[" + b"[]," * (size // 3) + b"1]",
    "towers of the permitted height": lambda size: b"[" + b",".join([b"[" * 63 + b"]" * 63] * (size // 127)) + b"]",
    "quotes": lambda size: b'"' * size,
    "escaped quotes never closed": lambda size: b"[" * 70 + b'"' + b'\\"' * (size // 2),
    "backslashes": lambda size: b"[" * 70 + b'"' + b"\\" * size,
    "strings behind many brackets": lambda size: b"[" * 64 + b'"\\"",' * (size // 5) + b"1" + b"]" * 64,
    "one integer": lambda size: b"[" + b"9" * size + b"]",
    "one fraction": lambda size: b"[0." + b"9" * size + b"]",
    "one exponent": lambda size: b"[1e-" + b"9" * size + b"]",
    "integers": lambda size: b"[" + b"1," * (size // 2) + b"1]",
    "floats": lambda size: b"[" + b"1.5," * (size // 4) + b"1]",
    "names": lambda size: b"{" + b",".join(b'"%x":1' % i for i in range(size // 9)) + b"}",
    "blanks": lambda size: b"[" + b" " * size + b"]",
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_mebibyte_gets_the_verdict_of_a_small_one(shape: str) -> None:
    """That the cost is linear is measured by tests/benchmarks/strict_json.py, since no test may depend on time."""
    small, large = refusal_of(HOSTILE[shape](MIB // 16)), refusal_of(HOSTILE[shape](MIB))
    assert small == large
