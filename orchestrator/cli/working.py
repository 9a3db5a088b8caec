"""Working on one run in this process: `run`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import Any

from orchestrator.cli.logs import Tell, logging_as
from orchestrator.cli.nearby import nearby_runs_told
from orchestrator.cli.options import LogFormat
from orchestrator.cli.progress import shown
from orchestrator.cli.session import demand_handlers, find_flow, named_flows, require_places
from orchestrator.cli.settings import resolve_settings
from orchestrator.cli.storage import open_engine
from orchestrator.cli.terminal import bare, note
from orchestrator.cli.values import parse_assignments, parse_value
from orchestrator.engine.client import Client
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
    require_places(flows)
    settings = resolve_settings(db, flows)
    prepared = _prepare(new, flows)
    engine = open_engine(settings, makes=new is not None)
    try:
        client = Client(engine, flows=named_flows(settings))
        if prepared is not None:
            flow, value, attributes = prepared
            client.start(flow, flow_id, value, attributes=attributes)
        with nearby_runs_told(engine.store):
            described: dict[str, Any] = client.describe(flow_id)
        if described["status"] != "RUNNING":
            return described
        verb = "started" if prepared is not None else "resumed"
        worker = Worker(
            engine,
            concurrency=concurrency,
            processes=settings.processes,
            run_in_process=settings.run_in_process,
        )
        return _work_until_closed(worker, client, flow_id, verb, until_blocked)
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
    worker: Worker, client: Client, flow_id: str, verb: str, until_blocked: bool
) -> dict[str, Any]:
    with logging_as(LogFormat.TEXT, None) as tell, draining(worker, tell):
        note(f"{flow_id} {verb}")
        try:
            with shown(lambda: client.progress(flow_id)):
                run: dict[str, Any] = worker.run_until_closed(
                    flow_id, until_blocked=until_blocked, on_hold=_note_hold
                )
        finally:
            worker.stop()
    if run["status"] == "RUNNING":
        note(f"interrupted; go on with: orchestrator run --resume {flow_id}")
        raise KeyboardInterrupt
    return run


def _note_hold(hold: Mapping[str, Any]) -> None:
    """Why the run does not go on, and with which command it would."""
    note(bare(f"{hold['flow_id']} waits: {hold['text']}"))
    for advice in hold["help"]:
        note(bare(f"  {advice['text']}: {advice['command']}"))


@contextmanager
def draining(worker: Worker, tell: Tell) -> Iterator[None]:
    """SIGTERM and Ctrl-C finish what runs; a second Ctrl-C does not wait for it."""

    def stop(number: int, frame: FrameType | None) -> None:
        tell("stopping: finishing what runs, Ctrl-C again to leave it")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        worker.ask_to_stop()

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
