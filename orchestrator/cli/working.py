"""Working on runs in this process: `run` and `worker`."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import IO, Any

from orchestrator.cli.options import parse_span
from orchestrator.cli.progress import shown
from orchestrator.cli.session import demand_handlers, demand_store, find_flow, named_flows
from orchestrator.cli.settings import resolve_settings
from orchestrator.cli.terminal import note
from orchestrator.cli.values import parse_assignments, parse_value
from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.metrics import Metrics
from orchestrator.engine.worker import Worker


@dataclass(frozen=True)
class NewRun:
    """What `run PATH --id ID` starts."""

    flow: str
    value: str | None
    attributes: Sequence[str] | None


def work_on(
    flow_id: str,
    new: NewRun | None,
    *,
    db: str | None,
    flows: Sequence[str] | None,
    concurrency: int,
    until_blocked: bool,
) -> dict[str, Any]:
    """Start the run (or go on with it), work until it is closed, and give it as `describe` does."""
    settings = resolve_settings(db, flows)
    if new is None:
        demand_store(settings)
    prepared = _prepare(new, flows)
    engine = Engine(settings.db, attribute_store=settings.attribute_store)
    try:
        client = Client(engine, flows=named_flows(settings))
        if prepared is not None:
            flow, value, attributes = prepared
            client.start(flow, flow_id, value, attributes=attributes)
        described: dict[str, Any] = client.describe(flow_id)
        if described["status"] != "RUNNING":
            return described
        verb = "started" if prepared is not None else "resumed"
        return _work_until_closed(engine, client, flow_id, verb, concurrency, until_blocked)
    finally:
        engine.close()


def _prepare(new: NewRun | None, flows: Sequence[str] | None) -> tuple[Any, Any, dict[str, Any]] | None:
    """Everything that can be wrong with a new run is found before anything is stored."""
    if new is None:
        return None
    flow = find_flow(new.flow, flows)
    value = parse_value(new.value, "--input")
    attributes = parse_assignments(new.attributes, "--attribute")
    with redirect_stdout(sys.stderr):
        demand_handlers(flow)
    return flow, value, attributes


def _work_until_closed(
    engine: Engine, client: Client, flow_id: str, verb: str, concurrency: int, until_blocked: bool
) -> dict[str, Any]:
    worker = Worker(engine, concurrency=concurrency)
    with handlers_speak_on_stderr(), _draining(worker):
        note(f"{flow_id} {verb}")
        try:
            with shown(lambda: client.progress(flow_id)):
                run: dict[str, Any] = worker.run_until_closed(flow_id, until_blocked=until_blocked)
        finally:
            worker.stop()
    if run["status"] == "RUNNING":
        note(f"interrupted; go on with: orchestrator run --resume {flow_id}")
        raise KeyboardInterrupt
    return run


def work(
    db: str | None,
    flows: Sequence[str] | None,
    concurrency: int,
    *,
    until_idle: bool,
    horizon: str,
    retention: str | None,
    queues: str | None,
    metrics_port: int | None,
) -> None:
    """Execute runs of the store until stopped, or until idle."""
    settings = resolve_settings(db, flows)
    span = parse_span(horizon, "--horizon")
    assert span is not None
    named, place = (retention, "--retention") if retention is not None else (settings.retention, "retention")
    kept = parse_span(named, place)
    engine = Engine(settings.db, attribute_store=settings.attribute_store)
    try:
        worker = Worker(
            engine,
            flows=named_flows(settings),
            concurrency=concurrency,
            retention=kept,
            queues=[queue.strip() for queue in (queues or "").split(",") if queue.strip()],
            metrics=Metrics() if metrics_port is not None else None,
        )
        with handlers_speak_on_stderr(), _draining(worker), _serving_metrics(worker, metrics_port):
            note(f"working on {settings.db}" + (" until idle" if until_idle else "; Ctrl-C stops"))
            _note_unknown_queues(worker)
            if not until_idle:
                worker.run()
                note("stopped")
                return
            try:
                worker.run_until_idle(span)
            finally:
                worker.stop()
            note("idle")
    finally:
        engine.close()


def _note_unknown_queues(worker: Worker) -> None:
    """A misspelt flow type would leave the worker idle for ever."""
    if worker.handlers.served is None:
        return
    with worker.engine.store.reading() as reading:
        known = {name for name, _ in reading.definition_names()}
    for flow in sorted(worker.handlers.served.flows - known):
        note(f"no {flow} has been started in this database so far")


@contextmanager
def _serving_metrics(worker: Worker, port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    from orchestrator.engine.metrics_server import MetricsServer  # http.server is slow to import

    with MetricsServer(port, worker.metrics_text) as server:
        note(f"metrics on {server.url}")
        yield


@contextmanager
def _draining(worker: Worker) -> Iterator[None]:
    """SIGTERM and Ctrl-C finish what runs; a second Ctrl-C does not wait for it."""

    def stop(number: int, frame: FrameType | None) -> None:
        note("stopping: finishing what runs, Ctrl-C again to leave it")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        worker.ask_to_stop()

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def handlers_speak_on_stderr() -> Iterator[None]:
    """What handlers print or log is no result of the command."""
    speaker = _Stderr()
    speaker.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("orchestrator")
    level, logger.level = logger.level, logging.INFO
    logger.addHandler(speaker)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        logger.removeHandler(speaker)
        logger.setLevel(level)


class _Stderr(logging.StreamHandler[Any]):
    """Writes to whatever stderr is at that moment: the live display replaces it for a while."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> IO[str]:
        return sys.stderr
