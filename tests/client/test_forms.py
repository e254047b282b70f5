"""The blocking client is what is made of the asynchronous one, and one table maps codes to exceptions."""

from __future__ import annotations

import pickle
from typing import get_args

import pytest

from relatum.client import errors
from relatum.errors import STATUS, Code
from tests.client.blocking_form import made


def test_the_blocking_client_is_made_of_the_asynchronous_one() -> None:
    assert [] == [path.name for path, text in made().items() if path.read_text() != text]


def test_every_code_has_a_class_of_its_status() -> None:
    assert set(get_args(Code)) == set(errors.BY_CODE)
    for code in get_args(Code):
        error = errors.refused(STATUS[code], code, "why", "/route")
        assert type(error) is errors.BY_CODE[code]
        assert f"{STATUS[code]} {code}: why" == str(error)


@pytest.mark.parametrize(
    ("status", "kind"), [(400, errors.InvalidRequest), (404, errors.NotFound), (409, errors.Conflict)]
)
def test_an_unknown_code_raises_the_class_of_its_status(status: int, kind: type[errors.RequestRefused]) -> None:
    assert type(errors.refused(status, "brand_new", "why", "/route")) is kind


def test_413_is_too_large_whatever_its_code() -> None:
    assert type(errors.refused(413, "invalid_request", "why", "/route")) is errors.TooLarge


def test_exceptions_can_be_pickled() -> None:
    unknown = errors.OutcomeUnknown("sent", "key-1", "record")
    unknown.unsettled = ("key-2",)
    given = [
        unknown,
        errors.UnexpectedAnswer(200, "text/html", b"<html>"),
        errors.refused(409, "journal_history_conflict", "why", "/route"),
        errors.ClientClosed(),
        errors.NotReached("never"),
    ]
    for error in given:
        again = pickle.loads(pickle.dumps(error))
        assert (type(error), str(error), error.__dict__) == (type(again), str(again), again.__dict__)
