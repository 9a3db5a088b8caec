"""Metrics in Prometheus' text format."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.engine.exposition import CONTENT_TYPE, Counter, Histogram
from orchestrator.engine.metrics import Metrics
from orchestrator.engine.metrics_server import MetricsServer
from orchestrator.engine.worker import Worker
from orchestrator.errors import StoreError, UsageError
from tests.support import engine_handlers
from tests.support.engine_kit import PATIENCE, Gate, Kit, flow_of

FLOW = flow_of(
    """
flow: Metered
handlers: tests.support.engine_handlers
start: Try
steps:
  Try:
    execute: {handler: fail_twice, retry: {initial_interval: 0s, maximum_attempts: 5}}
    go_to: Bare
  Bare: {go_to: Async}
  Async: {execute: gated_async, graceful_complete: null}
"""
)
SAMPLE = re.compile(
    r'(?P<name>[a-z_]+)(\{(?P<labels>[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*)\})? (?P<value>[0-9.e+-]+)\Z'
)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    engine_handlers.reset()
    made = Kit(tmp_path)
    yield made
    made.close()
    engine_handlers.reset()


def samples(text: str) -> dict[str, float]:
    """Value by name and labels; every line is checked, and that its family was declared before."""
    found: dict[str, float] = {}
    families: dict[str, str] = {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in families
            families[name] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.match(line)
            assert match is not None, line
            family = re.sub("_(bucket|sum|count)$", "", match["name"])
            assert family in families or match["name"] in families, line
            key = match["name"] + (f"{{{match['labels']}}}" if match["labels"] else "")
            assert key not in found
            found[key] = float(match["value"])
    return found


def test_a_worker_counts_what_it_does(tmp_path: Path) -> None:
    engine_handlers.reset()
    gate = engine_handlers.gates["Async"] = Gate()
    kit = Kit(tmp_path)
    try:
        worker = Worker(kit.engine, concurrency=2, metrics=Metrics())
        worker.start()
        kit.client.start(FLOW, "run-1")
        gate.await_arrival()
        during = samples(worker.metrics_text())
        gate.open()
        worker.run_until_closed("run-1")
        worker.stop(grace=PATIENCE)
        after = samples(worker.metrics_text())
    finally:
        kit.close()
        engine_handlers.reset()
    assert during["orchestrator_leased"] == during["orchestrator_held"] == 1
    assert during["orchestrator_handlers_running"] == 1
    assert during['orchestrator_runs{status="RUNNING"}'] == 1
    assert during['orchestrator_retries_total{flow="Metered",step="Try"}'] == 2
    assert after['orchestrator_runs{status="COMPLETED"}'] == 1
    assert after["orchestrator_held"] == after["orchestrator_due"] == 0
    for step in ("Try", "Bare", "Async"):
        key = f'orchestrator_step_executions_total{{flow="Metered",step="{step}",outcome="completed"}}'
        assert after[key] == 1
    assert after['orchestrator_runs_started_total{flow="Metered"}'] == 1
    assert after['orchestrator_runs_closed_total{flow="Metered",status="COMPLETED"}'] == 1
    calls = {
        step: after[f'orchestrator_handler_seconds_count{{flow="Metered",step="{step}",method="execute"}}']
        for step in ("Try", "Async")
    }
    assert calls == {"Try": 3, "Async": 1}
    assert after["orchestrator_transaction_commits_sum"] == after["orchestrator_commits_total"] == 6
    assert after["orchestrator_transaction_commits_count"] == after["orchestrator_transactions_total"]


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram("x", "Some.", (1.0, 2.0), "a")
    for value in (0.5, 1.0, 1.5, 7.0):
        histogram.note(value, "b")
    assert list(histogram.lines()) == [
        "# HELP orchestrator_x Some.",
        "# TYPE orchestrator_x histogram",
        'orchestrator_x_bucket{a="b",le="1"} 2',
        'orchestrator_x_bucket{a="b",le="2"} 3',
        'orchestrator_x_bucket{a="b",le="+Inf"} 4',
        'orchestrator_x_sum{a="b"} 10.0',
        'orchestrator_x_count{a="b"} 4',
    ]


@pytest.mark.parametrize("text", ['say "hi"', "back\\slash", "two\nlines", "ünï"])
def test_labels_are_read_as_they_were_written(text: str) -> None:
    counter = Counter("x", "Some.", "a")
    counter.add(text)
    (family,) = text_string_to_metric_families("\n".join([*counter.lines(), ""]))
    assert [sample.labels for sample in family.samples] == [{"a": text}]


NAMES = {
    "runs": ("gauge", {"status"}),
    "due": ("gauge", set()),
    "oldest_due_seconds": ("gauge", set()),
    "leased": ("gauge", set()),
    "held": ("gauge", set()),
    "handlers_running": ("gauge", set()),
    "runs_started": ("counter", {"flow"}),
    "runs_closed": ("counter", {"flow", "status"}),
    "run_seconds": ("histogram", {"flow", "status"}),
    "step_executions_started": ("counter", {"flow", "step"}),
    "step_executions": ("counter", {"flow", "step", "outcome"}),
    "failed_attempts": ("counter", {"flow", "step"}),
    "retries": ("counter", {"flow", "step"}),
    "handler_seconds": ("histogram", {"flow", "step", "method"}),
    "commits": ("counter", set()),
    "transactions": ("counter", set()),
    "transaction_commits": ("histogram", set()),
}
"""Part of the contract: dashboards and alerts are made of them."""


def test_names_and_labels_stay_as_they_are_and_are_documented(kit: Kit) -> None:
    worker = Worker(kit.engine, metrics=Metrics())
    worker.start()
    engine_handlers.gates["Async"] = Gate()
    engine_handlers.gates["Async"].open()
    kit.client.start(FLOW, "run-1")
    worker.run_until_closed("run-1")
    worker.stop()
    found = {
        family.name.removeprefix("orchestrator_"): (
            family.type,
            {label for sample in family.samples for label in sample.labels} - {"le"},
        )
        for family in text_string_to_metric_families(worker.metrics_text())
    }
    assert found == NAMES
    page = (Path(__file__).parents[3] / "docs/how-to/run-workers.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`orchestrator_{name}" not in page] == []


def test_failed_attempts_are_counted_whether_they_are_tried_again_or_not(kit: Kit) -> None:
    flow = flow_of(
        """
