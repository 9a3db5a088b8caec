"""`worker`: queues, and metrics that are scraped while it works."""

from __future__ import annotations

import signal
import subprocess
import urllib.request

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
