"""Settings: which source wins, what each setting permits, and what a person is told about a wrong one."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.http.settings import Settings, SettingsError, endpoint_names, load

GIVEN = {"directory": Path("store")}


def toml(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "relatum.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems_of(
    environ: dict[str, str] | None = None, path: Path | None = None, overrides: dict[str, object] | None = None
) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as raised:
        load(environ or {}, path, GIVEN if overrides is None else overrides)
    return raised.value.problems


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert load({}, None, GIVEN) == Settings(
        directory=Path("store"),
        host="127.0.0.1",
        port=7474,
        metrics_port=None,
        slots=64,
        streams_max=64,
        write_queue=4096,
        group_max=128,
        watermark_lag=0,
        read_threads=2,
        connections_max=2048,
        body_timeout_seconds=30,
        answer_timeout_seconds=60,
        ballast_mib=64,
        operator_token_file=None,
        drain_timeout_seconds=30,
        resurfacing_minutes=1_440,
        sweep_deadline_hours=336,
        sweep_interval_minutes=60,
        scrub_hours=24,
        clock_ahead_max_seconds=3_600,
        log_level="info",
    )


def test_the_command_line_beats_the_environment_which_beats_the_file_which_beats_the_defaults(tmp_path: Path) -> None:
    path = toml(tmp_path, 'directory = "from-file"\nport = 1\nslots = 1\nhost = "file"\n')
    environ = {"RELATUM_PORT": "2", "RELATUM_SLOTS": "2", "HOME": "/ignored"}
    settings = load(environ, path, {"port": 3, "group_max": None})
    assert Path("from-file") == settings.directory
    assert (3, 2, "file", 128) == (settings.port, settings.slots, settings.host, settings.group_max)


INTEGERS = [
    ("port", 0, 65_535),
    ("metrics_port", 0, 65_535),
    ("slots", 0, 1_024),
    ("streams_max", 0, 4_096),
    ("stream_write_seconds", 1, 3_600),
    ("write_queue", 1, 65_536),
    ("group_max", 1, 1_024),
    ("watermark_lag", 0, 1),
    ("read_threads", 1, 64),
    ("connections_max", 64, 65_536),
    ("body_timeout_seconds", 1, 3_600),
    ("answer_timeout_seconds", 1, 3_600),
    ("ballast_mib", 0, 65_536),
    ("drain_timeout_seconds", 0, 3_600),
    ("resurfacing_minutes", 1, 43_200),
    ("sweep_deadline_hours", 1, 8_760),
    ("sweep_interval_minutes", 0, 1_440),
    ("scrub_hours", 0, 8_760),
    ("clock_ahead_max_seconds", 0, 31_622_400),
]


@pytest.mark.parametrize(("name", "low", "high"), INTEGERS)
def test_an_integer_passes_at_both_ends_of_its_range_and_not_one_past_them(name: str, low: int, high: int) -> None:
    for value in (low, high):
        assert value == getattr(load({f"RELATUM_{name.upper()}": str(value)}, None, GIVEN), name)
    for value in (low - 1, high + 1):
        (problem,) = problems_of({f"RELATUM_{name.upper()}": str(value)})
        assert problem.startswith(
            f"RELATUM_{name.upper()} (from the environment) must be an integer from {low} to {high}"
        )
        assert problem.endswith(f"; found '{value}'")


def test_every_setting_has_a_test_of_its_range() -> None:
    others = {"directory", "host", "log_level", "operator_token_file", "telemetry", "uds"}
    others |= {"mcp", "mcp_origins", "mcp_tools"}
    assert set(Settings.__struct_fields__) == {name for name, _, _ in INTEGERS} | others


def test_the_settings_of_mcp_are_words() -> None:
    settings = load({"RELATUM_MCP": "on", "RELATUM_MCP_ORIGINS": "https://desk.example", "HOME": "/"}, None, GIVEN)
    assert ("on", "core", "https://desk.example") == (settings.mcp, settings.mcp_tools, settings.mcp_origins)
    (problem,) = problems_of({"RELATUM_MCP": "maybe"})
    assert "must be one of auto, off, on" in problem
    assert 1 == len(problems_of({"RELATUM_MCP_TOOLS": "core, facts"}))


def test_the_operator_s_token_file_is_a_path_or_nothing(tmp_path: Path) -> None:
    assert Path("token") == load({"RELATUM_OPERATOR_TOKEN_FILE": "token"}, None, GIVEN).operator_token_file
    assert Path("x") == load({}, toml(tmp_path, 'operator_token_file = "x"\n'), GIVEN).operator_token_file
    (problem,) = problems_of({"RELATUM_OPERATOR_TOKEN_FILE": ""})
    assert "must be a path or null" in problem


@pytest.mark.parametrize("host", ["::1", "localhost", "h" * 255])
def test_a_host_of_1_to_255_characters_passes(host: str) -> None:
    assert host == load({"RELATUM_HOST": host}, None, GIVEN).host


@pytest.mark.parametrize("host", ["", "h" * 256, "a b", " ", "localhost\n"])
def test_an_empty_long_or_blank_host_is_refused(host: str) -> None:
    (problem,) = problems_of({"RELATUM_HOST": host})
    assert "RELATUM_HOST (from the environment) must be 1 to 255 characters without blanks" in problem


def test_a_log_level_is_one_of_four() -> None:
    assert "debug" == load({"RELATUM_LOG_LEVEL": "debug"}, None, GIVEN).log_level
    assert (
        "RELATUM_LOG_LEVEL (from the environment) must be one of debug, error, info, warning; found 'loud'",
    ) == problems_of({"RELATUM_LOG_LEVEL": "loud"})


def test_telemetry_is_off_or_otlp() -> None:
    assert ("off", "otlp") == (
        load({}, None, GIVEN).telemetry,
        load({"RELATUM_TELEMETRY": "otlp"}, None, GIVEN).telemetry,
    )
    assert ("RELATUM_TELEMETRY (from the environment) must be one of off, otlp; found 'on'",) == problems_of(
        {"RELATUM_TELEMETRY": "on"}
    )


@pytest.mark.parametrize("text", ["", " 1", "1 ", "0x10", "1_0", "ten", "1.5", "true"])
def test_text_that_is_no_plain_integer_is_refused(text: str) -> None:
    (problem,) = problems_of({"RELATUM_SLOTS": text})
    assert f"must be an integer from 0 to 1024; found {text!r}" in problem


@pytest.mark.parametrize("value", ['"64"', "64.0", "true", "[64]", "1979-05-27"])
def test_a_file_is_held_to_the_type_of_a_setting(tmp_path: Path, value: str) -> None:
    (problem,) = problems_of(path=toml(tmp_path, f"slots = {value}\n"))
    assert f"slots (from the file {tmp_path / 'relatum.toml'}) must be an integer from 0 to 1024; found " in problem


def test_the_environment_can_unset_the_metrics_port_of_the_file(tmp_path: Path) -> None:
    path = toml(tmp_path, "metrics_port = 9000\n")
    assert 9000 == load({}, path, GIVEN).metrics_port
    assert load({"RELATUM_METRICS_PORT": "null"}, path, GIVEN).metrics_port is None


def test_the_metrics_port_must_be_another_one_unless_the_system_picks_both() -> None:
    assert ("metrics_port must differ from port; found 7474 for both",) == problems_of({"RELATUM_METRICS_PORT": "7474"})
    assert 0 == load({"RELATUM_METRICS_PORT": "0", "RELATUM_PORT": "0"}, None, GIVEN).metrics_port
    assert 7475 == load({"RELATUM_METRICS_PORT": "7475"}, None, GIVEN).metrics_port


def test_an_unknown_setting_is_refused_with_the_nearest_name_and_without_its_value(tmp_path: Path) -> None:
    environ = {"RELATUM_SLOT": "s3cr3t", "RELATUM_QQQQQ": "s3cr3t"}
    path = toml(tmp_path, '"grup_max" = "s3cr3t"\n[server]\nport = 1\n')
    problems = problems_of(environ, path, {"directory": Path("store"), "prot": 1})
    assert (
        f"grup_max (from the file {path}) is no setting; did you mean group_max?",
        f"server (from the file {path}) is no setting",
        "RELATUM_QQQQQ (from the environment) is no setting",
        "RELATUM_SLOT (from the environment) is no setting; did you mean RELATUM_SLOTS?",
        "prot (from the command line) is no setting; did you mean port?",
    ) == problems


def test_all_problems_of_all_sources_are_told_at_once(tmp_path: Path) -> None:
    path = toml(tmp_path, "port = -1\n")
    problems = problems_of({"RELATUM_SLOTS": "-1"}, path, {"group_max": 0})
    assert ["port", "RELATUM_SLOTS", "group_max", "directory"] == [problem.split()[0] for problem in problems]
    assert "directory must be given" == problems[-1]


def test_a_wrong_value_does_not_matter_where_a_stronger_source_gives_another(tmp_path: Path) -> None:
    path = toml(tmp_path, 'port = -1\nslots = "many"\n')
    assert 80 == load({"RELATUM_PORT": "99999", "RELATUM_SLOTS": "1"}, path, GIVEN | {"port": 80}).port
    (problem,) = problems_of({"RELATUM_PORT": "99999"}, toml(tmp_path, "port = 80\n"))
    assert problem.startswith("RELATUM_PORT (from the environment)")


ANNOUNCED = {
    "RELATUM_PORT": "tcp://10.0.0.7:7474",
    "RELATUM_METRICS_PORT": "tcp://10.0.0.8:9100",
    "RELATUM_SERVICE_HOST": "10.0.0.7",
    "RELATUM_SERVICE_PORT": "7474",
    "RELATUM_SERVICE_PORT_HTTP": "7474",
    "RELATUM_PORT_7474_TCP": "tcp://10.0.0.7:7474",
    "RELATUM_PORT_7474_TCP_ADDR": "10.0.0.7",
    "RELATUM_PORT_7474_TCP_PORT": "7474",
    "RELATUM_PORT_7474_TCP_PROTO": "tcp",
    "RELATUM_PORT_53_UDP": "udp://10.0.0.7:53",
    "RELATUM_METRICS_SERVICE_HOST": "10.0.0.8",
    "RELATUM_METRICS_PORT_9100_TCP": "tcp://10.0.0.8:9100",
    "RELATUM_PORT_7474_TCP_START": "tcp://172.17.0.2:7474",
}
"""What Kubernetes and Docker put into the environment for services called `relatum` and `relatum-metrics`."""


def test_what_an_orchestrator_tells_of_a_service_is_no_setting() -> None:
    others = {"RELATUM_CLIENT_SECRET": "s", "RELATUM_CLIENT_NONSENSE": "", "RELATUMS": "", "HOME": "/"}
    assert load(ANNOUNCED | others | {"RELATUM_SLOTS": "1"}, None, GIVEN) == Settings(directory=Path("store"), slots=1)
    assert tuple(sorted(ANNOUNCED)) == endpoint_names(ANNOUNCED | others | {"RELATUM_SLOTS": "1"})


@pytest.mark.parametrize(
    "name", ["RELATUM_CLIENT", "RELATUM_SECRET", "RELATUM_SERVICE", "RELATUM_PORT_TCP", "RELATUM_PORTS"]
)
def test_every_other_name_is_refused(name: str) -> None:
    (problem,) = problems_of({name: "7474"})
    assert problem.startswith(f"{name} (from the environment) is no setting")


def test_a_port_that_is_none_is_refused_unless_a_service_is_announced_by_it() -> None:
    for value in ("tcp://", "http://10.0.0.7:7474", "10.0.0.7:7474"):
        assert "must be an integer" in problems_of({"RELATUM_PORT": value})[0]


def test_a_socket_stands_alone_unless_a_host_or_a_port_is_given_as_well(tmp_path: Path) -> None:
    assert None is load({"RELATUM_UDS": "s"}, None, GIVEN).port
    assert 7474 == load({"RELATUM_HOST": "::"}, toml(tmp_path, 'uds = "s"\n'), GIVEN).port
    assert 80 == load({"RELATUM_UDS": "s"}, None, GIVEN | {"port": 80}).port
    assert ("port or uds must be given",) == problems_of({"RELATUM_PORT": "null"})


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert 5 == load({}, toml(tmp_path, b"\xef\xbb\xbfslots = 5\r\n"), GIVEN).slots


@pytest.mark.parametrize("directory", ["", "a\0b", 7])
def test_a_directory_is_a_path(directory: object) -> None:
    (problem,) = problems_of(overrides={"directory": directory})
    assert f"directory (from the command line) must be a path; found {directory!r}" == problem


def test_what_was_found_is_shown_in_part_when_it_is_long() -> None:
    (problem,) = problems_of({"RELATUM_SLOTS": "9" * 10_000})
    assert len(problem) < 250


def test_a_file_that_is_missing_no_toml_or_no_utf8_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    assert (f"the settings file {missing} can't be read: No such file or directory",) == problems_of(path=missing)
    for text in (b"port = ", b"port = 1\nport = 2\n", b'host = "\xff"\n'):
        path = toml(tmp_path, text)
        assert (f"the settings file {path} is not TOML in UTF-8",) == problems_of(path=path)


PATHS = st.text(alphabet=string.printable + "é😀\x7f\u2028", min_size=1).filter(lambda text: text == str(Path(text)))


@given(
    directory=PATHS,
    port=st.integers(0, 65_535),
    metrics_port=st.none() | st.just(0),
    level=st.sampled_from(["debug", "info", "warning", "error"]),
    uds=st.none() | PATHS.map(Path),
)
def test_settings_printed_as_toml_are_read_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    directory: str,
    port: int,
    metrics_port: int | None,
    level: Any,
    uds: Path | None,
) -> None:
    given: dict[str, object] = {"directory": Path(directory), "metrics_port": metrics_port, "log_level": level}
    settings = load({}, None, given | ({"port": port} if uds is None else {"uds": uds}))
    path = tmp_path_factory.mktemp("settings") / "relatum.toml"
    path.write_text(settings.as_toml(), encoding="utf-8", newline="")
    assert settings == load({}, path, {})


def test_settings_can_not_be_changed_once_loaded() -> None:
    with pytest.raises(AttributeError):
        load({}, None, GIVEN).port = 1  # type: ignore[misc]  # the assignment is the fault under test
