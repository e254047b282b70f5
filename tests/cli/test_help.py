"""What the program says about itself: a version, and help that teaches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import msgspec.structs
import pytest
from click.testing import CliRunner

from relatum import __version__
from relatum.cli import main
from relatum.http.settings import Settings


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command there is, with the words that lead to it."""
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_each_command_shows_it_at_work(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(main, [*path, "--help"], prog_name="relatum")
    assert 0 == shown.exit_code
    examples = [line for line in shown.output.splitlines() if line.startswith("      ") and "relatum " in line]
    assert examples
    wanted = " ".join(("relatum", *path))
    assert any(wanted in example for example in examples), shown.output


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_each_option_says_what_it_does(path: tuple[str, ...]) -> None:
    options = [one for one in COMMANDS[path].params if isinstance(one, click.Option)]
    assert [] == [option.opts for option in options if not option.help]


def test_each_setting_is_an_option_of_serve_and_its_default_is_told() -> None:
    options = {one.name: one for one in COMMANDS["serve",].params if isinstance(one, click.Option)}
    for field in msgspec.structs.fields(Settings):
        if field.name == "directory":
            continue
        option = options[field.name]
        assert f"--{field.name.replace('_', '-')}" in option.opts
        assert option.default is not field.default or field.default is None, (
            "a default here would hide the other sources"
        )
        if field.default is not None:
            assert f"Default: {field.default}." in (option.help or "")


def test_the_version_is_the_package_s() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "relatum", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert (f"relatum {__version__}\n", "") == (shown.stdout, shown.stderr)


def test_help_answers_without_loading_the_engine_or_the_server() -> None:
    probe = (
        "import sys, relatum.cli; "
        "print([name for name in ('rocksdict', 'uvicorn', 'starlette', 'httpx') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert "[]\n" == shown.stdout


def test_an_unknown_command_is_status_2_and_a_line() -> None:
    shown = CliRunner().invoke(main, ["sevre"], prog_name="relatum")
    assert 2 == shown.exit_code
    assert "No such command 'sevre'" in shown.output