flow: Failing
handlers: tests.support.engine_handlers
start: Try
steps:
  Try:
    execute: {handler: fail_for_good, retry: {initial_interval: 0s, maximum_attempts: 2}}
    graceful_complete: null
"""
    )
    worker = Worker(kit.engine, metrics=Metrics())
    worker.start()
    kit.clock.advance(seconds=3)
    kit.client.start(flow, "run-1")
    worker.run_until_closed("run-1")
    worker.stop()
    found = samples(worker.metrics_text())
    assert found['orchestrator_failed_attempts_total{flow="Failing",step="Try"}'] == 1
    assert found['orchestrator_step_executions_total{flow="Failing",step="Try",outcome="failed"}'] == 1
    assert found['orchestrator_run_seconds_count{flow="Failing",status="FAILED"}'] == 1


def get(url: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def test_the_page_is_served_on_this_machine_only() -> None:
    with MetricsServer(0, lambda: "up 1\n") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert get(server.url) == (200, CONTENT_TYPE, "up 1\n")
        assert get(server.url.replace("metrics", "other"))[0] == 404
    assert not any(thread.name == "metrics" for thread in threading.enumerate())


def test_a_database_that_does_not_answer_is_said() -> None:
    def page() -> str:
        raise StoreError("the disk is full")

    with MetricsServer(0, page) as server:
        assert get(server.url) == (503, "text/plain", "the disk is full\n")


def test_a_port_that_is_taken_is_a_usage_error() -> None:
    with MetricsServer(0, str) as server:
        port = int(server.url.split(":")[2].partition("/")[0])
        with pytest.raises(UsageError, match=f"metrics cannot be served on 127.0.0.1:{port}"):
            MetricsServer(port, str)


def test_how_long_the_oldest_due_work_waits_is_told(kit: Kit) -> None:
    worker = Worker(kit.engine, metrics=Metrics())
    assert samples(worker.metrics_text())["orchestrator_oldest_due_seconds"] == 0
    kit.client.start(FLOW, "run-1")
    kit.clock.advance(seconds=90)
    kit.client.start(FLOW, "run-2")
    found = samples(worker.metrics_text())
    assert (found["orchestrator_oldest_due_seconds"], found["orchestrator_due"]) == (90, 2)
