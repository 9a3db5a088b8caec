"""Whether a declared publisher can still publish, and why (not)."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase, QueueKey
from orchestrator.definition.model import Flow, Path
from orchestrator.engine.describe import phase_of
from orchestrator.engine.explain.chart import Actor, ActorKind, Sender
from orchestrator.engine.explain.explanation import ExplainedSender
from orchestrator.engine.explain.outlook import Outlook
from orchestrator.engine.explain.prospects import Prospects
from orchestrator.engine.explain.words import command, names, time_words

_PHASES = {"queued": "ready", "running": "running", "waiting": "waiting", "backing_off": "backing off"}


class Senders:
    """Explains publishers of one run; `leased`: executions that a worker has."""

    def __init__(self, prospects: Prospects, leased: Iterable[str]) -> None:
        self._prospects = prospects
        self._run = prospects.run
        self._flow = prospects.flow
        self._leased = frozenset(leased)
        self._explained: dict[QueueKey, tuple[ExplainedSender, ...]] = {}

    def explain(self, channel: str, key: str | None) -> tuple[ExplainedSender, ...]:
        """Those who can first, then those who cannot."""
        known = self._explained.get((channel, key))
        if known is None:
            senders = (self._explain(each, key) for each in self._prospects.chart.senders_of(channel, key))
            known = tuple(sorted(senders, key=lambda sender: sender.can == Outlook.NEVER.word))
            self._explained[(channel, key)] = known
        return known

    def _explain(self, sender: Sender, key: str | None) -> ExplainedSender:
        actor = sender.actor
        outlook = self._prospects.outlook_of(actor)
        because, line = self._because(actor, outlook), None
        if actor.kind is ActorKind.CLIENT:
            line = publish_command(self._run.flow_id, sender.channel, key)
        elif actor.kind is ActorKind.RPC:
            line = rpc_command(self._flow, self._run.flow_id, actor.name)
        name = "on_timeout" if actor.kind is ActorKind.TIMEOUT_HANDLER else actor.name
        return ExplainedSender(
            str(actor.kind), name, outlook.word, because, line, place_text(self._flow, sender.path)
        )

    def _because(self, actor: Actor, outlook: Outlook) -> str:
        if actor.kind is ActorKind.CLIENT:
            return "may publish there"
        if actor.kind is ActorKind.RPC:
            return "may be called at any time"
        if outlook is Outlook.NEVER:
            return self._why_not(actor)
        own = self._able(self._own(actor))
        if own:
            return self._states(own)
        roots = self._able(self._leading_to(actor))
        if roots:
            return f"comes after {self._states(roots)}"
        return self._by_other_ways(actor)

    def _able(self, executions: list[Execution]) -> list[Execution]:
        """Those that can move, soonest first: what is under way, else what waits itself."""
        moves = self._prospects.moves
        able = sorted(
            (each for each in executions if moves[each.id] is not Outlook.NEVER),
            key=lambda each: moves[each.id],
        )
        under_way = [each for each in able if each.phase is not Phase.WAITING]
        return under_way or [each for each in able if moves[each.id] is moves[able[0].id]]

    def _by_other_ways(self, actor: Actor) -> str:
        """Not by what is active: by the deadline, or by a call."""
        chart, deadline = self._prospects.chart, self._prospects.deadline
        is_timeout = actor.kind is ActorKind.TIMEOUT_HANDLER
        if deadline is not None and (is_timeout or actor.name in chart.after(TIMEOUT_STEP)):
            assert deadline.due_at is not None
            when = time_words(deadline.due_at, self._prospects.now)
            return f"runs at the deadline, {when}" if is_timeout else f"comes after the deadline, {when}"
        rpcs = [rpc for rpc in chart.starts if actor.name in chart.from_rpc(rpc)]
        return f"comes after a call of {names([f'RPC {rpc}' for rpc in rpcs], 'or')}"

    def _why_not(self, actor: Actor) -> str:
        if actor.kind is ActorKind.TIMEOUT_HANDLER:
            if self._prospects.deadline is None:
                return "the run has no deadline to come"
            return f"the policy of the deadline is {self._prospects.deadline.locals.get('policy')}"
        own = self._own(actor)
        if own:
            return f"{names([each.id for each in own])} cannot move"
        roots = self._leading_to(actor)
        stuck = [each.id for each in roots if self._prospects.moves[each.id] is Outlook.NEVER]
        barred = self._barred_before(actor.name)
        reasons = [f"{names(stuck)}, which cannot move"] if stuck else []
        reasons += [f"{names(barred)}, whose wait nobody can satisfy"] if barred else []
        if reasons:
            return f"comes only after {', or after '.join(reasons)}"
        past = [each.id for each in self._prospects.active if each.step == actor.name]
        if past:
            return f"the wait of {names(past)} is accepted, and nothing that is active leads to another"
        over = "all its executions are over, and " if self._run.counters.get(actor.name) else ""
        return f"{over}nothing that is active leads to it"

    def _own(self, actor: Actor) -> list[Execution]:
        """Active executions that have the method still before them."""
        return [
            each
            for each in self._prospects.active
            if each.step == actor.name and (not actor.in_wait or each.phase is Phase.WAIT_FOR)
        ]

    def _leading_to(self, actor: Actor) -> list[Execution]:
        return [
            each for each in self._prospects.active if actor.name in self._prospects.chart.after(each.step)
        ]

    def _barred_before(self, step: str) -> list[str]:
        """Steps that can be entered, but not left, and that lead to it; or the step itself."""
        enters, acts = self._prospects.enters, self._prospects.acts
        return [
            each
            for each in self._flow.steps
            if enters[each] is not Outlook.NEVER
            and acts[each] is Outlook.NEVER
            and (each == step or step in self._prospects.chart.after(each))
        ]

    def _states(self, executions: list[Execution]) -> str:
        """`Charge-1 (running)`."""
        return names([f"{each.id} ({self._state_of(each)})" for each in executions])

    def _state_of(self, execution: Execution) -> str:
        if execution.wanted_locks:
            return "waiting for locks"
        return _PHASES[phase_of(execution, execution.id in self._leased, self._prospects.now)]


def publish_command(flow_id: str, channel: str, key: str | None) -> str:
    return command("publish", flow_id, channel, "VALUE", *(("--key", key) if key is not None else ()))


def rpc_command(flow: Flow, flow_id: str, rpc: str) -> str:
    return command("rpc", flow_id, rpc, *(("INPUT",) if flow.rpcs[rpc].input is not None else ()))


def place_text(flow: Flow, path: Path) -> str | None:
    """`flows/x.flow.yaml:40`."""
    if flow.source is None:
        return None
    position = flow.source.locate(path)
    return f"{flow.source.path}:{(position.key or position.value).line}"
