"""Runs as OpenTelemetry traces. Needs the extra `otel`; imported only where traces are asked for.

A run is a trace, and the ids of its spans follow from the ids of run, step execution and attempt: whichever
worker commits something continues the same trace, and nothing is stored for it. A span is made when what it
tells is durable, with the times of what it tells. Values of users are in no span.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from orchestrator.core import changes as c
from orchestrator.core.events import (
    ExecuteFailed,
    ExecuteSucceeded,
    Failure,
    MessagesPublished,
    RpcCalled,
    StopRequested,
    WaitForFailed,
    WaitForSucceeded,
)
from orchestrator.core.state import Run
from orchestrator.engine.arguments import another
from orchestrator.engine.batch import Applied, Batch, log
from orchestrator.engine.submission import Call, Request, Start, Submission
from orchestrator.engine.task import Task
from orchestrator.store.times import to_micros

_PROPAGATOR = TraceContextTextMapPropagator()
_REMEMBERED = 10_000
"""Moments and callers that are kept in memory; of what is forgotten a span begins later."""
_WAIT_FOR, _EXECUTE = "wait_for", "execute"


class Tracing:
    """`Worker(…, tracing=Tracing(BatchSpanProcessor(OTLPSpanExporter())))`; one for all engines of a process.

    Resource and sampler are configured by the usual environment variables (`OTEL_SERVICE_NAME`,
    `OTEL_TRACES_SAMPLER`, …).
    """

    def __init__(self, *processors: SpanProcessor) -> None:
        self.shows_messages = True
        """Of failures, which may quote values."""
        self._ids = _GivenIds()
        resource = Resource.create({"service.name": "orchestrator"}).merge(Resource.create())
        self._provider = TracerProvider(resource=resource, id_generator=self._ids)
        for processor in processors:
            if not hasattr(processor, "on_end"):
                raise another("what Tracing takes", "span processors, as BatchSpanProcessor(…)", processor)
            self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("orchestrator")
        self._moments: OrderedDict[tuple[str, int, str], datetime] = OrderedDict()
        """When steps and waits began, of those that began here."""
        self._callers: OrderedDict[object, tuple[object, SpanContext]] = OrderedDict()
        """By run id of a start, or by identity of the event of a request, which is kept for that."""

    def close(self) -> None:
        """What is on its way is exported."""
        self._provider.shutdown()

    # --- Callers and handlers ---

    def note_caller(self, submission: Submission) -> None:
        """In the thread of who wants something of a run: what comes of it is linked to their span."""
        caller = trace.get_current_span().get_span_context()
        if not caller.is_valid:
            return
        if isinstance(submission, Start):
            _remember(self._callers, submission.run_id, (None, caller))
        elif isinstance(submission, Call):
            submission.origin = caller
        elif isinstance(submission, Request):
            make = submission.event

            def make_and_remember(at: datetime) -> Any:
                event = make(at)
                _remember(self._callers, id(event), (event, caller))
                return event

            submission.event = make_and_remember

    def enter(self, task: Task) -> None:
        """The current span of this thread, or coroutine, is the attempt's from now on."""
        if task.snapshot is not None:
            contexts.attach(self._inside_attempt(task, task.snapshot.run_id))

    def headers_of(self, task: Task) -> dict[str, str]:
        """What carries the attempt's span into another process, as W3C Trace Context."""
        headers: dict[str, str] = {}
        if task.snapshot is not None:
            _PROPAGATOR.inject(headers, self._inside_attempt(task, task.snapshot.run_id))
        return headers

    def _inside_attempt(self, task: Task, run_id: str) -> contexts.Context:
        phase = _WAIT_FOR if task.is_wait_for else _EXECUTE
        return self._inside(
            run_id, _attempt_id(run_id, task.run_attempt, task.execution_id, phase, task.attempt)
        )

    # --- What was committed ---

    def note_batch(self, batch: Batch) -> None:
        """A mistake here must not reach those who wait for the commit."""
        try:
            self._note(batch)
        except Exception:
            log.exception("no trace of a commit")

    def _note(self, batch: Batch) -> None:
        tasks = {(task.run, task.execution_id): task for task in batch.ended}
        for applied in batch.applied:
            run = applied.entry.run
            self._note_event(applied, tasks, batch.origins)
            for change in applied.changes:
                if isinstance(change, c.StepQueued):
                    _remember(self._moments, (run.run_id, run.attempt, change.execution.id), applied.event.at)
                elif isinstance(change, c.WaitAccepted):
                    key = (run.run_id, run.attempt, f"{change.execution_id}/wait")
                    _remember(self._moments, key, applied.event.at)
                elif isinstance(change, c.WaitSatisfied):
                    self._end_wait(applied, change.execution_id)
                elif isinstance(change, c.StepEnded):
                    self._end_step(applied, change, tasks)
                elif isinstance(change, c.RunOpened):
                    self._mark(applied, "start", self._callers.pop(run.run_id, (None, None))[1])
                elif isinstance(change, c.RunClosed):
                    self._close(applied, change)

    def _note_event(
        self, applied: Applied, tasks: Mapping[tuple[int, str], Task], origins: Mapping[int, Any]
    ) -> None:
        event = applied.event
        if isinstance(event, ExecuteSucceeded | ExecuteFailed | WaitForSucceeded | WaitForFailed):
            task = tasks.get((applied.entry.number, event.execution_id))
            if task is not None:
                self._end_attempt(applied, event, task.handed_out_at)
            return
        caller = origins.get(id(event)) or self._callers.pop(id(event), (None, None))[1]
        if isinstance(event, MessagesPublished):
            for name in dict.fromkeys(message.channel for message in event.messages):
                self._mark(applied, f"publish {name}", caller)
        elif isinstance(event, RpcCalled):
            self._mark(applied, f"rpc {event.name}", caller)
        elif isinstance(event, StopRequested):
            self._mark(applied, event.stop, caller)

    def _end_attempt(
        self,
        applied: Applied,
        event: ExecuteSucceeded | ExecuteFailed | WaitForSucceeded | WaitForFailed,
        began_at: datetime | None,
    ) -> None:
        run, execution_id = applied.entry.run, event.execution_id
        phase = _WAIT_FOR if isinstance(event, WaitForSucceeded | WaitForFailed) else _EXECUTE
        span = self._begin(
            f"{phase} {_step_of(execution_id)}",
            run,
            id=_attempt_id(run.run_id, run.attempt, execution_id, phase, event.attempt),
            parent=_step_id(run, execution_id),
            at=began_at or event.at,
            more={"step_execution_id": execution_id, "attempt": event.attempt},
        )
        failures = (_failure_of(change, execution_id) for change in applied.changes)
        self._end(span, event.at, next(filter(None, failures), None))

    def _end_wait(self, applied: Applied, execution_id: str) -> None:
        run = applied.entry.run
        began_at = self._moments.pop((run.run_id, run.attempt, f"{execution_id}/wait"), applied.event.at)
        more = {"step_execution_id": execution_id}
        name = f"wait {_step_of(execution_id)}"
        span = self._begin(name, run, parent=_step_id(run, execution_id), at=began_at, more=more)
        self._end(span, applied.event.at)

    def _end_step(self, applied: Applied, change: c.StepEnded, tasks: Mapping[tuple[int, str], Task]) -> None:
        run, execution_id = applied.entry.run, change.execution_id
        began_at = self._moments.pop((run.run_id, run.attempt, execution_id), None)
        self._moments.pop((run.run_id, run.attempt, f"{execution_id}/wait"), None)
        if began_at is None and (task := tasks.get((applied.entry.number, execution_id))) is not None:
            first_at = task.snapshot.execution.first_attempt_at if task.snapshot is not None else None
            began_at = first_at or task.handed_out_at
        span = self._begin(
            f"step {_step_of(execution_id)}",
            run,
            id=_step_id(run, execution_id),
            parent=_root_id(run.run_id, run.attempt),
            at=began_at or applied.event.at,
            more={"step_execution_id": execution_id, "outcome": change.how},
        )
        self._end(span, applied.event.at, change.failure)

    def _mark(self, applied: Applied, what: str, caller: SpanContext | None) -> None:
        """What a client did: a moment of the run, linked to the client's own span."""
        run = applied.entry.run
        links = [Link(caller)] if caller is not None else []
        root = _root_id(run.run_id, run.attempt)
        span = self._begin(
            what, run, parent=root, at=applied.event.at, links=links, kind=trace.SpanKind.CONSUMER
        )
        self._end(span, applied.event.at)

    def _close(self, applied: Applied, change: c.RunClosed) -> None:
        run = applied.entry.run
        span = self._begin(
            f"run {applied.entry.flow.name}",
            run,
            id=_root_id(run.run_id, run.attempt),
            at=run.started_at or change.at,
            links=[Link(self._parent_of(watcher.run_id, watcher.execution_id)) for watcher in run.watchers],
            more={
                "flow": applied.entry.flow.name,
                "flow_id": run.flow_id,
                "status": change.status,
                "run_attempt": run.attempt,
            },
        )
        if change.status == "FAILED":
            span.set_status(Status(StatusCode.ERROR, change.error.type if change.error is not None else None))
        span.end(_nanoseconds(change.at))

    # --- Spans ---

    def _begin(
        self,
        name: str,
        run: Run,
        *,
        at: datetime,
        id: int | None = None,
        parent: int | None = None,
        links: Iterable[Link] = (),
        kind: trace.SpanKind = trace.SpanKind.INTERNAL,
        more: Mapping[str, str | int] | None = None,
    ) -> Span:
        attributes = {f"orchestrator.{key}": value for key, value in (more or {}).items()}
        attributes["orchestrator.run_id"] = run.run_id
        context = self._inside(run.run_id, parent) if parent is not None else contexts.Context()
        with self._ids.given(_trace_id(run.run_id), id):
            return self._tracer.start_span(
                name, context, kind, attributes, list(links), start_time=_nanoseconds(at)
            )

    def _end(self, span: Span, at: datetime, failure: Failure | None = None) -> None:
        if failure is not None:
            said = f"{failure.type}: {failure.message}" if self.shows_messages else failure.type
            span.set_status(Status(StatusCode.ERROR, said))
        span.end(_nanoseconds(at))

    def _inside(self, run_id: str, span_id: int) -> contexts.Context:
        """Whether it is sampled follows from the trace's id alone, so that all workers agree."""
        trace_id = _trace_id(run_id)
        decision = self._provider.sampler.should_sample(None, trace_id, "run").decision
        flags = TraceFlags(
            TraceFlags.SAMPLED if decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT
        )
        parent = SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)
        return trace.set_span_in_context(NonRecordingSpan(parent), contexts.Context())

    def _parent_of(self, run_id: str, execution_id: str) -> SpanContext:
        """The step of another run, in its first attempt, which waits for this one."""
        id = _id_of(8, run_id, 1, execution_id)
        return SpanContext(_trace_id(run_id), id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """What runs inside has the span as its current one that `headers_of` told of."""
    token = contexts.attach(_PROPAGATOR.extract(headers))
    try:
        yield
    finally:
        contexts.detach(token)


def tracing_to(exporter: str) -> Tracing:
    """`otlp` (where to: OTEL_EXPORTER_OTLP_ENDPOINT) or `console`."""
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    if exporter == "console":
        import sys

        return Tracing(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return Tracing(BatchSpanProcessor(OTLPSpanExporter()))


class _GivenIds(IdGenerator):
    """Random ids, except inside of `given`."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._given = threading.local()

    def given(self, trace_id: int, span_id: int | None) -> _GivenIds:
        self._given.trace_id, self._given.span_id = trace_id, span_id
        return self

    def __enter__(self) -> None:
        """Set by `given`."""

    def __exit__(self, *error: object) -> None:
        self._given.trace_id = self._given.span_id = None

    def generate_span_id(self) -> int:
        return getattr(self._given, "span_id", None) or self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        return getattr(self._given, "trace_id", None) or self._random.generate_trace_id()


# --- Ids ---


def _trace_id(run_id: str) -> int:
    return _id_of(16, run_id)


def _root_id(run_id: str, run_attempt: int) -> int:
    return _id_of(8, run_id, run_attempt)


def _step_id(run: Run, execution_id: str) -> int:
    return _id_of(8, run.run_id, run.attempt, execution_id)


def _attempt_id(run_id: str, run_attempt: int, execution_id: str, phase: str, attempt: int) -> int:
    return _id_of(8, run_id, run_attempt, execution_id, phase, attempt)


def _id_of(size: int, *parts: object) -> int:
    """Never 0, which stands for no id."""
    digest = sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:size], "big") or 1


def _remember(memory: OrderedDict[Any, Any], key: object, value: object) -> None:
    memory[key] = value
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)


def _failure_of(change: c.Change, execution_id: str) -> Failure | None:
    if isinstance(change, c.AttemptFailed | c.WaitSkipped | c.StepEnded):
        return change.failure if change.execution_id == execution_id else None
    return None


def _step_of(execution_id: str) -> str:
    return execution_id.rpartition("-")[0]


def _nanoseconds(at: datetime) -> int:
    return to_micros(at) * 1000
