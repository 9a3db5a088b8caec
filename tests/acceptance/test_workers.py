"""`worker`: queues, logs, and metrics that are scraped while it works."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request

import pytest

from tests.acceptance.command import Place


def test_a_worker_takes_the_work_of_its_queues_and_leaves_the_rest(place: Place) -> None:
    place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    done = place.type("worker", "--until-idle", "--queues", "Ask, Other")
    assert done.code == 0
    assert "no Other has been started in this database so far" in done.stderr
    assert place.type("describe", "hello", "-o", "json").json()["active"][0]["phase"] == "queued"
    assert place.type("worker", "--until-idle", "--queues", "Hello/Greet").code == 0
    assert place.type("describe", "hello", "-o", "json").json()["status"] == "COMPLETED"
    assert place.type("worker", "--until-idle", "--queues", "Hello/").code == 2


def test_metrics_are_scraped_from_a_running_worker(place: Place) -> None:
    worker = subprocess.Popen(
        place.command("worker", "--metrics-port", "0"),
        cwd=place.directory,
        env=place.environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stderr is not None
        url = next(line for line in worker.stderr if line.startswith("metrics on ")).split()[2]
        assert url.startswith("http://127.0.0.1:")
        place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
        assert place.type("wait", "hello", "--timeout", "30s").code == 0
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            lines = answer.read().decode().splitlines()
        assert 'orchestrator_step_executions_total{flow="Hello",step="Greet",outcome="completed"} 1' in lines
        assert 'orchestrator_handler_seconds_count{flow="Hello",step="Greet",method="execute"} 1' in lines
        assert 'orchestrator_runs{status="COMPLETED"} 1' in lines
        with urllib.request.urlopen(url.replace("metrics", "readyz"), timeout=30) as answer:
            assert json.load(answer)["status"] == "ok"
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    finally:
        worker.kill()
        worker.wait(30)
        if worker.stderr is not None:
            worker.stderr.close()


def test_a_metrics_port_that_cannot_be_had_is_a_usage_error(place: Place) -> None:
    done = place.type("worker", "--until-idle", "--metrics-port", "99999")
    assert done.code == 2


def test_a_log_of_json_lines_is_nothing_but_json(place: Place) -> None:
    run_id = place.type("start", "Hello", "--id", "hello", "--input", '"Ada"', "-o", "json").json()["run_id"]
    done = place.type("worker", "--until-idle", "--log-format", "json", "--log-level", "debug")
    assert (done.code, done.stdout) == (0, "")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    told = [line["event"] for line in lines if "event" in line]
    of_runs = ["printed", "step_completed", "run_closed"]
    assert told == ["worker_started", *of_runs, "worker_draining", "worker_drained"]
    (closed,) = (line for line in lines if line.get("event") == "run_closed")
    assert (closed["flow_id"], closed["run_id"], closed["status"]) == ("hello", run_id, "COMPLETED")


@pytest.mark.parametrize(("level", "is_told"), [((), False), (("--log-level", "info"), True)])
def test_as_text_events_are_told_when_asked_for(place: Place, level: tuple[str, ...], is_told: bool) -> None:
    place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    done = place.type("worker", "--until-idle", *level)
    assert ("run hello of Hello is COMPLETED" in done.stderr) is is_told


def test_traces_go_to_the_console(place: Place) -> None:
    place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    done = place.type("worker", "--until-idle", "--traces", "console")
    assert done.code == 0
    for name in ("execute Greet", "step Greet", "run Hello"):
        assert f'"name": "{name}"' in done.stderr


def test_handlers_that_compute_are_called_in_processes(place: Place) -> None:
    """By flag, by pyproject.toml, which `run` reads too, and not at all."""
    place.write("where.py", 'import sys\n\n\ndef look() -> bool:\n    return "typer" in sys.modules\n')
    place.write(
        "flows/where.flow.yaml",
        "flow: Where\nhandlers: where\noutput: boolean\nstart: Look\nsteps:\n"
        '  Look: {execute: look, result: {name: here, type: boolean}, graceful_complete: "${here}"}\n',
    )

    def is_here(id: str) -> object:
        return place.type("describe", id, "-o", "json").json()["outputs"][0]["output"]

    for id, flags in (("a", ["--run-in-process", "where:look", "--processes", "1"]), ("b", [])):
        place.type("start", "Where", "--id", id)
        assert place.type("worker", "--until-idle", *flags).code == 0
    place.write(
        "pyproject.toml", '[tool.orchestrator.worker]\nprocesses = 1\nrun_in_process = ["Where/Look"]\n'
    )
    assert place.type("run", "Where", "--id", "c").code == 0
    assert [is_here(id) for id in "abc"] == [False, True, False]
    wrong = place.type("worker", "--until-idle", "--run-in-process", "look")
    assert wrong.code == 2
    assert "write MODULE:FUNCTION or FLOW/STEP" in wrong.stderr


def test_what_a_handler_in_a_process_prints_is_logged_as_json(place: Place) -> None:
    place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    done = place.type("worker", "--until-idle", "--log-format", "json", "--run-in-process", "Hello/Greet")
    assert (done.code, done.stdout) == (0, "")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["message"] for line in lines if line.get("event") == "printed"] == ["greeting Ada"]
