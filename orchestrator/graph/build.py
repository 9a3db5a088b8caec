"""From a flow to its graph: a networkx MultiDiGraph, one node per element, one edge per relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.definition.model import (
    ChannelCondition,
    Condition,
    Decision,
    Flow,
    ForceCompleteIfChannelsEmpty,
    GoToMany,
    Handler,
    JoinCondition,
    Options,
    Publish,
    Report,
    Rpc,
    SetAttribute,
    Step,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.graph.kinds import EdgeKind, NodeKind
from orchestrator.graph.labels import OUTCOME_NAMES, condition_text, movement_label, remaining_guard
from orchestrator.graph.query import movements_of, read_names, read_paths, reads_messages_of, with_otherwise

if TYPE_CHECKING:
    import networkx as nx

ON_TIMEOUT = "on_timeout"


def build(flow: Flow) -> nx.MultiDiGraph[str]:
    """Node ids are `step:X`, `wait:X`, `channel:c`, `decision:X/1`, …; every attribute is JSON."""
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.graph["flow"] = flow.name
    graph.graph["start"] = None if flow.start is None else f"step:{flow.start}"
    builder = _Builder(flow, graph)
    builder.add_stores()
    for step in flow.steps.values():
        builder.add_step(step)
    for rpc in flow.rpcs.values():
        builder.add_rpc(rpc)
    if flow.on_timeout is not None:
        builder.add_timeout_handler(flow.on_timeout)
    return graph


class _Builder:
    def __init__(self, flow: Flow, graph: nx.MultiDiGraph[str]) -> None:
        self._flow = flow
        self._graph = graph

    # --- Nodes ---

    def add_stores(self) -> None:
        for channel in self._flow.channels.values():
            flags = {"external": channel.is_external, "map": channel.is_map}
            self._node(f"channel:{channel.name}", NodeKind.CHANNEL, channel.name, channel.description, flags)
        for attribute in self._flow.attributes.values():
            flags = {"map": attribute.is_map}
            self._node(
                f"attribute:{attribute.name}",
                NodeKind.ATTRIBUTE,
                attribute.name,
                attribute.description,
                flags,
            )
        for join in self._flow.joins.values():
            self._node(f"join:{join.name}", NodeKind.JOIN, join.name, join.description, {})

    def add_step(self, step: Step) -> None:
        node = f"step:{step.name}"
        self._graph.add_node(node, kind=NodeKind.STEP.value, name=step.name, description=step.description)
        if step.wait_for is not None:
            self._add_wait(step, step.wait_for)
        self._add_method(node, step.execute)
        self._add_decisions(node, step.name, step.decisions, (EdgeKind.GO_TO, EdgeKind.FAN_OUT))
        if step.on_failure is not None:
            self._edge(node, f"step:{step.on_failure.step}", EdgeKind.EXECUTE_FAILURE)
            self._add_options(step.on_failure.step, step.on_failure.options, f"after failure of {step.name}")
        self._add_reads(node, (step.let, step.decisions))
        self._add_results(step)

    def add_rpc(self, rpc: Rpc) -> None:
        node = f"rpc:{rpc.name}"
        self._node(node, NodeKind.RPC, rpc.name, rpc.description, {})
        self._add_method(node, rpc.handler)
        for lock in rpc.locks:
            self._edge(node, f"attribute:{lock.attribute}", EdgeKind.LOCK)
        self._add_decisions(node, node, rpc.decisions, (EdgeKind.RPC_START, EdgeKind.RPC_START))
        self._add_reads(node, (rpc.let, rpc.decisions))

    def add_timeout_handler(self, handler: Step) -> None:
        node = f"timeout_handler:{ON_TIMEOUT}"
        self._node(node, NodeKind.TIMEOUT_HANDLER, ON_TIMEOUT, handler.description, {})
        self._add_method(node, handler.execute)
        self._add_decisions(node, ON_TIMEOUT, handler.decisions, (EdgeKind.TIMEOUT, EdgeKind.TIMEOUT))
        self._add_reads(node, (handler.let, handler.decisions))

    def _node(self, node: str, kind: NodeKind, name: str, description: str, flags: dict[str, bool]) -> None:
        attributes: dict[str, Any] = {"kind": kind.value, "name": name}
        if description:
            attributes["description"] = description
        self._graph.add_node(node, **attributes, **{flag: True for flag, is_set in flags.items() if is_set})

    def _edge(self, source: str, target: str, kind: EdgeKind, label: str = "") -> None:
        """Add an edge unless the same one is there."""
        key = f"{kind.value} {label}"
        if not self._graph.has_edge(source, target, key):
            attributes = {"kind": kind.value, "label": label} if label else {"kind": kind.value}
            self._graph.add_edge(source, target, key, **attributes)

    # --- Waits ---

    def _add_wait(self, step: Step, wait: WaitFor) -> None:
        node, owner = f"wait:{step.name}", f"step:{step.name}"
        timers = [condition_text(each) for each in wait.conditions if isinstance(each, TimerCondition)]
        attributes: dict[str, Any] = {"kind": NodeKind.WAIT.value, "combinator": wait.combinator.value}
        attributes["step"] = step.name
        if timers:
            attributes["timers"] = timers
        if wait.groups:
            attributes["groups"] = [list(group) for group in wait.groups]
        self._graph.add_node(node, **attributes)
        self._edge(owner, node, EdgeKind.STEP_TO_WAIT)
        for condition in wait.conditions:
            self._add_condition(node, condition)
        self._add_method(owner, wait.handler)
        self._add_effects(owner, wait.effects)
        self._add_reads(node, (wait.conditions, wait.effects, tuple(value for _, value in wait.locals)))

    def _add_condition(self, wait: str, condition: Condition) -> None:
        label = condition_text(condition)
        match condition:
            case ChannelCondition():
                self._edge(f"channel:{condition.channel}", wait, EdgeKind.WAIT_CONDITION, label)
            case JoinCondition():
                self._edge(f"join:{condition.join}", wait, EdgeKind.WAIT_CONDITION, label)
            case SubflowCondition():
                child = f"subflow:{condition.flow}"
                self._node(child, NodeKind.SUBFLOW, condition.flow, "", {})
                self._edge(wait, child, EdgeKind.SUBFLOW, condition.id)
                self._edge(child, wait, EdgeKind.WAIT_CONDITION, label)
            case _:
                pass

    def _add_results(self, step: Step) -> None:
        if step.wait_for is None:
            return
        paths = read_paths((step.let, step.decisions))
        for condition in step.wait_for.conditions:
            if not reads_messages_of(paths, condition.id):
                continue
            match condition:
                case ChannelCondition():
                    source = f"channel:{condition.channel}"
                case JoinCondition():
                    source = f"join:{condition.join}"
                case SubflowCondition():
                    source = f"subflow:{condition.flow}"
                case _:
                    continue
            self._edge(source, f"step:{step.name}", EdgeKind.RESULTS)

    # --- Handlers ---

    def _add_method(self, node: str, handler: Handler | None) -> None:
        """What a handler may do, loads and locks."""
        if handler is None:
            return
        if handler.may is not None:
            for channel in handler.may.publish:
                self._edge(node, f"channel:{channel}", EdgeKind.PUBLISH)
            for attribute in handler.may.set:
                self._edge(node, f"attribute:{attribute}", EdgeKind.WRITE)
            for step in handler.may.cancel:
                self._edge(node, f"step:{step}", EdgeKind.CANCEL)
        for lock in handler.locks:
            self._edge(node, f"attribute:{lock.attribute}", EdgeKind.LOCK)
        for load in handler.loads:
            store = f"channel:{load.channel}" if load.channel is not None else f"attribute:{load.attribute}"
            self._edge(store, node, EdgeKind.READ)

    def _add_reads(self, node: str, element: Any) -> None:
        for attribute in read_names(element, "attributes"):
            self._edge(f"attribute:{attribute}", node, EdgeKind.READ)
        for channel in read_names(element, "channels"):
            self._edge(f"channel:{channel}", node, EdgeKind.READ)

    # --- Decisions ---

    def _add_decisions(
        self, owner: str, name: str, decisions: Sequence[Decision], kinds: tuple[EdgeKind, EdgeKind]
    ) -> None:
        """`kinds`: of a single movement, and of one among several."""
        for suffix, decision, parent in with_otherwise(decisions):
            node = f"decision:{name}/{suffix}"
            guard = "" if parent is not None else remaining_guard(decisions, int(suffix) - 1)
            self._graph.add_node(node, **_decision_attributes(owner, decision, guard))
            if parent is None:
                self._edge(owner, node, EdgeKind.STEP_TO_DECISION)
            else:
                self._edge(node.removesuffix("/otherwise"), node, EdgeKind.STEP_TO_DECISION, "otherwise")
            self._add_effects(owner, decision.effects)
            self._add_cancels(node, decision)
            self._add_outcome(owner, node, decision, guard, kinds)

    def _add_effects(self, owner: str, effects: Iterable[Any]) -> None:
        for effect in effects:
            match effect:
                case Publish():
                    self._edge(owner, f"channel:{effect.channel}", EdgeKind.PUBLISH)
                case SetAttribute():
                    self._edge(owner, f"attribute:{effect.attribute}", EdgeKind.WRITE)
                case Report():
                    self._edge(owner, f"join:{effect.join}", EdgeKind.REPORT)

    def _add_cancels(self, node: str, decision: Decision) -> None:
        for step in decision.cancel:
            self._edge(node, f"step:{step}", EdgeKind.CANCEL)
        for step in decision.cancel_siblings:
            self._edge(node, f"step:{step}", EdgeKind.CANCEL, "siblings")
        if decision.cancel_round is not None:
            self._edge(node, f"join:{decision.cancel_round}", EdgeKind.CANCEL_ROUND)

    def _add_outcome(
        self, owner: str, node: str, decision: Decision, guard: str, kinds: tuple[EdgeKind, EdgeKind]
    ) -> None:
        outcome = decision.outcome
        is_many = isinstance(outcome, GoToMany)
        for movement in movements_of(decision):
            label = movement_label(guard, decision.choice, movement)
            self._edge(node, f"step:{movement.step}", kinds[is_many], label)
            self._add_options(movement.step, movement.options, f"when started by {owner.partition(':')[2]}")
        if isinstance(outcome, GoToMany) and outcome.join is not None:
            self._edge(node, f"join:{outcome.join}", EdgeKind.OPENS)
        if isinstance(outcome, ForceCompleteIfChannelsEmpty):
            for channel in outcome.channels:
                self._edge(f"channel:{channel}", owner, EdgeKind.READ)

    def _add_options(self, step: str, options: Options | None, label: str) -> None:
        """Routes and locks that a movement or route gives its target (rule 118)."""
        if options is None:
            return
        for override in (options.wait_for, options.execute):
            for lock in (override and override.locks) or ():
                self._edge(f"step:{step}", f"attribute:{lock.attribute}", EdgeKind.LOCK, label)
        if options.on_failure is not None:
            route = options.on_failure
            self._edge(f"step:{step}", f"step:{route.step}", EdgeKind.EXECUTE_FAILURE, label)
            self._add_options(route.step, route.options, f"after failure of {step}")


def _decision_attributes(owner: str, decision: Decision, guard: str) -> dict[str, Any]:
    kind, _, name = owner.partition(":")
    attributes: dict[str, Any] = {"kind": NodeKind.DECISION.value}
    if decision.outcome is not None:
        attributes["decision"] = OUTCOME_NAMES[type(decision.outcome)]
    else:
        attributes["decision"] = "reject" if decision.reject is not None else "returns"
    attributes[kind] = name
    if decision.choice is not None:
        attributes["choice"] = decision.choice
    if guard:
        attributes["when"] = guard
    return attributes
