"""RPCs (rules 165-172): the handler runs in the calling process, its effects are one commit.

A plain handler sees a snapshot and its effects are committed afterwards. One with `locks` or `transactional`
runs inside the commit's transaction. What changes nothing is answered from a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from orchestrator.binding.context import Services
from orchestrator.binding.failures import failure_of
from orchestrator.binding.invoke import BoundHandler, Returned
from orchestrator.core.events import RpcCalled
from orchestrator.core.failing import MethodFails
from orchestrator.core.rpcs import answer_of, check_rpc_input, find_rpc, is_read_only, require_callable
from orchestrator.core.snapshot import Snapshot, take_rpc_snapshot
from orchestrator.core.state import Run
from orchestrator.core.transition import decide
from orchestrator.definition.model import Flow, Handler, Json, Rpc
from orchestrator.engine.cache import Entry
from orchestrator.engine.handlers import Handlers
from orchestrator.engine.inside import call_inside, lent
from orchestrator.engine.limited import LONGEST, OutOfTime, invoke_within
from orchestrator.engine.submission import Call
from orchestrator.errors import HandlerFailed, NotFound, Rejected

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.engine.batch import Batch
    from orchestrator.engine.engine import Engine
    from orchestrator.store.contract import Transaction


def call_rpc(engine: Engine, handlers: Handlers, services: Services, call: Call) -> Json:
    """The output. Raises NotFound, NotActive, InvalidValue, Rejected, HandlerFailed, LockConflict."""
    with engine.store.reading() as reading:
        head = reading.find_latest(call.flow_id)
        if head is None:
            raise NotFound(f"there is no run {call.flow_id}", flow_id=call.flow_id)
        flow = engine.definitions.of(head.definition, reading)
        rpc = find_rpc(flow, call.name)
        handler = rpc.handler
        is_inside = handler is None or is_exclusive(rpc, handler)
        is_answered_here = is_read_only(rpc) and (handler is None or not handler.transactional)
        run = reading.load(head).run if is_answered_here or not is_inside else None
    if handler is not None:
        call.bind, call.services = (lambda of: handlers.rpc(of, call.name)), services
        call.bind(flow)  # imports modules: not inside the transaction
    if run is not None:
        if call.request_id is not None and call.request_id in run.answers:
            return run.answers[call.request_id]
        now = engine.clock.now()
        call.run, call.returned = head.run, _returned(flow, run, rpc, call, now)
        if is_answered_here:
            return answer_of(run, decide(flow, run, _event(call, call.returned, now)), None)
    engine.submit(call)
    return call.receipt.result()


def answer(transaction: Transaction, batch: Batch, entry: Entry, call: Call) -> Json:
    """Inside the transaction. An error leaves no trace, neither in the run nor of a handler's own writes."""
    run = entry.run
    if call.request_id is not None and call.request_id in run.answers:
        return run.answers[call.request_id]
    rpc = find_rpc(entry.flow, call.name)
    require_callable(run, rpc)
    if rpc.handler is None or call.returned is not None:
        return _commit(batch, entry, call, call.returned)
    assert call.bind is not None
    bound = call.bind(entry.flow)
    with lent(transaction, bound) as loan:

        def invoke(bound: BoundHandler, snapshot: Snapshot, services: Services, seconds: float) -> Returned:
            return call_inside(bound, snapshot, services, seconds, loan)

        returned = _invoke(entry.flow, run, rpc, call, batch.now, invoke)
        return _commit(batch, entry, call, returned)


def is_exclusive(rpc: Rpc, handler: Handler) -> bool:
    """Its handler runs inside the transaction (rule 167)."""
    return bool(rpc.locks) or handler.transactional


def _commit(batch: Batch, entry: Entry, call: Call, returned: Returned | None) -> Json:
    event = _event(call, returned, batch.now)
    changes = decide(entry.flow, entry.run, event)
    batch.record(entry, event, changes)
    if call.origin is not None:
        batch.origins[id(event)] = call.origin
    return answer_of(entry.run, changes, call.request_id)


def _event(call: Call, returned: Returned | None, at: datetime) -> RpcCalled:
    returned = returned or Returned()
    return RpcCalled(
        at=at,
        name=call.name,
        input=call.input,
        has_input=call.has_input,
        result=returned.result,
        choice=returned.choice,
        effects=returned.effects,
        request_id=call.request_id,
    )


_Invoke = Callable[[BoundHandler, Snapshot, Services, float], Returned]


def _returned(flow: Flow, run: Run, rpc: Rpc, call: Call, now: datetime) -> Returned | None:
    """What the handler, if there is one, makes of a snapshot."""
    require_callable(run, rpc)
    return None if rpc.handler is None else _invoke(flow, run, rpc, call, now, invoke_within)


def _invoke(flow: Flow, run: Run, rpc: Rpc, call: Call, now: datetime, invoke: _Invoke) -> Returned:
    assert rpc.handler is not None and call.bind is not None
    seconds = min(rpc.handler.timeout.total_seconds(), LONGEST)
    input = check_rpc_input(rpc, call.input, has_input=call.has_input)
    try:
        snapshot = take_rpc_snapshot(flow, run, rpc, input, now)
        return invoke(call.bind(flow), snapshot, call.services, seconds)
    except MethodFails as fails:
        raise _failed(rpc, fails.failure.type, fails.failure.message) from None
    except Rejected as error:
        raise Rejected(error.message, name=rpc.name) from error
    except OutOfTime as error:
        raise _failed(rpc, "Timeout", str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failure = failure_of(error)
        raise _failed(rpc, failure.type, failure.message) from error


def _failed(rpc: Rpc, kind: str, message: str) -> HandlerFailed:
    return HandlerFailed(
        f"RPC {rpc.name}: {kind}: {message}", name=rpc.name, failure={"type": kind, "message": message}
    )
