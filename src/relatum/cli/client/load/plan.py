"""What becomes of each line before anything is sent: its form, its names, its key."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from relatum.cli.client.load.forms import Family, Form, Operation, decoded, form_of, parsed
from relatum.cli.client.load.keys import Keys
from relatum.cli.client.load.lines import Line
from relatum.cli.client.load.names import Names, names_in, resolved
from relatum.cli.client.load.refusals import LineRefused
from relatum.cli.client.output import Json

_ENVELOPE_BYTES: Final = 64


class Planned(NamedTuple):
    """A line that can be sent. `input` is the line with its names replaced, as a file of rejects needs it."""

    number: int
    family: Family
    operation: Operation
    key: str
    name: str | None
    input: Any

    @property
    def size(self) -> int:
        """About how many bytes it takes in a request."""
        return len(msgspec.json.encode(self.operation)) + len(self.key.encode()) + _ENVELOPE_BYTES


class Rejected(NamedTuple):
    """A line that is refused, by this program or by the server."""

    number: int
    key: str | None
    code: str
    message: str
    status: int
    input: Any

    def members(self) -> Json:
        """The line of a file of rejects."""
        return {
            "line": self.number,
            "code": self.code,
            "message": self.message,
            "status": self.status,
            "input": self.input,
        }


class Reading(NamedTuple):
    """A line as it was read: its value and form, and the names it needs."""

    line: Line
    value: Any
    form: Form
    needs: set[str]


class Plan:
    """Turns lines into commands, in order. Needs a line's names to be settled before the line is planned."""

    def __init__(self, keys: Keys) -> None:
        self.names = Names()
        self._keys = keys

    def read(self, line: Line) -> Reading | Rejected:
        """The form of a line; its name is taken even where it is refused afterwards."""
        value: Any = line.content.decode("utf-8", "replace")
        try:
            value = parsed(line)
            form = form_of(value)
            if form.name is not None:
                self.names.take(form.name)
        except LineRefused as refused:
            return _rejected(line, None, refused, value)
        return Reading(line, value, form, names_in(form.operation))

    def settled(self, reading: Reading) -> Planned | Rejected:
        """The command of a line whose names all stand for something, or never will."""
        form = reading.form
        given = _self_contained(reading.value, resolved(form.operation, self.names.known))
        try:
            command = decoded(form.family, resolved(form.operation, self.names.resolve))
        except LineRefused as refused:
            return _rejected(reading.line, form.key, refused, given)
        key = form.key or self._keys.of(command)
        return Planned(reading.line.number, form.family, command, key, form.name, given)


def _self_contained(value: Any, operation: Json) -> Any:
    """A line's value with what its names stand for in their places."""
    for form in ("record", "relation", "operation", "link"):
        if form in value:
            match form:
                case "operation":
                    return value | {form: operation}
                case "link":
                    return value | {form: {name: one for name, one in operation.items() if name != "type"}}
                case _:
                    return value | {form: operation[form]}
    return value


def _rejected(line: Line, key: str | None, refused: LineRefused, given: Any) -> Rejected:
    return Rejected(line.number, key, refused.code, refused.message, refused.status, given)
