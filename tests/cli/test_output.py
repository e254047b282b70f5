"""Standard output: UTF-8 whatever the locale, and no secret that is lost because it could not be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from tests.cli.program import COMMAND, SECONDS_MAX, environment, init, run

IDENTITY = ("--company", "acme", "--subject", "ada")
DREAM = "夢 é"
LOCALES = {
    "as elsewhere": {},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "C, and no other mode": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
}


def shell(script: str, *arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell, in which "$@" stands for the program with these arguments."""
    return subprocess.run(
        ["bash", "-c", script, "sh", *COMMAND, *arguments],
        env=environment(**settings),
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("output") / "ledger"
    init(directory)
    return directory


# Whatever the locale


@pytest.mark.parametrize("locale", LOCALES)
def test_names_go_in_and_out_as_utf_8_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / DREAM)
    made = shell('"$@"', "init", os.fsdecode(path), "--company", DREAM, "--subject", DREAM, **LOCALES[locale])
    assert (0, b"") == (made.returncode, made.stderr)
    credential = json.loads(made.stdout.decode())["credential"]
    assert (DREAM, DREAM) == (credential["company_id"], credential["spec"]["subject_id"])
    settings = tmp_path / "relatum.toml"
    settings.write_bytes(b'directory = "%b"\n' % path)
    printed = shell('"$@"', "serve", "--config", settings, "--print-settings", **LOCALES[locale])
    assert b'directory = "%b"\n' % path in printed.stdout


def test_a_name_that_is_no_text_is_told_escaped_after_the_work_is_done(store: Path, tmp_path: Path) -> None:
    done = run("export", store, "--links", tmp_path / os.fsdecode(b"o\xff"))
    assert 0 == done.returncode, done.stderr
    assert str(tmp_path / "o\\xff") == json.loads(done.stdout)["directory"]
    assert 2 == run("serve", os.fsdecode(b"o\xff"), "--print-settings").returncode


DOCUMENT = """
from relatum.http.openapi.document import document
from relatum.http.route_table import ROUTES
print(document(ROUTES).as_json().decode())
"""


@pytest.mark.parametrize(
    "words", [("-m", "relatum", "--help"), ("-m", "relatum", "admin", "issue", "--help"), ("-c", DOCUMENT)], ids=len
)
def test_help_and_document_are_the_same_without_docstrings_in_the_code(words: tuple[str, ...]) -> None:
    told = [
        subprocess.run([sys.executable, *words], env=env, capture_output=True, timeout=SECONDS_MAX, check=True).stdout
        for env in (environment(), environment(PYTHONOPTIMIZE="2"))
    ]
    assert told[0] == told[1]


# Secrets that are told once


def authentic(directory: Path, secret: str) -> bool:
    with Ledger.open(directory) as ledger, ledger.view() as view:
        return credentials.authenticate(view, secret) is not None


@pytest.fixture
def nearly_full(tmp_path: Path) -> Iterator[str]:
    """Appends to a file which has room for some bytes, but not for a secret."""
    path, blocks = tmp_path / "nearly-full", 1 << 20
    with path.open("wb") as file:
        file.truncate(blocks * 1024 - 100)
    yield f'ulimit -f {blocks}; "$@" >> {path}'
    assert blocks * 1024 - 100 == path.stat().st_size


@pytest.mark.parametrize(
    "script",
    [
        '"$@" > /dev/full',
        '"$@" >&-',
        '"$@" 1< /dev/null',
        'exec > >(exec true); wait $!; "$@"',
    ],
    ids=["full", "closed", "not open for writing", "a pipe that nobody reads"],
)
def test_nothing_is_made_where_its_secret_can_t_be_told(script: str, tmp_path: Path) -> None:
    refused = shell(script, "init", tmp_path / "new", *IDENTITY)
    assert 1 == refused.returncode, refused.stderr
    assert refused.stderr.startswith(b"Error: standard output can't be written (")
    assert refused.stderr.endswith(b"nothing was made\n")
    assert not (tmp_path / "new").exists()


def test_nobody_is_issued_where_the_secret_can_t_be_told(store: Path) -> None:
    position = _position(store)
    assert 1 == shell('"$@" > /dev/full', "admin", "issue", store, *IDENTITY).returncode
    assert position == _position(store)


def _position(directory: Path) -> object:
    with Ledger.open(directory) as ledger, ledger.view() as view:
        return view.position


def test_nothing_is_made_where_the_file_is_full(nearly_full: str, tmp_path: Path) -> None:
    refused = shell(nearly_full, "init", tmp_path / "new", *IDENTITY)
    assert 1 == refused.returncode, refused.stderr
    assert b"nothing was made" in refused.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("redirection", [">", ">>"])
def test_a_file_holds_the_document_and_nothing_else(redirection: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.write_bytes(b"[]\n")
    assert 0 == shell(f'"$@" {redirection} {told}', "init", tmp_path / "new", *IDENTITY).returncode
    lines = told.read_bytes().splitlines(keepends=True)
    assert ([b"[]\n"] if redirection == ">>" else []) == lines[:-1]
    assert authentic(tmp_path / "new", json.loads(lines[-1])["secret"])


# Secret files


def test_a_secret_file_is_for_its_owner_alone_and_the_secret_is_nowhere_else(tmp_path: Path) -> None:
    directory, file = tmp_path / "ledger", tmp_path / "admin.secret"
    made = shell('umask 0; "$@"', "init", directory, *IDENTITY, "--secret-file", file)
    assert (0, b"") == (made.returncode, made.stderr)
    assert 0o600 == file.stat().st_mode & 0o777
    secret = file.read_text()
    assert secret.endswith("\n")
    assert authentic(directory, secret.strip())
    assert ["contract_version", "credential"] == list(json.loads(made.stdout))

    again = run("admin", "issue", directory, *IDENTITY, "--secret-file", file)
    assert (1, "") == (again.returncode, again.stdout)
    assert f"{file} exists already, and nothing was made" in again.stderr
    assert secret == file.read_text()

    other = tmp_path / "other.secret"
    refused = run("init", directory, *IDENTITY, "--secret-file", other)
    assert 1 == refused.returncode
    assert "the company exists already" in refused.stderr
    assert not other.exists()

    assert 0 == run("admin", "issue", directory, *IDENTITY, "--secret-file", other).returncode
    assert authentic(directory, other.read_text().strip())


def test_a_secret_file_that_can_t_be_written_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    for file in (tmp_path / "full", tmp_path / "missing" / "file"):
        refused = run("init", tmp_path / "ledger", *IDENTITY, "--secret-file", file)
        assert (1, "") == (refused.returncode, refused.stdout)
        assert not (tmp_path / "ledger").exists()


def test_an_init_container_may_run_again(tmp_path: Path) -> None:
    words = ("init", tmp_path / "ledger", *IDENTITY, "--secret-file", tmp_path / "secret", "--if-missing")
    assert 0 == run(*words).returncode
    secret = (tmp_path / "secret").read_text()
    again = run(*words)
    assert (0, "") == (again.returncode, again.stdout)
    assert "exists already; nothing was made" in again.stderr
    assert secret == (tmp_path / "secret").read_text()
    assert 0 == run("init", tmp_path / "ledger", "--company", "zenith", "--subject", "zoe", "--if-missing").returncode
