"""Runs as OpenTelemetry traces."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.tracing import Tracing
from orchestrator.engine.worker import Worker
from tests.support import traced_handlers
from tests.support.engine_kit import Kit, another_store, flow_of

FLOW = flow_of(
    """
flow: Traced
handlers: tests.support.traced_handlers
channels: {box: {type: integer, external: true}}
start: Look
steps:
  Look: {execute: look, go_to: Stumble}
  Stumble: {execute: {handler: raise_once, retry: {initial_interval: 5s}}, go_to: Await}
  Await: {wait_for: {until: {channel: box}}, execute: look_async, graceful_complete: null}
"""
)
TOLD = """
flow: Told
handlers: tests.support.traced_handlers
output: any
start: Tell
steps:
  Tell: {execute: %s, graceful_complete: "${result}"}
"""
CHILD = """
flow: Child
start: Only
steps:
  Only: {graceful_complete: null}
"""
PARENT = """
flow: Parent
start: Ask
steps:
  Ask: {wait_for: {until: {subflow: Child, id: child}}, graceful_complete: null}
"""
RPC = flow_of(
    """
flow: Called
handlers: tests.support.traced_handlers
attributes: {total: {type: integer}}
channels: {box: {type: integer, external: true}}
rpcs:
  store: {handler: store, input: integer, output: integer, may: {set: [total]}}
start: Await
steps:
  Await: {wait_for: {until: {channel: box}}, graceful_complete: null}
