"""A counterexample in words: one line an event, who is stuck at the end, and why that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from orchestrator.core.state import TIMEOUT_STEP
from orchestrator.definition.model import (
    ChannelCondition,
    Decision,
    Flow,
    GoTo,
    GoToMany,
    Path,
    Step,
)
from orchestrator.definition.problem import Span, TraceStep
from orchestrator.graph.labels import OUTCOME_NAMES
from orchestrator.graph.query import otherwise_of
from orchestrator.verify.report import Counterexample, Event, EventKind, Guess, Stuck

_KINDS = {
    EventKind.WAIT_FOR: "waits",
    EventKind.WAIT_FOR_FAILED: "wait_for fails",
    EventKind.SATISFIED: "wait satisfied",
    EventKind.CHILD_CLOSED: "child closed",
    EventKind.DECIDED: "commit",
    EventKind.FAILED: "execute fails",
    EventKind.PUBLISHED: "publishes",
    EventKind.RPC: "calls",
    EventKind.TIMED_OUT: "deadline",
    EventKind.COMPLETED: "completes",
}
_WIDTH = max(map(len, _KINDS.values()))
_HINTS = {
    "deadlock": "from here on nothing can move",
    "zombie": "nothing is active, and nothing will be",
    "livelock": "from here on it can never end",
    "mutual_exclusion": "two are inside",
    "token_conservation": "the count is wrong from here on",
    "unsatisfiable_join": "the join can never hold",
    "early_join": "the join does not wait for all",
    "orphan_message": "nobody will read what is left",
    "forced_completion_race": "others are still at work",
    "graceful_never_completes": "completion was asked for, and cannot come",
    "cancelled_holder": "what it held is lost",
    "attribute_race": "both are at work on it",
}
_PLURALS = {"has": "have", "is": "are", "waits": "wait", "holds": "hold", "can": "can"}
CLIENT = "client"
RUN = "run"


def tell(flow: Flow, counterexample: Counterexample, property: str) -> tuple[TraceStep, ...]:
    """Every event in order, those of a cycle marked; the last one says what is wrong."""
    events = [*counterexample.events, *counterexample.cycle]
    texts = [describe(flow, event) for event in events]
    first_of_cycle = len(counterexample.events)
    if counterexample.cycle:
        texts[first_of_cycle] += "  <-- and again from here, for ever"
    elif texts and property in _HINTS:
        texts[-1] += f"  <-- {_HINTS[property]}"
    return tuple(
        TraceStep(span_of(flow, event.path), text, thread_of(event))
        for event, text in zip(events, texts, strict=True)
    )


def describe(flow: Flow, event: Event) -> str:
    """`commit          [should_withdraw] token 0 -> 1, dead_end`"""
    details = [*_guesses(event), ", ".join(_details(flow, event))]
    return f"{_KINDS[event.kind].ljust(_WIDTH)}  {' '.join(each for each in details if each)}".rstrip()


def thread_of(event: Event) -> str:
    if event.kind in (EventKind.PUBLISHED, EventKind.RPC):
        return CLIENT
    return shown_id(event.step_execution_id) if event.step_execution_id else RUN


def shown_id(execution_id: str) -> str:
    return "on_timeout" if execution_id == f"{TIMEOUT_STEP}-1" else execution_id


def span_of(flow: Flow, path: Path) -> Span:
    """Of the key where the path names a step or a declaration, else of the value, its first line only."""
    if flow.source is None:
        return Span(1, 1, 1, 1)
    position = flow.source.locate(path)
    value = position.value
    is_block = value.line != value.end_line
    if position.key is not None and (is_block or len(path) <= 2):
        return position.key
    if not is_block:
        return value
    end = len(flow.source.lines[value.line - 1].rstrip()) + 1
    return Span(value.line, value.column, value.line, end)


# --- Parts of a line ----------------------------------------------------------------------------------------


def _guesses(event: Event) -> Iterator[str]:
    shown = [text for guess in event.guesses if (text := _guess(guess))]
    if shown:
        yield f"[{', '.join(shown)}]"


def _guess(guess: Guess) -> str:
    verb, _, what = guess.what.partition(" ")
    match guess.value:
        case True:
            return guess.what
        case False:
            is_plain = guess.what.replace(".", "").replace("_", "").isalnum()
            return f"not {guess.what}" if is_plain else f"not ({guess.what})"
        case None:
            return ""
        case int() if verb in ("publishes", "sets", "cancels") and what:
            return "" if guess.value == 0 else guess.what + (f" x{guess.value}" if guess.value > 1 else "")
    if guess.what in ("wait", "choice"):
        return f"{guess.what}: {guess.value}"
    return f"{guess.what} = {guess.value}"


def _details(flow: Flow, event: Event) -> Iterator[str]:
    if event.kind is EventKind.RPC and event.step:
        yield event.step
    if event.kind is EventKind.SATISFIED and event.conditions and not event.channels:
        yield ", ".join(event.conditions)
    yield from (f"{name} {before} -> {after}" for name, (before, after) in event.channels.items())
    if event.cancels:
        yield f"cancels {counted(event.cancels)}"
    if len(event.starts) == 1:
        yield f"-> {_step_of(event.starts[0])}"
    elif event.starts:
        yield f"starts {counted(event.starts)}"
    elif event.kind is EventKind.DECIDED and (outcome := outcome_of(flow, event)):
        yield outcome
    if event.closes:
        yield f"the run is {event.closes}"


def counted(execution_ids: Sequence[str]) -> str:
    """`EnterContractEdit x3, FinishContractEdits`"""
    counts = Counter(map(_step_of, execution_ids))
    return ", ".join(f"{step} x{count}" if count > 1 else step for step, count in counts.items())


def _step_of(execution_id: str) -> str:
    return execution_id.rpartition("-")[0] or execution_id


def outcome_of(flow: Flow, event: Event) -> str:
    """The key of the decision's outcome, where it starts nothing."""
    decision = decision_of(flow, event)
    if decision is None or decision.outcome is None or isinstance(decision.outcome, GoTo | GoToMany):
        return ""
    return OUTCOME_NAMES[type(decision.outcome)]


