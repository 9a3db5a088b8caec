"""RPCs: a decision without a decider (rules 165-172, language.md 7)."""

from __future__ import annotations

from orchestrator.core import changes as c
from orchestrator.core.decisions import apply_planned_effects, choose, evaluate_decision, start_planned
from orchestrator.core.draft import Draft
from orchestrator.core.effects import apply_handler_effects
from orchestrator.core.evaluation import checked, evaluate
from orchestrator.core.events import RpcCalled
from orchestrator.core.failing import MethodFails
from orchestrator.core.frame import Frame
from orchestrator.core.locks import require_free
from orchestrator.core.state import Execution, Phase, Run
from orchestrator.definition.model import Decision, Flow, Json, Rpc
from orchestrator.errors import HandlerFailed, InvalidValue, NotActive, NotFound, Rejected


def find_rpc(flow: Flow, name: str) -> Rpc:
    """Raises NotFound."""
    rpc = flow.rpcs.get(name)
    if rpc is None:
        known = ", ".join(sorted(flow.rpcs)) or "none"
        raise NotFound(f"flow {flow.name} has no RPC {name}; it has: {known}", name=name)
    return rpc


def is_read_only(rpc: Rpc) -> bool:
    """Nothing it can do changes the run: it also works on a closed one (rule 168)."""
    has_may = rpc.handler is not None and rpc.handler.may is not None
    return not has_may and not any(_has_effect(decision) for decision in rpc.decisions)


def check_rpc_input(rpc: Rpc, value: Json, *, has_input: bool) -> Json:
    """The input as the RPC's type has it; raises InvalidValue."""
    if rpc.input is None:
        if has_input:
            raise InvalidValue(f"RPC {rpc.name} takes no input", name=rpc.name)
        return None
    try:
        return rpc.input.check(value)
    except InvalidValue as error:
        raise InvalidValue(f"input of RPC {rpc.name}: {error.message}", **error.data) from None


def require_callable(run: Run, rpc: Rpc) -> None:
    """Raises NotActive for an RPC with effects on a closed run."""
    if run.closed_at is not None and not is_read_only(rpc):
        raise NotActive(
            f"run {run.flow_id} is closed: {run.status}; RPC {rpc.name} has effects",
            flow_id=run.flow_id,
            status=run.status,
        )


def caller_of(rpc: Rpc, input: Json) -> Execution:
    """Stands for the decider of an RPC; part of no run."""
    return Execution(step=f"__rpc/{rpc.name}", number=0, origin="", phase=Phase.EXECUTE, input=input)


def call_rpc(draft: Draft, event: RpcCalled) -> None:
    """All or nothing: an error leaves the run untouched (rule 166).

    A repeated request id changes nothing. Raises NotFound, InvalidValue, NotActive, Rejected, HandlerFailed.
    """
    if event.request_id is not None and event.request_id in draft.run.answers:
        return
    rpc = find_rpc(draft.flow, event.name)
    require_callable(draft.run, rpc)
    try:
        output, decision = _decide(draft, rpc, event)
    except MethodFails as fails:
        failure = fails.failure
        if failure.type == "NoDecision":
            raise Rejected(failure.message, name=rpc.name) from None
        raise HandlerFailed(f"RPC {rpc.name}: {failure.message}", name=rpc.name) from None
    draft.changes.append(c.RpcAnswered(rpc.name, output, event.request_id, decision))


def answer_of(run: Run, changes: list[c.Change], request_id: str | None) -> Json:
    """What the caller gets, after `changes` were committed (none: the request was a repetition)."""
    for change in reversed(changes):
        if isinstance(change, c.RpcAnswered):
            return change.output
    return run.answers[request_id or ""]


def _decide(draft: Draft, rpc: Rpc, event: RpcCalled) -> tuple[Json, int | None]:
    """The output, and which decision was taken."""
    caller = caller_of(rpc, check_rpc_input(rpc, event.input, has_input=event.has_input))
    result = _checked_result(rpc, event.result)
    require_free(draft, rpc.locks, Frame(draft, caller), f"RPC {rpc.name}")
    apply_handler_effects(draft, rpc.handler, event.effects)
    frame = Frame(draft, caller, {rpc.result.name: result})
    if not rpc.decisions:
        return _output(rpc, None, result, frame), None
    position, decision = choose(rpc, "RPC", event.choice, frame)
    if decision.reject is not None:
        raise Rejected(str(evaluate(decision.reject, frame)), name=rpc.name)
    planned = evaluate_decision(draft, caller, frame, position, decision, lambda _: False)
    output = _output(rpc, decision, result, frame)
    apply_planned_effects(draft, caller, planned, event.effects.cancels)
    start_planned(draft, caller, planned, (), origin=caller.step)
    return output, position


def _checked_result(rpc: Rpc, result: Json) -> Json:
    if rpc.handler is None or rpc.result.type is None:
        return result
    return checked(result, rpc.result.type, f"result of {rpc.handler.name}")


def _output(rpc: Rpc, decision: Decision | None, result: Json, frame: Frame) -> Json:
    """`returns`, else the handler's result, else null."""
    returns = decision.returns if decision is not None else None
    output = result if returns is None else evaluate(returns, frame)
    return output if rpc.output is None else checked(output, rpc.output, f"output of RPC {rpc.name}")


def _has_effect(decision: Decision) -> bool:
    return bool(decision.effects or decision.cancel or decision.outcome)
