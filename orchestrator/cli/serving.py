"""`worker`: execute the runs of a store until stopped, or until idle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from orchestrator.cli.logs import Tell, logging_as
from orchestrator.cli.options import LogFormat, LogLevel, Traces, parse_span
from orchestrator.cli.session import named_flows, require_places
from orchestrator.cli.settings import Settings, resolve_settings
from orchestrator.cli.storage import open_engine
from orchestrator.cli.working import draining
from orchestrator.engine.metrics import Metrics
from orchestrator.engine.worker import Worker
from orchestrator.errors import UsageError
from orchestrator.store.opening import without_password

if TYPE_CHECKING:
    from orchestrator.engine.tracing import Tracing


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """As they are typed."""

    db: str | None
    flows: Sequence[str] | None
    concurrency: int
    until_idle: bool
    horizon: str
    retention: str | None
    queues: str | None
    processes: int | None
    run_in_process: Sequence[str] | None
    metrics_port: int | None
    metrics_host: str
    traces: Traces | None
    log_format: LogFormat
    log_level: LogLevel | None


def serve(options: WorkerOptions) -> None:
    require_places(options.flows)
    settings = resolve_settings(options.db, options.flows)
    span = parse_span(options.horizon, "--horizon")
    assert span is not None
    kept = _retention(options, settings)
    tracing = _tracing(options.traces)
    engine = open_engine(settings, tracing)
    try:
        worker = Worker(
            engine,
            flows=named_flows(settings),
            concurrency=options.concurrency,
            retention=kept,
            queues=[queue.strip() for queue in (options.queues or "").split(",") if queue.strip()],
            processes=settings.processes if options.processes is None else options.processes,
            run_in_process=options.run_in_process or settings.run_in_process,
            metrics=Metrics() if options.metrics_port is not None else None,
        )
        with ExitStack() as stack:
            tell = stack.enter_context(logging_as(options.log_format, options.log_level))
            stack.enter_context(draining(worker, tell))
            stack.enter_context(_serving_metrics(worker, options, tell))
            until = " until idle" if options.until_idle else "; Ctrl-C stops"
            tell(f"working on {without_password(settings.db)}{until}")
            _tell_unknown_queues(worker, tell)
            _work(worker, span if options.until_idle else None)
            tell("idle" if options.until_idle else "stopped")
    finally:
        engine.close()
        if tracing is not None:
            tracing.close()


def _work(worker: Worker, horizon: timedelta | None) -> None:
    if horizon is None:
        worker.run()
        return
    try:
        worker.run_until_idle(horizon)
    finally:
        worker.stop()


def _retention(options: WorkerOptions, settings: Settings) -> timedelta | None:
    if options.retention is not None:
        return parse_span(options.retention, "--retention")
    return parse_span(settings.retention, "retention")


def _tracing(exporter: Traces | None) -> Tracing | None:
    if exporter is None:
        return None
    try:
        from orchestrator.engine.tracing import tracing_to

        return tracing_to(exporter)
    except ImportError as error:
        raise UsageError(f"--traces: {error}; install orchestrator[otel]") from None


def _tell_unknown_queues(worker: Worker, tell: Tell) -> None:
    """A misspelt flow type would leave the worker idle for ever."""
    if worker.handlers.served is None:
        return
    with worker.engine.store.reading() as reading:
        known = {name for name, _ in reading.definition_names()}
        known |= {queue.name for queue in reading.find_queues()}
    for flow in sorted(worker.handlers.served.flows - known):
        tell(f"there is no queue {flow}, and no {flow} has been started in this database so far")


@contextmanager
def _serving_metrics(worker: Worker, options: WorkerOptions, tell: Tell) -> Iterator[None]:
    port = options.metrics_port
    if port is None:
        yield
        return
    from orchestrator.engine.health import Health
    from orchestrator.engine.metrics_server import MetricsServer  # http.server is slow to import

    with MetricsServer(port, worker.metrics_text, Health(worker), host=options.metrics_host) as server:
        tell(f"metrics on {server.url}")
        yield
