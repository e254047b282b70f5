"""The forms that a line may have, and the command that each of them means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from relatum.cli.client.load.lines import Line
from relatum.cli.client.load.refusals import LineRefused
from relatum.cli.client.output import Json
from relatum.cli.client.values import strict
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.links import Link, Unlink
from relatum.core.text import is_identifier

Family = Literal["record", "relation", "link"]
Operation = RecordOperation | RelationOperation | Link | Unlink

_FORMS: Final = ("record", "relation", "operation", "link")
_BESIDE: Final = {"record": {"as", "save", "key"}, "operation": {"as", "key"}, "relation": {"key"}, "link": {"key"}}
_REJECTED: Final = {"line", "code", "message", "status", "input"}
_MAKING: Final = {"create", "save", "derive"}
_RELATION_TYPES: Final = {"assert", "retire", "restore"}
_RECORD_TYPES: Final = {str(struct.__struct_config__.tag) for struct in get_args(RecordOperation)}


class Form(NamedTuple):
    """What a line says: an operation as it stands there, the name it gives, the key it brings."""

    family: Family
    operation: Json
    name: str | None
    key: str | None


def parsed(line: Line) -> Any:
    """The JSON value of a line; of one from a file of rejects, what was rejected."""
    if line.too_long:
        raise LineRefused("the line is longer than any command may be", status=413)
    return unwrapped(_strict(line.content))


def unwrapped(value: Any) -> Any:
    """What was rejected, of a line of rejects; any other value as it is."""
    if isinstance(value, dict) and value.keys() == _REJECTED:
        value = value["input"]
        if isinstance(value, str):
            value = _strict(value.encode())
    return value


def _strict(content: bytes) -> Any:
    try:
        return strict(content)
    except ValueError as error:
        raise LineRefused(f"this line is not JSON: {error}") from None


def form_of(value: Any) -> Form:
    """The form of a line's value."""
    if not isinstance(value, dict):
        raise LineRefused("a line is an object")
    found = [form for form in _FORMS if form in value]
    if len(found) != 1:
        raise LineRefused("a line has one of record, relation, operation and link")
    form = found[0]
    for member in value:
        if member != form and member not in _BESIDE[form]:
            near = get_close_matches(member, _BESIDE[form], n=1)
            raise LineRefused(f"a line with {form} has no such member" + (f"; did you mean {near[0]}?" if near else ""))
    if not isinstance(value[form], dict):
        raise LineRefused(f"{form} is an object")
    name, key = value.get("as"), value.get("key")
    if name is not None and not (isinstance(name, str) and is_identifier(name)):
        raise LineRefused("a name is 1 to 256 bytes, not blank, without control characters")
    if key is not None and not isinstance(key, str):
        raise LineRefused("a key is a text")
    family, operation = _operation(form, value)
    if name is not None and operation.get("type") not in _MAKING:
        raise LineRefused("only a line that makes a record can give it a name")
    return Form(family, operation, name, key)


def _operation(form: str, value: Json) -> tuple[Family, Json]:
    given = value[form]
    match form:
        case "record":
            if not isinstance(value.get("save", False), bool):
                raise LineRefused("save is true or false")
            return "record", {"type": "save" if value.get("save") else "create", "record": given}
        case "relation":
            return "relation", {"type": "assert", "relation": given}
        case "link":
            return "link", {"type": "link"} | given
    kind = given.get("type")
    if not isinstance(kind, str):
        raise LineRefused("an operation has a type")
    if kind in _RELATION_TYPES or (kind == "review" and "relation_id" in given):
        return "relation", given
    if kind in _RECORD_TYPES:
        return "record", given
    known = sorted(_RELATION_TYPES | _RECORD_TYPES)
    near = get_close_matches(kind, known, n=1)
    raise LineRefused("no such type of operation" + (f"; did you mean {near[0]}?" if near else ""))


_TYPES: Final[dict[Family, Any]] = {"record": RecordOperation, "relation": RelationOperation, "link": Link}


def decoded(family: Family, operation: Json) -> Operation:
    """The operation as a value of the contract, names resolved; `LineRefused` where it breaks the schema."""
    try:
        made: Operation = msgspec.convert(operation, _TYPES[family])
    except msgspec.ValidationError as error:
        raise LineRefused(str(error)) from None
    return made
