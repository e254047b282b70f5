"""A fault of the program, in whatever command: one line and a status of its own, and a traceback for those who ask."""

from __future__ import annotations

from typing import Never

import click
import pytest
from click.testing import CliRunner, Result

from relatum.cli import main
from tests.cli.test_help import commands

COMMANDS = {path: command for path, command in commands() if not isinstance(command, click.Group)}
STORED = "what a client wrote"
REFUSED = (1, "", "Error: No space left on device\n")


def is_client_verb(path: tuple[str, ...]) -> bool:
    """Verbs at a server have statuses of their own: 2 for a file that is wrong (docs/command-line.md)."""
    return COMMANDS[path].callback.__module__.startswith("relatum.cli.client") and path != ("completion",)


def faulty(path: tuple[str, ...], error: Exception, monkeypatch: pytest.MonkeyPatch, *options: str) -> Result:
    """A command that fails at once, whatever it is given."""

    def fail() -> Never:
        raise error

    monkeypatch.setattr(COMMANDS[path], "params", [])
    monkeypatch.setattr(COMMANDS[path], "callback", fail)
    return CliRunner().invoke(main, [*options, *path])


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_fault_is_told_in_one_line_without_what_is_stored(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = faulty(path, KeyError(STORED), monkeypatch)
    assert (2, "") == (ended.exit_code, ended.stdout)
    assert 1 == len(ended.stderr.splitlines())
    assert "a fault in relatum itself" in ended.stderr
    assert "KeyError at tests/cli/test_faults.py:" in ended.stderr
    assert STORED not in ended.stderr


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_with_debug_there_is_a_traceback_above_the_line(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    ended = faulty(path, KeyError(STORED), monkeypatch, "--debug")
    assert (2, "") == (ended.exit_code, ended.stdout)
    assert ended.stderr.startswith("Traceback")
    assert f"KeyError: '{STORED}'" in ended.stderr
    assert "a fault in relatum itself" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_what_the_system_refuses_is_no_fault(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (2, "", "error: No space left on device\n") if is_client_verb(path) else REFUSED
    ended = faulty(path, OSError(28, "No space left on device"), monkeypatch)
    assert refused == (ended.exit_code, ended.stdout, ended.stderr)
