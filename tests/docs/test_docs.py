"""The documentation keeps up with the program: what it shows can be run, what it lists is all there is."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec.structs
import pytest

from relatum.cli import main
from relatum.http.route_table import ROUTES
from relatum.http.routes import Route
from relatum.http.settings import Settings
from relatum.telemetry import Metrics
from tests.cli.program import environment
from tests.docs.pages import DOCS, README, ROOT, blocks, command_lines, inline_code, pages, script, table
from tests.support.ports import port_for_nobody_else

HOWTO = DOCS / "howto"
FOLLOW = HOWTO / "follow-a-partition.md"  # about a program, which tests/feeds runs
AN_ID = "0196f0a1-0000-7000-8000-000000000001"
"""Stands where a page has a variable of the shell."""
OPERATIONS = DOCS / "operations.md"


def invocations(line: str) -> Iterator[list[str]]:
    """The words behind `relatum` wherever a line of a shell calls it."""
    for simple in re.split(r"&&|\|\||[;|&]", line):
        try:
            words = shlex.split(simple, comments=True)
        except ValueError:  # a quoted operator was no operator
            continue
        words = words[: next((n for n, word in enumerate(words) if word.startswith((">", "<"))), None)]
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words and Path(words[0]).name == "relatum":
            yield [re.sub(r"^\$[A-Z]+", AN_ID, word) for word in words[1:]]


def parse(words: list[str]) -> None:
    """Raises a usage error where the program would."""
    command: click.Command = main
    context: click.Context | None = None
    while True:
        context = command.make_context(command.name, list(words), parent=context)
        if not isinstance(command, click.Group):
            return
        words = [*context._protected_args, *context.args]
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found


def problem(words: list[str]) -> str | None:
    try:
        parse(words)
    except click.exceptions.Exit:  # --help, --version
        return None
    except click.ClickException as error:
        return error.format_message()
    return None


def test_every_command_line_shown_is_one_that_the_program_takes() -> None:
    shown = [(page.name, words) for page in pages() for line in command_lines(page) for words in invocations(line)]
    assert len(shown) > 10
    assert [] == [(page, words, wrong) for page, words in shown if (wrong := problem(words))]


def test_a_command_line_that_the_program_does_not_take_is_noticed() -> None:
    (good,) = invocations("RELATUM_PORT=1 .venv/bin/relatum serve ./ledger --slots 3 > out.txt")
    assert ["serve", "./ledger", "--slots", "3"] == good
    assert problem(good) is None
    for wrong in (
        "relatum sevre x",
        "relatum serve x --slot-count 3",
        "relatum init x",
        "relatum admin",
        "relatum admin isue x",
    ):
        (words,) = invocations(wrong)
        assert problem(words) is not None, wrong


def test_every_command_and_option_named_in_a_sentence_exists() -> None:
    named = [code.split() for page in pages() for code in inline_code(page) if code.startswith("relatum ")]
    assert named
    for _, *words in named:
        command: click.Command = main
        for word in words:
            if word.startswith("--"):
                assert any(word in option.opts for option in command.params), words
            elif isinstance(command, click.Group):
                assert word in command.commands, words
                command = command.commands[word]


def test_the_table_of_routes_is_the_table_of_the_server() -> None:
    document = json.loads((ROOT / "openapi" / "openapi.json").read_text())
    served = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    told = {row[0].strip("`"): row[3] for row in table(DOCS / "http.md", "Route")}
    assert served == told.keys()
    slots = {f"{route.method} {route.path}" for route in ROUTES if isinstance(route, Route) and route.slot}
    assert slots == {route for route, slot in told.items() if slot == "slot"}


def test_the_table_of_settings_is_that_of_the_program() -> None:
    fields = {field.name: field for field in msgspec.structs.fields(Settings)}
    rows = {row[0].strip("`"): row[1].strip("`").replace(",", "") for row in table(OPERATIONS, "Setting")}
    assert fields.keys() == rows.keys()
    for name, field in fields.items():
        expected = (
            "none" if field.default is msgspec.NODEFAULT else "not set" if field.default is None else field.default
        )
        assert str(expected) == rows[name], name


def test_the_table_of_metrics_is_that_of_the_program() -> None:
    told = {name for row in table(OPERATIONS, "Metric") for name in re.findall(r"`(\w+)`", row[0])}
    rendered = Metrics().render().decode()
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", rendered, flags=re.MULTILINE))
    assert told == {name for name in kinds if not name.endswith("_created")}


def test_the_examples_of_the_library_run_from_top_to_bottom(tmp_path: Path) -> None:
    code = "\n".join(block.code for block in blocks(DOCS / "library.md", "python"))
    assert code.count("assert ") > 15
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (0, "") == (ran.returncode, ran.stderr)


def test_command_two_is_what_continuous_integration_runs() -> None:
    (command,) = [line for line in command_lines(README) if "pytest" in line]
    ours = re.findall(r"python -m (pip install .*?|pytest)(?: &&|$)", command)
    assert 2 == len(ours)
    ran = (ROOT / ".ci" / "run").read_text().replace(" --root-user-action=ignore", "")
    for step in ours:
        assert re.search(rf"^python -m {re.escape(step)}$", ran, flags=re.MULTILINE), step


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the pages show lines for curl")


def run_in_shell(code: str, folder: Path) -> str:
    """What a shell prints that is given the lines of a page, on a free port, stopping at the first that fails."""
    port = port_for_nobody_else()
    path = f"{Path(sys.executable).parent}:{environment()['PATH']}"
    guarded = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{code}"
    with subprocess.Popen(
        ["bash", "-m", "-c", guarded.replace(":7474", f":{port}")],
        cwd=folder,
        env=environment(RELATUM_PORT=str(port), PATH=path, TMPDIR=str(folder)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        printed, _ = shell.communicate(timeout=120)
    assert 0 == shell.returncode, printed
    return printed


def statuses_told(code: str) -> list[str]:
    return re.findall(r"  # (\d{3})$", code, flags=re.MULTILINE)


def statuses_seen(printed: str) -> list[str]:
    return re.findall(r"^(\d{3})$", printed, flags=re.MULTILINE)


@pytest.mark.slow
@needs_curl
def test_the_tour_of_the_readme_can_be_pasted(tmp_path: Path) -> None:
    _, tour = README.read_text().split("## A tour")
    code = "".join(block.code for block in blocks(README, "sh") if block.code in tour)
    assert "quickstart" not in code
    assert "relatum init" in code
    printed = run_in_shell(code, tmp_path)
    assert statuses_told(code) == statuses_seen(printed) != []
    assert '"reason":"endpoint_revision_changed"' in printed


@pytest.mark.slow
@needs_curl
def test_the_how_to_pages_can_be_pasted_one_after_another(tmp_path: Path) -> None:
    in_order = [HOWTO / f"{name}.md" for name in ("first-steps", "write-memory", "review", "keys")]
    assert {*in_order, FOLLOW} == set(HOWTO.glob("*.md"))
    code = script(*in_order)
    printed = run_in_shell(code, tmp_path)
    assert statuses_told(code) == statuses_seen(printed)
    assert len(statuses_told(code)) > 25


@pytest.mark.slow
@needs_curl
def test_the_requests_of_the_page_on_judgments_can_be_pasted_after_the_first_steps(tmp_path: Path) -> None:
    code = script(HOWTO / "first-steps.md", DOCS / "judgments.md")
    printed = run_in_shell(code, tmp_path)
    assert statuses_told(code) == statuses_seen(printed)
    assert len(statuses_told(code)) > 12
    assert '"superseded_by":"' in printed
