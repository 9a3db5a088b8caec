"""Handlers that would not notice that they are cancelled, or would be taken for dead (rules 112, 162)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from orchestrator.binding.findings import PythonPlace, find_problem
from orchestrator.binding.method import Method, MethodKind, methods_of
from orchestrator.binding.source.deeds import Act, Deeds
from orchestrator.binding.source.files import FunctionSource
from orchestrator.binding.source.patience import stubborn_loops, swallowed_cancels, waiting_loops
from orchestrator.definition.model import Flow, Rpc, Step
from orchestrator.definition.problem import Problem
from orchestrator.graph.query import with_otherwise

HEARTBEAT_MISSING = "FAI012"
SWALLOWS_CANCEL = "FAI014"
LONG_SECONDS = 60
"""A method that may take longer is to notice that its step is cancelled."""


def check_endurance(method: Method, deeds: Deeds, source: FunctionSource) -> Iterator[Problem]:
    if method.kind is MethodKind.RPC:
        return
    yield from _check_heartbeat(method, deeds, source)
    name = method.handler.name
    for clause in swallowed_cancels(source):
        yield find_problem(
            method,
            SWALLOWS_CANCEL,
            f"`{name}` takes the exception that is to end it for one of its own",
            place=PythonPlace(source.file, clause, "also takes CancelledError"),
            help="write `except Exception`, or `raise` at its end",
        )
    is_async = isinstance(source.node, ast.AsyncFunctionDef)  # which is ended where it awaits
    if deeds.is_whole and not is_async and not deeds.has(Act.ASK_CANCELLED, Act.HEARTBEAT):
        loops = list(_check_loops(method, source))
        yield from loops or _check_timeout(method, source)


def _check_heartbeat(method: Method, deeds: Deeds, source: FunctionSource) -> Iterator[Problem]:
    heartbeat = method.handler.heartbeat
    if heartbeat is None or not deeds.is_whole or deeds.has(Act.HEARTBEAT):
        return
    yield find_problem(
        method,
        HEARTBEAT_MISSING,
        f"`{method.handler.name}` never calls `ctx.heartbeat`, though {method.owner} declares a heartbeat",
        place=PythonPlace(source.file, source.node, "no heartbeat in it"),
        also=[((*method.path, "heartbeat"), "declared here")],
        help=f"attempts longer than {heartbeat.total_seconds():g} s fail: call it, or drop `heartbeat`",
    )


def _check_loops(method: Method, source: FunctionSource) -> Iterator[Problem]:
    """Loops that try for ever, and loops that sleep in steps that are cancelled."""
    loops: list[ast.While | ast.For] = list(stubborn_loops(source))
    waiting = list(waiting_loops(source))
    if waiting and method.name in cancelled_steps(method.flow):
        loops += [loop for loop in waiting if loop not in loops]
    for loop in loops[:1]:
        yield find_problem(
            method,
            SWALLOWS_CANCEL,
            f"the loop of `{method.handler.name}` goes on when {method.owner} is cancelled or out of time",
            place=PythonPlace(source.file, loop, "never asks `ctx.cancelled`"),
            help="ask `ctx.cancelled` in the loop and return, or call `ctx.heartbeat`",
        )


def _check_timeout(method: Method, source: FunctionSource) -> Iterator[Problem]:
    """A step that is cancelled and says itself that it takes long. The default timeout says nothing."""
    seconds, flow = method.handler.timeout.total_seconds(), method.flow
    assert flow.source is not None
    is_long = seconds > LONG_SECONDS and "timeout" in flow.source.parts(method.path)
    if is_long and method.handler.heartbeat is None and method.name in cancelled_steps(flow):
        yield find_problem(
            method,
            HEARTBEAT_MISSING,
            f"`{method.handler.name}` may take {seconds:g} s and would not notice a cancel of {method.owner}",
            place=PythonPlace(source.file, source.node, "neither asks `ctx.cancelled` nor gives heartbeats"),
            also=[((*method.path, "timeout"), "its time")],
            help="ask `ctx.cancelled` between its parts, or declare a `heartbeat` and call `ctx.heartbeat`",
        )


def cancelled_steps(flow: Flow) -> frozenset[str]:
    """Those that some decision or handler cancels by name."""
    owners: list[Step | Rpc] = [*flow.steps.values(), *flow.rpcs.values()]
    owners += [flow.on_timeout] if flow.on_timeout is not None else []
    found: set[str] = set()
    for owner in owners:
        for _, decision, _ in with_otherwise(owner.decisions):
            found.update(decision.cancel, decision.cancel_siblings)
    for method in methods_of(flow):
        found.update(method.may.cancel if method.may is not None else ())
    return frozenset(found)
