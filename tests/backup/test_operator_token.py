"""The file with the operator's token: nobody else may be able to read it, and it must be hard to guess."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relatum.http.operator import OperatorToken, readers
from relatum.http.settings import SettingsError
from tests.backup.operated import TOKEN, token_file
from tests.cli.program import run
from tests.http.serving import Server, initialise


def given(token: str) -> dict[str, object]:
    """A request that comes with a token."""
    return {"headers": [(b"authorization", b"Bearer " + token.encode())]}


@pytest.mark.parametrize("token", ["x" * 32, "x" * 128, TOKEN])
@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_token_lets_in_whoever_comes_with_it_and_nobody_else(tmp_path: Path, token: str, mode: int) -> None:
    read = OperatorToken.read(token_file(tmp_path, token, mode))
    assert read.is_given_in(given(token))
    for wrong in (token[:-1], token.upper(), token[::-1] + "y", "é" * 40):
        assert not read.is_given_in(given(wrong))
    for headers in ([], [(b"authorization", token.encode())], 2 * given(token)["headers"]):  # type: ignore[operator]
        assert not read.is_given_in({"headers": headers})


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        (TOKEN, 0o620, "must be readable by its owner alone: chmod 600"),
        (TOKEN, 0o606, "must be readable by its owner alone: chmod 600"),
        ("x" * 31, 0o600, "must hold one token of 32 to 128 ASCII characters"),
        ("x" * 129, 0o600, "must hold one token of 32 to 128 ASCII characters"),
        ("x" * 20 + " " + "x" * 20, 0o600, "must hold one token"),
        ("x" * 20 + "\n" + "x" * 20, 0o600, "must hold one token"),
        ("é" * 40, 0o600, "must hold one token"),
        ("", 0o600, "must hold one token"),
    ],
)
def test_a_token_file_that_can_not_be_right_is_refused(tmp_path: Path, content: str, mode: int, told: str) -> None:
    with pytest.raises(SettingsError, match=told) as refused:
        OperatorToken.read(token_file(tmp_path, content, mode))
    assert not content or content not in str(refused.value)


def test_a_token_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read: No such file"):
        OperatorToken.read(tmp_path / "missing")


ROOT, ALICE = 0, 1000
OWN, FOREIGN = 10, 20


@pytest.mark.parametrize(
    ("mode", "owner", "group", "who"),
    [
        (0o600, ALICE, OWN, "owner"),
        (0o400, ROOT, FOREIGN, "owner"),
        (0o440, ROOT, OWN, "group"),
        (0o640, ROOT, OWN, "group"),
        (0o440, ROOT, ROOT, "group"),
        (0o440, ROOT, FOREIGN, "others"),
        (0o440, ALICE, OWN, "others"),
        (0o444, ROOT, FOREIGN, "all"),
        (0o644, ALICE, OWN, "all"),
        (0o404, ROOT, OWN, "all"),
        (0o660, ROOT, OWN, "others"),
        (0o666, ROOT, OWN, "others"),
        (0o622, ALICE, OWN, "others"),
        (0o610, ALICE, OWN, "others"),
    ],
)
def test_a_secret_that_docker_or_kubernetes_hands_over_is_for_its_readers(
    mode: int, owner: int, group: int, who: str
) -> None:
    assert who == readers(os.stat_result((0o100000 | mode, 0, 0, 1, owner, group, 0, 0, 0, 0)), {OWN})


def test_a_byte_order_mark_is_no_part_of_a_token(tmp_path: Path) -> None:
    path = tmp_path / "marked"
    path.write_bytes(b"\xef\xbb\xbf" + TOKEN.encode() + b"\r\n")
    path.chmod(0o600)
    assert OperatorToken.read(path).is_given_in(given(TOKEN))


def test_a_server_warns_of_a_token_file_that_everybody_can_read(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--operator-token-file", str(token_file(tmp_path, TOKEN, 0o444))) as server:
        assert b"everybody on this machine can read the file" in server.log_path.read_bytes()


def test_a_server_does_not_start_with_a_token_file_that_others_can_write(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    ran = run("serve", tmp_path / "store", "--port", "0", "--operator-token-file", token_file(tmp_path, TOKEN, 0o622))
    assert (2, "") == (ran.returncode, ran.stdout)
    assert "readable by its owner alone" in ran.stderr
