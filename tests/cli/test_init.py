"""`relatum init` and `relatum admin issue`: companies and their administrators."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from relatum.cli import main
from relatum.core.access import Credential
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from tests.cli.program import init, run, serving


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_it_makes_is_for_its_owner_alone_and_what_it_finds_stays_as_it_is(tmp_path: Path) -> None:
    init(tmp_path / "new" / "store")
    assert 0o700 == mode_of(tmp_path / "new" / "store")
    assert mode_of(tmp_path / "new") == 0o777 & ~umask()
    (tmp_path / "found").mkdir()
    (tmp_path / "found").chmod(0o750)
    init(tmp_path / "found")
    assert 0o750 == mode_of(tmp_path / "found")


def umask() -> int:
    os.umask(present := os.umask(0o777))
    return present


def authenticated(directory: Path, secret: str) -> Credential | None:
    with Ledger.open(directory) as ledger, ledger.view() as view:
        return credentials.authenticate(view, secret)


def revoke(directory: Path, printed: dict[str, Any]) -> None:
    with Ledger.open(directory) as ledger:
        with ledger.view() as view:
            administrator = credentials.authenticate(view, printed["secret"])
        assert administrator is not None
        asyncio.run(ledger.revoke_credential(administrator, administrator.id, administrator.revision))


def test_init_prints_one_object_and_nothing_else(tmp_path: Path) -> None:
    made = run("init", tmp_path / "ledger", "--company", "acme", "--subject", "ada")
    assert (0, "", 1) == (made.returncode, made.stderr, made.stdout.count("\n"))
    printed = json.loads(made.stdout)
    assert ["contract_version", "credential", "secret"] == list(printed)
    assert 1 == printed["contract_version"]
    credential = printed["credential"]
    assert ("acme", "ada", ["credential_admin"]) == (
        credential["company_id"],
        credential["spec"]["subject_id"],
        credential["spec"]["capabilities"],
    )
    assert ["bootstrapped"] == [event["action"] for event in credential["history"]]


def test_the_printed_secret_is_the_credential_s(tmp_path: Path) -> None:
    printed = init(tmp_path)
    found = authenticated(tmp_path, printed["secret"])
    assert found is not None
    assert printed["credential"]["id"] == found.id


def test_no_file_of_the_store_holds_the_secret(tmp_path: Path) -> None:
    secret = init(tmp_path)["secret"].encode()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert [] == [path for path in files if secret in path.read_bytes() or secret[-43:] in path.read_bytes()]


def test_a_store_takes_further_companies(tmp_path: Path) -> None:
    first, second = init(tmp_path, "acme"), init(tmp_path, "zenith")
    for printed in (first, second):
        assert authenticated(tmp_path, printed["secret"]) is not None


def test_a_company_is_made_once_even_if_nobody_is_left_in_it(tmp_path: Path) -> None:
    printed = init(tmp_path)
    for _ in range(2):
        again = run("init", tmp_path, "--company", "acme", "--subject", "eve")
        assert (1, "") == (again.returncode, again.stdout)
        assert "the company exists already" in again.stderr
        assert "relatum admin issue" in again.stderr
        if authenticated(tmp_path, printed["secret"]):
            revoke(tmp_path, printed)


def test_a_lost_administrator_is_replaced_offline_and_the_history_tells(tmp_path: Path) -> None:
    lost = init(tmp_path)
    revoke(tmp_path, lost)
    assert authenticated(tmp_path, lost["secret"]) is None
    issued = run("admin", "issue", tmp_path, "--company", "acme", "--subject", "eve")
    assert (0, "", 1) == (issued.returncode, issued.stderr, issued.stdout.count("\n"))
    printed = json.loads(issued.stdout)
    assert ["bootstrapped"] == [event["action"] for event in printed["credential"]["history"]]
    found = authenticated(tmp_path, printed["secret"])
    assert found is not None
    assert ("eve", ("credential_admin",)) == (found.spec.subject_id, found.spec.capabilities)


def test_a_company_that_was_never_made_has_no_administrator_to_replace(tmp_path: Path) -> None:
    init(tmp_path)
    refused = run("admin", "issue", tmp_path, "--company", "nobody", "--subject", "eve")
    assert (1, "") == (refused.returncode, refused.stdout)
    assert "no such company" in refused.stderr


def test_an_administrator_is_issued_only_where_there_is_a_store(tmp_path: Path) -> None:
    missing = run("admin", "issue", tmp_path / "none", "--company", "acme", "--subject", "eve")
    assert (1, "") == (missing.returncode, missing.stdout)
    assert "no relatum store in" in missing.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("identifier", ["a", "A" * 256, "ä" * 128, "acme industries", "0"])
def test_identifiers_up_to_256_bytes_are_taken(tmp_path: Path, identifier: str) -> None:
    printed = init(tmp_path, identifier, identifier)
    assert identifier == printed["credential"]["company_id"] == printed["credential"]["spec"]["subject_id"]


@pytest.mark.parametrize(
    "identifier", ["", " ", "\u3000", "a" * 257, "ä" * 128 + "b", "a\tb", "a\x7f", "a\x85", "\udcff"]
)
@pytest.mark.parametrize("option", ["--company", "--subject"])
def test_what_is_no_identifier_is_refused_with_the_rule_and_makes_nothing(
    tmp_path: Path, option: str, identifier: str
) -> None:
    given = {"--company": "acme", "--subject": "ada"} | {option: identifier}
    refused = CliRunner().invoke(
        main, ["init", str(tmp_path / "ledger"), *(word for pair in given.items() for word in pair)]
    )
    assert (2, "") == (refused.exit_code, refused.stdout)
    assert f"'{option}': must be 1 to 256 bytes" in refused.stderr
    assert not (tmp_path / "ledger").exists()


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("chapter one")
    refused = run("init", tmp_path, "--company", "acme", "--subject", "ada")
    assert (1, "") == (refused.returncode, refused.stdout)
    assert "is not empty and holds no relatum store" in refused.stderr
    assert ["thesis.txt"] == [path.name for path in tmp_path.iterdir()]


def test_a_path_that_can_not_be_a_directory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = run("init", tmp_path / "file" / "below", "--company", "acme", "--subject", "ada")
    assert (1, "", 1) == (refused.returncode, refused.stdout, refused.stderr.count("\n"))
    assert "Error: can't make" in refused.stderr


def test_a_store_that_is_served_is_not_opened_twice(tmp_path: Path) -> None:
    init(tmp_path)
    with serving(tmp_path) as (server, _):
        for words in (("init", tmp_path), ("admin", "issue", tmp_path)):
            refused = run(*words, "--company", "other", "--subject", "eve")
            assert (1, "", 1) == (refused.returncode, refused.stdout, refused.stderr.count("\n"))
            assert f"directory in use: {tmp_path / 'engine'} is open in process {server.process.pid}" in refused.stderr
        assert 0 == server.stop()