def decision_of(flow: Flow, event: Event) -> Decision | None:
    step = _owner(flow, event)
    if step is None or event.decision is None or event.decision > len(step.decisions):
        return None
    decision: Decision | None = step.decisions[event.decision - 1]
    for _ in range(event.otherwise_count):
        decision = otherwise_of(decision) if decision is not None else None
    return decision


def _owner(flow: Flow, event: Event) -> Step | None:
    if event.step in (TIMEOUT_STEP, "on_timeout"):
        return flow.on_timeout
    return flow.steps.get(event.step or "")


# --- Who is stuck -------------------------------------------------------------------------------------------


def tell_stuck(flow: Flow, counterexample: Counterexample) -> list[str]:
    """A line for executions of a step with the same trouble, then who could have sent what they wait for."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for stuck in counterexample.stuck:
        grouped.setdefault((stuck.step, stuck.reason), []).append(shown_id(stuck.step_execution_id))
    lines = [f"{_named(ids)} {_agreeing(reason, len(ids))}" for (_, reason), ids in grouped.items()]
    channels = dict.fromkeys(name for stuck in counterexample.stuck for name in _awaited(flow, stuck))
    for name in channels:
        unread = counterexample.channels.get(name, 0)
        state = f"has {unread} unread" if unread else "is empty"
        lines.append(f"{name} {state}; {_senders_text(flow, name, counterexample)}")
    return lines


def _agreeing(reason: str, count: int) -> str:
    """`has 0 of 1`, of several `have 0 of 1`."""
    verb, _, rest = reason.partition(" ")
    return reason if count == 1 else f"{_PLURALS.get(verb, verb)} {rest}"


def _named(ids: Sequence[str]) -> str:
    """`EnterContractEdit-2, -3`"""
    first, *others = ids
    return ", ".join([first, *(f"-{each.rpartition('-')[2]}" for each in others)])


def _awaited(flow: Flow, stuck: Stuck) -> Iterator[str]:
    step = flow.steps.get(stuck.step)
    if step is None or step.wait_for is None or stuck.path[:3] != ("steps", step.name, "wait_for"):
        return
    for condition in step.wait_for.conditions:
        if isinstance(condition, ChannelCondition):
            yield condition.channel


def _senders_text(flow: Flow, channel: str, counterexample: Counterexample) -> str:
    senders, is_external = senders_of(flow, channel), flow.channels[channel].is_external
    if not senders:
        return "clients may publish it" if is_external else "nobody publishes it"
    stuck = {each.step_execution_id for each in counterexample.stuck}
    # One that is not stuck speaks for its step.
    active = {
        _step_of(each): each in stuck
        for each in sorted(counterexample.active, key=lambda each: each not in stuck)
    }
    left = ", ".join(name + " (stuck too)" * active[name] for name in senders if name in active)
    text = f"published by {', '.join(senders)}" + (", and by clients" if is_external else "")
    return f"{text}; active of these: {left}" if left else f"{text}; none of these is active"


def senders_of(flow: Flow, channel: str) -> list[str]:
    """Steps and RPCs that may publish to the channel, in the order of the definition."""
    from orchestrator.graph.build import build

    edges = build(flow).in_edges(f"channel:{channel}", data=True)
    found = dict.fromkeys(_sender(source) for source, _, data in edges if data["kind"] == "publish")
    order = {name: number for number, name in enumerate(flow.steps)}
    return sorted(found, key=lambda name: order.get(name, len(order)))


def _sender(node: str) -> str:
    """Of a node's id: `step:Save` -> `Save`, `rpc:approve` -> `RPC approve`."""
    owner, _, name = node.partition(":")
    return f"RPC {name}" if owner == "rpc" else name