"""
)


class Traces:
    """What was exported, by name of span."""

    def __init__(self, kit: Kit) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracing = kit.engine.tracing = Tracing(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name == name]

    def only(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span


@pytest.fixture
def traces(kit: Kit) -> Iterator[Traces]:
    made = Traces(kit)
    yield made
    made.tracing.close()


@pytest.fixture
def caller() -> Iterator[TracerProvider]:
    provider = TracerProvider()
    yield provider
    provider.shutdown()


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    span_id: int = span.context.span_id
    return span_id


def trace_of(span: ReadableSpan) -> int:
    assert span.context is not None
    trace_id: int = span.context.trace_id
    return trace_id


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent is not None else None


def seconds_of(span: ReadableSpan) -> float:
    assert span.start_time is not None and span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


def through(kit: Kit) -> None:
    kit.client.start(FLOW, "run-1")
    kit.settle()
    kit.pass_time(seconds=5)
    kit.clock.advance(seconds=7)
    kit.client.publish("run-1", "box", 1)
    kit.settle()


def test_a_run_is_one_trace_of_steps_and_attempts(kit: Kit, traces: Traces) -> None:
    through(kit)
    root = traces.only("run Traced")
    assert root.parent is None
    assert {trace_of(span) for span in traces.all()} == {trace_of(root)}
    for name in ("step Look", "step Stumble", "step Await", "publish box", "start"):
        assert parent_of(traces.only(name)) == id_of(root), name
    assert parent_of(traces.only("execute Look")) == id_of(traces.only("step Look"))
    assert parent_of(traces.only("wait Await")) == id_of(traces.only("step Await"))
    first, second = traces.named("execute Stumble")
    assert parent_of(first) == parent_of(second) == id_of(traces.only("step Stumble"))
    assert (first.status.is_ok, first.status.description) == (False, "ValueError: secret-17")
    assert second.status.is_ok


def test_spans_take_as_long_as_what_they_tell(kit: Kit, traces: Traces) -> None:
    through(kit)
    lengths = {name: seconds_of(traces.only(name)) for name in ("step Stumble", "wait Await", "run Traced")}
    assert lengths == {"step Stumble": 5.0, "wait Await": 7.0, "run Traced": 12.0}
    start = traces.only("run Traced").start_time
    assert start is not None and datetime.fromtimestamp(start / 1e9, UTC) == datetime(2030, 1, 1, tzinfo=UTC)


def test_a_handler_runs_inside_the_span_of_its_attempt(kit: Kit, traces: Traces) -> None:
    through(kit)
    assert traced_handlers.spans["Look-1"] == id_of(traces.only("execute Look"))
    assert traced_handlers.spans["Await-1"] == id_of(traces.only("execute Await"))


@pytest.mark.parametrize("handler", ["tell", "tell_async"])
def test_a_handler_in_a_process_of_its_own_does_so_too(kit: Kit, traces: Traces, handler: str) -> None:
    kit.client.start(flow_of(TOLD % handler), "run-1")
    with Worker(kit.engine, run_in_process=["Told/Tell"], processes=1) as worker:
        closed = worker.run_until_closed("run-1")
    assert closed["outputs"][0]["output"] == f"{id_of(traces.only('execute Tell')):x}"


def test_another_worker_continues_the_same_trace(kit: Kit, traces: Traces) -> None:
    kit.client.start(FLOW, "run-1")
    kit.settle()
    kit.clock.advance(seconds=5)
    engine = Engine(
        another_store(kit), clock=kit.clock, tracing=Tracing(SimpleSpanProcessor(traces.exporter))
    )
    client = Client(engine)
    client.publish("run-1", "box", 1)
    with Worker(engine) as worker:
        worker.run_until_closed("run-1")
    assert engine.tracing is not None
    engine.tracing.close()
    engine.close()
    assert len({trace_of(span) for span in traces.all()}) == 1
    first, second = traces.named("execute Stumble")
    assert parent_of(first) == parent_of(second) == id_of(traces.only("step Stumble"))
    assert parent_of(traces.only("step Look")) == id_of(traces.only("run Traced"))
    assert seconds_of(traces.only("step Stumble")) == 5.0, "from its first attempt, elsewhere"


def test_runs_are_traces_of_their_own(kit: Kit, traces: Traces) -> None:
    kit.run(flow_of(CHILD), "one")
    kit.run(flow_of(CHILD), "two")
    one, two = traces.named("run Child")
    assert trace_of(one) != trace_of(two)


def test_a_child_is_linked_to_the_step_that_waits_for_it(kit: Kit, traces: Traces, tmp_path: Path) -> None:
    (tmp_path / "child.flow.yaml").write_text(CHILD, encoding="utf-8")
    (tmp_path / "parent.flow.yaml").write_text(PARENT, encoding="utf-8")
    client = Client(kit.engine, flows=[tmp_path])
    client.start("Parent", "parent")
    with kit.working() as worker:
        worker.run_until_closed("parent")
    (link,) = traces.only("run Child").links
    ask = traces.only("step Ask")
    assert (link.context.trace_id, link.context.span_id) == (trace_of(ask), id_of(ask))


def test_what_a_client_does_is_linked_to_the_clients_span(
    kit: Kit, traces: Traces, caller: TracerProvider
) -> None:
    with caller.get_tracer("app").start_as_current_span("request") as request:
        kit.client.start(RPC, "run-1")
        kit.client.rpc("run-1", "store", 3)
        kit.client.publish("run-1", "box", 1)
    for name in ("start", "rpc store", "publish box"):
        (link,) = traces.only(name).links
        assert link.context.span_id == request.get_span_context().span_id, name


def test_where_the_caller_has_no_span_there_is_no_link(kit: Kit, traces: Traces) -> None:
    kit.client.start(RPC, "run-1")
    kit.client.rpc("run-1", "store", 3)
    assert [span.name for span in traces.all()] == ["start", "rpc store"]
    assert not any(span.links for span in traces.all())


def test_a_failed_run_is_an_error(kit: Kit, traces: Traces) -> None:
    kit.client.start(RPC, "run-1")
    kit.client.stop("run-1", "fail")
    assert not traces.only("run Called").status.is_ok


def test_failures_are_told_without_their_words_if_these_may_be_secret(kit: Kit, traces: Traces) -> None:
    traces.tracing.shows_messages = False
    through(kit)
    assert traces.named("execute Stumble")[0].status.description == "ValueError"
    assert not any("secret-17" in span.to_json() for span in traces.all())


@pytest.mark.parametrize(("ratio", "count"), [("0.0", 0), ("1.0", 3)])
def test_sampling_takes_whole_runs(kit: Kit, monkeypatch: pytest.MonkeyPatch, ratio: str, count: int) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", ratio)
    traces = Traces(kit)
    kit.run(flow_of(CHILD))
    traces.tracing.close()
    assert len(traces.all()) == count


def test_a_mistake_in_a_trace_does_not_reach_the_run(
    kit: Kit, traces: Traces, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(traces.tracing, "_tracer")
    assert kit.run(flow_of(CHILD))["status"] == "COMPLETED"
    assert "no trace of a commit" in caplog.text


def test_without_traces_nothing_of_them_is_imported() -> None:
    program = "import sys, orchestrator.engine.worker, orchestrator.cli.serving; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "orchestrator.engine.worker" in modules
    assert [
        name for name in modules if name.startswith(("opentelemetry", "orchestrator.engine.tracing"))
    ] == []
