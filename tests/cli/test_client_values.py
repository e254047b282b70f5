"""What client verbs take and show, without a server: times, references, tables, suggestions, profiles."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from relatum.cli import main
from relatum.cli.client.output import Column, cells, clipped, local, row, visible
from relatum.cli.client.profile_file import ProfileFile
from relatum.cli.client.values import MOMENT, REFERENCE, RecordAt

SECRET = "rtm1_" + "0" * 31 + "1_" + "A" * 43
ID = "0196f0a1-0000-7000-8000-000000000001"


def invoke(*words: str, given: str | None = None, config: Path | None = None) -> Result:
    env = {"RELATUM_CLIENT_CONFIG": None if config is None else str(config)}
    return CliRunner().invoke(main, words, input=given, env=env, prog_name="relatum")


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T01:00:00.0015+01:00", 1),
        ("1969-12-31 23:59:59.999z", -1),
        ("-1", -1),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_a_time_is_rfc_3339_with_its_zone_or_milliseconds(text: str, millis: int) -> None:
    assert millis == MOMENT.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-01-31T12:00:00", "no time zone"),
        ("2026-01-31", "neither"),
        ("2026-02-30T12:00:00Z", "calendar"),
        ("9223372036854775808", "neither"),
        ("yesterday", "neither"),
    ],
)
def test_any_other_time_is_refused(text: str, why: str) -> None:
    with pytest.raises(click.BadParameter, match=why):
        MOMENT.convert(text, None, None)


def test_a_reference_has_an_id_in_any_spelling_and_perhaps_a_revision_of_64_bits() -> None:
    assert RecordAt(ID, None) == REFERENCE.convert(ID.upper(), None, None)
    assert RecordAt(ID, 2**64 - 1) == REFERENCE.convert(f"{ID.replace('-', '')}@{2**64 - 1}", None, None)
    for wrong in ("x", f"{ID}@", f"{ID}@-1", f"{ID}@{2**64}", f"{ID}@1.0"):
        with pytest.raises(click.BadParameter):
            REFERENCE.convert(wrong, None, None)


@given(st.text(), st.integers(1, 30))
def test_what_is_clipped_fits_and_says_so(text: str, room: int) -> None:
    found = clipped(text, room)
    assert cells(found) <= max(room, 1)
    assert found == text or found.endswith("…")


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_shown(text: str) -> None:
    assert visible(text).isprintable()


def test_ids_are_never_cut_and_times_have_their_zone() -> None:
    columns = (Column("A", 36, lambda one: one), Column("B", 4, lambda one: one), Column("C", 4, lambda one: one))
    assert f"{ID}@12345  abc…  whatever there is room for" == row(
        columns, [f"{ID}@12345", "abcdefg", "whatever there is room for"]
    )
    assert local(0).endswith(":00")
    assert "+" in local(0) or "-" in local(0)[10:]
    assert f"{2**63 - 1} ms" == local(2**63 - 1)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["recrod", "list"], "record"),
        (["record", "lst"], "list"),
        (["record", "list", "--tga", "x"], "--tag"),
        (["relation", "assert", "suports", ID, ID], "supports"),
        (["judgment", "give", ID, "superseeds"], "supersedes"),
        (["record", "review", ID, "aproved", "--evidence", "x"], "approved"),
        (["record", "list", "-o", "jsno"], "json"),
    ],
)
def test_what_is_unknown_is_refused_with_the_nearest_known(words: list[str], nearest: str) -> None:
    refused = invoke(*words)
    assert (2, "") == (refused.exit_code, refused.stdout)
    assert f"'{nearest}'" in refused.stderr


def test_a_wrong_command_line_is_told_as_json_where_that_was_asked_for() -> None:
    refused = invoke("record", "get", "x", "-o", "json")
    assert (2, "") == (refused.exit_code, refused.stdout)
    assert "usage" == json.loads(refused.stderr)["error"]["code"]


def test_no_help_loads_the_client_the_engine_or_the_server() -> None:
    probe = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from relatum.cli import main\n"
        "import click\n"
        "def ask(group, words):\n"
        "    assert CliRunner().invoke(main, [*words, '--help']).exit_code == 0\n"
        "    for name, command in getattr(group, 'commands', {}).items():\n"
        "        ask(command, [*words, name])\n"
        "ask(main, [])\n"
        "print([n for n in ('httpx', 'mcp', 'rocksdict', 'uvicorn', 'starlette', 'relatum.client', 'rich') "
        "if n in sys.modules])\n"
    )
    shown = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert "[]\n" == shown.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str) -> None:
    shown = invoke("completion", shell)
    assert 0 == shown.exit_code
    assert "_RELATUM_COMPLETE" in shown.stdout


@pytest.mark.parametrize(
    ("line", "word", "found"),
    [
        ("relatum rec", 1, "record"),
        ("relatum relation assert caus", 3, "causal_claim"),
        (f"relatum judgment give {ID} not", 4, "not_conflict"),
        ("relatum search --excl", 2, "--exclude-stale"),
        ("relatum record list --profile wo", 4, "work"),
    ],
)
def test_verbs_options_words_and_profiles_are_completed(tmp_path: Path, line: str, word: int, found: str) -> None:
    config = tmp_path / "client.toml"
    config.write_text('[profiles.work]\nurl = "http://127.0.0.1:1"\n')
    env = {"_RELATUM_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(word)}
    env["RELATUM_CLIENT_CONFIG"] = str(config)
    shown = CliRunner().invoke(main, [], env=env, prog_name="relatum", complete_var="_RELATUM_COMPLETE")
    assert f"plain,{found}" in shown.output.splitlines()


def test_a_profile_is_set_shown_used_and_removed_and_its_secret_never_told(tmp_path: Path) -> None:
    config = tmp_path / "new" / "client.toml"
    url = ("--url", "http://127.0.0.1:7474")
    made = invoke(
        *("profile", "set", "work", *url, "--project", "demo", "--agent", "extractor", "--secret-stdin"),
        given=SECRET + "\n",
        config=config,
    )
    assert 0 == made.exit_code, made.stderr
    assert 0o600 == stat.S_IMODE(config.stat().st_mode)
    assert {"url": url[1], "project_id": "demo", "agent_id": "extractor", "secret": SECRET} == (
        tomllib.loads(config.read_text())["profiles"]["work"]
    )
    invoke("profile", "set", "home", *url, "--secret-file", str(tmp_path / "s"), config=config)
    assert ["work"] == _current(config)
    assert 0 == invoke("profile", "use", "home", config=config).exit_code
    assert ["home"] == _current(config)
    invoke("profile", "set", "work", "--mission", "spring", config=config)
    assert SECRET == tomllib.loads(config.read_text())["profiles"]["work"]["secret"]
    shown = [made, *(invoke("profile", *words, config=config) for words in (["list"], ["show", "work"], ["show"]))]
    shown.append(invoke("profile", "list", "-o", "table", config=config))
    shown.append(invoke("profile", "remove", "home", config=config))
    assert [0] * 6 == [one.exit_code for one in shown]
    assert not any(SECRET[-43:] in one.output for one in shown)
    assert [] == _current(config)
    missing = invoke("profile", "use", "home", config=config)
    assert (2, "") == (missing.exit_code, missing.stdout)


def _current(config: Path) -> list[str]:
    listed = invoke("profile", "list", config=config).stdout.splitlines()
    return [one["profile"] for one in map(json.loads, listed) if one["current"]]


def test_what_somebody_wrote_into_the_file_stays(tmp_path: Path) -> None:
    config = tmp_path / "client.toml"
    config.write_text(
        '# mine\n[profiles.a]\nurl = "http://a:1" # here\n\n# of b\n[profiles."b c"]\nurl = "http://b:1"\n'
    )
    file = ProfileFile(config)
    file.put('d\n"é', {"url": "http://d:1"})
    file.put("b c", {"url": "http://b:2"})
    file.remove("a")
    file.write()
    assert '# mine\n\n# of b\n[profiles."b c"]\nurl = "http://b:2"\n' in config.read_text()
    assert {"b c", 'd\n"é'} == set(ProfileFile(config).profiles)


def test_a_file_that_cannot_be_changed_without_harm_is_left_alone(tmp_path: Path) -> None:
    config = tmp_path / "client.toml"
    text = 'profiles = {a = {url = "http://a:1"}}\n'
    config.write_text(text)
    refused = invoke("profile", "set", "b", "--url", "http://b:1", "--secret-file", "x", config=config)
    assert (2, "") == (refused.exit_code, refused.stdout)
    assert text == config.read_text()
    assert [config] == list(tmp_path.iterdir())
