"""The files of docs/deploy/, each held to the tool that reads it; where this machine lacks one, a test says so."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from relatum.cli import main
from relatum.telemetry import Metrics
from tests.architecture.project import ROOT
from tests.support.polling import WAIT_SECONDS

DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"this machine has no {name}")
    return found


def checked(*command: str | Path, **arguments: Any) -> str:
    """What a tool says that must be satisfied."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False, **arguments)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def documents(path: Path) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml", reason="there is no YAML here")
    return list(yaml.safe_load_all(path.read_text()))


def takes(words: list[str]) -> None:
    """Holds a command line to the program: what it runs, its options, and that none is missing."""
    command: click.Command = main
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context("relatum", words)


# Containers


def test_the_image_runs_the_program_as_nobody_in_particular() -> None:
    instructions = dict(re.findall(r"^([A-Z]+) (.*)$", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE))
    assert "10001:10001" == instructions["USER"]
    assert ["relatum"] == json.loads(instructions["ENTRYPOINT"])
    assert "SIGTERM" == instructions["STOPSIGNAL"]
    takes(json.loads(instructions["CMD"]))


def test_compose_files_are_of_the_specification() -> None:
    compose = pytest.importorskip(
        "compose_spec", reason="the schema of compose files is not installed: relatum[deploy]"
    )
    (composed,) = documents(DEPLOY / "compose.yaml")
    compose.PyCompose.from_yaml((DEPLOY / "compose.yaml").read_text())
    services = composed["services"]
    takes(services["relatum"]["command"])
    takes(services["init"]["command"])
    assert {"init", "backup"} == {profile for each in services.values() for profile in each.get("profiles", [])}


def test_manifests_are_of_the_schema_of_kubernetes() -> None:
    kubernetes = pytest.importorskip(
        "kubernetes_validate", reason="the schemas of Kubernetes are not installed: relatum[deploy]"
    )
    manifests = documents(DEPLOY / "kubernetes" / "relatum.yaml")
    for manifest in manifests:
        kubernetes.validate(manifest, "1.30", strict=True)
    assert ["Service", "StatefulSet", "PersistentVolumeClaim", "CronJob"] == [each["kind"] for each in manifests]


def test_manifests_run_one_server_that_a_poisoned_store_does_not_restart() -> None:
    _, workload, _, backup = documents(DEPLOY / "kubernetes" / "relatum.yaml")
    assert 1 == workload["spec"]["replicas"]
    pod = workload["spec"]["template"]["spec"]
    (init,), (server,) = pod["initContainers"], pod["containers"]
    takes(list(init["args"]))
    takes(list(server["args"]))
    assert ("/ready", "/health") == tuple(
        server[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")
    )
    for one in (pod, backup["spec"]["jobTemplate"]["spec"]["template"]["spec"]):
        assert one["securityContext"]["runAsNonRoot"]
        assert not one["enableServiceLinks"]
        assert {0o440} == {volume["secret"]["defaultMode"] for volume in one["volumes"] if "secret" in volume}


# A machine of one's own


def test_units_are_such_that_systemd_takes_them(tmp_path: Path) -> None:
    analyze = tool("systemd-analyze")
    program = tmp_path / "relatum"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/relatum/bin/relatum", str(program)))
    assert "" == checked(analyze, "verify", "--man=no", *(tmp_path / unit.name for unit in UNITS))


def test_units_start_what_the_program_takes() -> None:
    (line,) = re.findall(r"^ExecStart=\S+ (.*)$", (DEPLOY / "systemd" / "relatum.service").read_text(), re.MULTILINE)
    takes(line.split())
    backup = (DEPLOY / "systemd" / "relatum-backup.service").read_text()
    (words,) = re.findall(r"bin/relatum (backup .*)'$", backup, re.MULTILINE)
    takes(re.sub(r"\$\(.*?\)", "now", words).replace('"', "").split())


# Proxies and watchers


def test_caddy_takes_its_file() -> None:
    assert "Valid configuration" in checked(
        tool("caddy"), "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"
    )


def test_prometheus_takes_its_configuration_and_rules() -> None:
    promtool = tool("promtool")
    assert "SUCCESS" in checked(promtool, "check", "config", DEPLOY / "prometheus.yml")
    assert "SUCCESS" in checked(promtool, "check", "rules", DEPLOY / "alerts.yml")


def test_rules_and_panels_ask_for_metrics_that_there_are() -> None:
    served = set(re.findall(r"^# TYPE (\w+) ", Metrics().render().decode(), flags=re.MULTILINE))
    for name in ("alerts.yml", "grafana-dashboard.json"):
        asked = set(re.findall(r"\b((?:relatum|process)_\w+)\b", (DEPLOY / name).read_text()))
        assert asked
        assert set() == {re.sub("_bucket$", "", metric) for metric in asked} - served, name


def test_every_panel_of_the_dashboard_has_a_query_and_a_place_of_its_own() -> None:
    panels = json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]
    assert len(panels) == len({panel["id"] for panel in panels})
    assert len(panels) == len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels})
    assert all(target["expr"] for panel in panels for target in panel["targets"])


RULE_TEST = """
rule_files: [alerts.yml]
tests:
  - interval: 1m
    input_series:
      - {series: 'relatum_poisoned{instance="a", job="relatum"}', values: '0 1 1'}
      - {series: 'up{instance="a", job="relatum"}', values: '1 1 1'}
    alert_rule_test:
      - {eval_time: 0m, alertname: RelatumPoisoned, exp_alerts: []}
      - eval_time: 1m
        alertname: RelatumPoisoned
        exp_alerts:
          - exp_labels: {instance: a, job: relatum, severity: page}
            exp_annotations:
              summary: a refuses all commands after a failure of its disk; make room, then restart
"""


def test_a_store_that_is_poisoned_raises_an_alarm_at_once(tmp_path: Path) -> None:
    promtool = tool("promtool")
    shutil.copy(DEPLOY / "alerts.yml", tmp_path)
    (tmp_path / "test.yml").write_text(RULE_TEST)
    assert "SUCCESS" in checked(promtool, "test", "rules", "test.yml", cwd=tmp_path)
