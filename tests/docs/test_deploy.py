"""The files of docs/deploy are what systemd, container tools and Kubernetes read, and fit the command."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.engine.worker import Worker
from tests.docs.pages import ROOT

DEPLOY = ROOT / "docs" / "deploy"
UNIT = DEPLOY / "orchestrator-worker.service"
DRAIN_SECONDS = inspect.signature(Worker.run).parameters["grace"].default
INSTRUCTIONS = {"FROM", "ENV", "WORKDIR", "RUN", "COPY", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}


@pytest.fixture(scope="module")
def manifests() -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    return {document["kind"]: document for document in documents}


@pytest.fixture(scope="module")
def container(manifests: dict[str, Any]) -> dict[str, Any]:
    (found,) = manifests["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def instructions() -> list[tuple[str, str]]:
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    return [
        (word, rest)
        for word, _, rest in (line.partition(" ") for line in lines if line and not line.startswith("#"))
    ]


def unit() -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return parser


def typed_options(kind: str, container: dict[str, Any]) -> list[str]:
    if kind == "kubernetes":
        return list(container["args"])
    if kind == "systemd":
        return unit()["Service"]["ExecStart"].split()[2:]
    return list(json.loads(dict(instructions())["CMD"]))


@pytest.mark.parametrize("kind", ["kubernetes", "systemd", "container"])
def test_workers_are_started_with_options_that_there_are(kind: str, container: dict[str, Any]) -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    section = page.partition("\n## worker\n")[2].partition("\n## ")[0]
    known = set(re.findall(r"--[a-z-]+", section))
    options = {word.partition("=")[0] for word in typed_options(kind, container) if word.startswith("--")}
    assert options
    assert options <= known


def test_probes_ask_for_pages_that_there_are_at_the_port_of_the_metrics(container: dict[str, Any]) -> None:
    paths = {}
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        get = container[name]["httpGet"]
        assert get["port"] == "metrics"
        paths[name] = get["path"]
    assert paths == {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    (port,) = container["ports"]
    assert port["name"] == "metrics"
    assert f"--metrics-port={port['containerPort']}" in container["args"]
    assert "--metrics-host=0.0.0.0" in container["args"], "a kubelet asks from outside"


def test_a_worker_may_drain_before_it_is_killed(manifests: dict[str, Any]) -> None:
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > DRAIN_SECONDS
    assert int(unit()["Service"]["TimeoutStopSec"]) > DRAIN_SECONDS
    assert unit()["Service"]["KillSignal"] == "SIGTERM"


def test_budget_and_deployment_mean_the_same_pods(manifests: dict[str, Any]) -> None:
    deployment = manifests["Deployment"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert manifests["PodDisruptionBudget"]["spec"]["maxUnavailable"] < deployment["replicas"]
    (source,) = deployment["template"]["spec"]["containers"][0]["envFrom"]
    assert source["secretRef"]["name"] == manifests["Secret"]["metadata"]["name"]
    assert "ORCHESTRATOR_DB" in manifests["Secret"]["stringData"]


def test_the_worker_is_process_1_of_its_container() -> None:
    words = [word for word, _ in instructions()]
    assert set(words) <= INSTRUCTIONS
    assert words[0] == "FROM"
    assert json.loads(dict(instructions())["ENTRYPOINT"]) == ["orchestrator", "worker"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = UNIT.read_text(encoding="utf-8")
    true = shutil.which("true")
    assert true is not None
    text = re.sub(r"ExecStart=\S+", f"ExecStart={true}", text)
    path = tmp_path / UNIT.name
    path.write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    about = [line for line in (done.stdout + done.stderr).splitlines() if UNIT.name in line]
    assert about == []
