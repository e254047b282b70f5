"""A stream whose credential is revoked must end and say so, and tell nothing that came later."""

from __future__ import annotations

import pytest

from crash_tests.admin_worker import check_end
from crash_tests.event_stream import Event
from crash_tests.violation import Violation
from tests.crash.scripted import Running
from tests.crash.told import delivery

REVOKED_AT = 7
BEFORE = Event("", "id 1", delivery(1, committed_at_millis=REVOKED_AT))
AFTER = Event("", "id 2", delivery(2, committed_at_millis=REVOKED_AT + 1))
RESYNC = Event("resync", "", {"code": "unauthorized"})


def end(*events: Event, stopping: bool = False) -> None:
    check_end(events, REVOKED_AT, Running(stopping=stopping))  # type: ignore[arg-type]  # a stand-in


def test_a_stream_that_ends_with_its_credential_is_sound() -> None:
    end(RESYNC)
    end(BEFORE, RESYNC)
    end(BEFORE, stopping=True)


@pytest.mark.parametrize("events", [(), (BEFORE,), (RESYNC, BEFORE), (Event("resync", "", {"code": "forbidden"}),)])
def test_a_stream_that_ends_otherwise_is_noticed(events: tuple[Event, ...]) -> None:
    with pytest.raises(Violation, match="the last event of a stream whose credential is revoked"):
        end(*events)


def test_a_stream_that_tells_of_what_came_after_the_revocation_is_noticed() -> None:
    with pytest.raises(Violation, match="revoked at 7 was told of 8"):
        end(BEFORE, AFTER, RESYNC)
