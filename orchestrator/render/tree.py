"""A flow as a tree of plain lines, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.definition.durations import format_duration
from orchestrator.definition.model import (
    Combinator,
    DeadEnd,
    Decision,
    Flow,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    Handler,
    Movement,
    Publish,
    Report,
    SetAttribute,
    Step,
    WaitFor,
)
from orchestrator.definition.values import Value
from orchestrator.graph.labels import condition_text, empty_words, id_prefix, value_text
from orchestrator.graph.query import steps_in_reading_order


@dataclass(slots=True)
class Branch:
    text: str
    children: list[Branch] = field(default_factory=list)


def tree(flow: Flow) -> str:
    """The flow, its stores, its steps in reading order, its RPCs and its timeout; no line end at the end."""
    root = Branch(_joined(flow.name, flow.description))
    if flow.input is not None or flow.output is not None:
        taken = f"takes {flow.input.text}" if flow.input is not None else ""
        given = f"gives {flow.output.text}" if flow.output is not None else ""
        root.children.append(Branch(", ".join(part for part in (taken, given) if part)))
    root.children += _stores(flow)
    root.children += [_step(flow, flow.steps[name]) for name in steps_in_reading_order(flow)]
    for rpc in flow.rpcs.values():
        branch = Branch(f"rpc {_joined(rpc.name, rpc.description)}")
        branch.children += [*_calls(rpc.handler), *_decisions(rpc.decisions)]
        root.children.append(branch)
    if flow.timeout is not None:
        root.children.append(Branch(f"timeout {format_duration(flow.timeout.after)}: {flow.timeout.policy}"))
    if flow.on_timeout is not None:
        branch = Branch(_joined("on timeout", flow.on_timeout.description))
        branch.children += [*_calls(flow.on_timeout.execute), *_decisions(flow.on_timeout.decisions)]
        root.children.append(branch)
    return "\n".join([root.text, *_drawn(root.children, "")])


def _drawn(branches: list[Branch], indent: str) -> Iterable[str]:
    for branch in branches:
        is_last = branch is branches[-1]
        yield f"{indent}{'└─ ' if is_last else '├─ '}{branch.text}"
        yield from _drawn(branch.children, indent + ("   " if is_last else "│  "))


def _joined(name: str, description: str) -> str:
    return f"{name}: {' '.join(description.split())}" if description else name


def _stores(flow: Flow) -> list[Branch]:
    branches = []
    for channel in flow.channels.values():
        flags = [
            *(["one per key"] if channel.is_map else []),
            *(["clients publish"] if channel.is_external else []),
            *([channel.delivery.value] if channel.delivery.value != "queued" else []),
            *([f"at most {channel.capacity}"] if channel.capacity is not None else []),
        ]
        branches.append(Branch(f"channel {channel.name}: {', '.join([channel.type.text, *flags])}"))
    for attribute in flow.attributes.values():
        keyed = ", one per key" if attribute.is_map else ""
        branches.append(Branch(f"attribute {attribute.name}: {attribute.type.text}{keyed}"))
    branches += [Branch(f"join {join.name}: {join.type.text}") for join in flow.joins.values()]
    return branches


def _step(flow: Flow, step: Step) -> Branch:
    start = " (start)" if step.name == flow.start else ""
    branch = Branch(_joined(f"step {step.name}{start}", step.description))
    if step.wait_for is not None:
        branch.children.append(_wait(step.wait_for))
    branch.children += _calls(step.execute)
    branch.children += _decisions(step.decisions)
    if step.on_failure is not None:
        branch.children.append(Branch(f"on failure → {step.on_failure.step}"))
    return branch


def _wait(wait: WaitFor) -> Branch:
    words = {
        Combinator.UNTIL: "waits for",
        Combinator.ANY_OF: "waits for any of",
        Combinator.ALL_OF: "waits for all of",
        Combinator.ANY_COMBINATION_OF: "waits for one of these combinations",
        Combinator.HANDLER: _chosen_words(wait),
        Combinator.NONE: "waits for nothing",
    }
    texts = {condition.id: id_prefix(condition) + condition_text(condition) for condition in wait.conditions}
    if wait.groups:
        children = [Branch(" and ".join(texts.get(name, name) for name in group)) for group in wait.groups]
    else:
        children = [Branch(text) for text in texts.values()]
    effects = [Branch(f"first {text}") for text in _effects(wait.effects)]
    if len(children) == 1 and not effects and wait.combinator is not Combinator.HANDLER:
        return Branch(f"waits for {children[0].text}")
    return Branch(words[wait.combinator], effects + children)


def _chosen_words(wait: WaitFor) -> str:
    name = wait.handler.name if wait.handler is not None else ""
    return f"waits for what {name} chooses" if wait.conditions else f"first {name}, then waits for nothing"


def _calls(handler: Handler | None) -> list[Branch]:
    if handler is None:
        return []
    retry = handler.retry
    words = f"calls {handler.name}"
    if retry.maximum_attempts:
        count = retry.maximum_attempts
        words += f", {count} attempt{'s' if count > 1 else ''}"
        words += f" {format_duration(retry.initial_interval)} apart" if count > 1 else ""
    may = handler.may
    children = []
    if may is not None:
        pairs = (("publish to", may.publish), ("set", may.set), ("cancel", may.cancel))
        children = [Branch(f"may {verb} {', '.join(names)}") for verb, names in pairs if names]
    return [Branch(words, children)]


def _decisions(decisions: Iterable[Decision]) -> list[Branch]:
    branches = []
    some = tuple(decisions)
    for index, decision in enumerate(some):
        guard = []
        if decision.choice is not None:
            guard.append(f"chose {decision.choice}")
        if decision.when is not None:
            guard.append(f"when {' '.join(decision.when.text.split())}")
        elif any(rival.choice == decision.choice for rival in some[:index]):
            guard.append("otherwise")
        branch = _outcome(decision)
        if guard:
            branch.text = f"{' '.join(guard)}: {branch.text}"
        branches.append(branch)
    return branches


def _outcome(decision: Decision) -> Branch:
    effects = [Branch(text) for text in _effects(decision.effects)]
    cancels = (("cancel", decision.cancel), ("cancel beside it", decision.cancel_siblings))
    effects += [Branch(f"{verb} {', '.join(names)}") for verb, names in cancels if names]
    if decision.cancel_round is not None:
        effects.append(Branch(f"cancel the round of {decision.cancel_round}"))
    if isinstance(decision.outcome, GoToMany):
        effects += [Branch(f"→ {_movement(movement)}") for movement in decision.outcome.movements]
    if isinstance(decision.outcome, GoToMany | ForceCompleteIfChannelsEmpty) and decision.outcome.otherwise:
        other = _outcome(decision.outcome.otherwise)
        effects.append(Branch(f"otherwise: {other.text}", other.children))
    return Branch(_outcome_words(decision), effects)


def _outcome_words(decision: Decision) -> str:
    match decision.outcome:
        case GoTo(movement=movement):
            return f"→ {_movement(movement)}"
        case GoToMany(join=join):
            return "start in parallel" + (f", as a round of {join}" if join else "")
        case GracefulComplete(output=output):
            return "complete when all else is done" + _with(output)
        case ForceComplete(output=output):
            return "complete now" + _with(output)
        case ForceFail(reason=reason):
            return f"fail the run: {value_text(reason)}"
        case DeadEnd():
            return "this branch ends"
        case ForceCompleteIfChannelsEmpty(channels=channels, output=output):
            return f"complete now if {empty_words(channels)}{_with(output)}"
        case _ if decision.reject is not None:
            return f"reject: {value_text(decision.reject)}"
        case _:
            return "return" + (f" {value_text(decision.returns)}" if decision.returns is not None else "")


def _with(output: Value | None) -> str:
    return f" with {value_text(output)}" if output is not None else ""


def _movement(movement: Movement) -> str:
    words = movement.step
    if movement.for_each is not None:
        words += f" × each {movement.as_name} in {value_text(movement.for_each)}"
    return words + (f" when {' '.join(movement.when.text.split())}" if movement.when is not None else "")


def _effects(effects: Iterable[object]) -> list[str]:
    words = []
    for effect in effects:
        match effect:
            case Publish():
                words.append(f"publish to {effect.channel}{_key(effect.key)}")
            case SetAttribute():
                words.append(f"set {effect.attribute}{_key(effect.key)} = {value_text(effect.value)}")
            case Report():
                words.append(f"report to {effect.join}")
            case _:
                pass
    return words


def _key(key: Value | None) -> str:
    return f"[{value_text(key)}]" if key is not None else ""
