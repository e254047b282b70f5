"""A restored store that goes on: whoever comes from the original with a cursor is told that this is another history."""

from __future__ import annotations

from pathlib import Path

from tests.backup.operated import command, done, operated
from tests.cli.program import run
from tests.http.client import RECORDS, RELATIONS, Api, Caller, Json, issue, refusal
from tests.http.serving import Server

CONFLICT = (409, "journal_history_conflict")


def page(caller: Caller, path: str, after: Json | None = None) -> Json:
    answer = caller.ask(f"{path}/changes", query={"limit": 100, "after": after})
    assert 200 == answer.status_code, answer.text
    found: Json = answer.json()["page"]
    return found


def refusal_after(caller: Caller, path: str, after: Json) -> tuple[int, str]:
    return refusal(caller.ask(f"{path}/changes", query={"limit": 100, "after": after}))


def test_cursors_of_the_original_are_refused_once_the_histories_part(tmp_path: Path) -> None:
    with operated(tmp_path / "store") as (server, secret), Api(server.url) as api:
        caller = issue(Caller(api, secret))
        caller.relate()
        at_backup = {path: page(caller, path)["next_cursor"] for path in (RECORDS, RELATIONS)}
        done(command(server, "backup", tmp_path / "backup"))
        caller.relate()
        beyond = {path: page(caller, path)["next_cursor"] for path in (RECORDS, RELATIONS)}
        assert 0 == server.stop()
    restored = run("restore", tmp_path / "backup", tmp_path / "restored")
    done(restored)
    assert "its own from here on" in restored.stderr
    with Server(tmp_path / "restored") as server, Api(server.url) as api:
        again = Caller(api, caller.secret, caller.scope)
        for path in (RECORDS, RELATIONS):
            assert CONFLICT == refusal_after(again, path, beyond[path]), "beyond the tip of the restored journal"
            assert [] == page(again, path, at_backup[path])["changes"], "up to the backup the histories are one"
        again.relate()
        again.relate()
        for path in (RECORDS, RELATIONS):
            assert CONFLICT == refusal_after(again, path, beyond[path]), "on a prefix that went another way"
            assert 2 <= len(page(again, path, at_backup[path])["changes"])
