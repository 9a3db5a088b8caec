"""What can happen next in a state. An event is decided once and remembered under all that it depends on:
following it in another state is arithmetic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from orchestrator.core.rounds import DraftRound
from orchestrator.core.state import BranchReport, Phase, Round, Status, Wait
from orchestrator.core.waits import Win, win_of
from orchestrator.definition.model import Delivery, Flow, Path, Step, TimeoutPolicy
from orchestrator.graph.query import iterate_values
from orchestrator.verify.counting import counts_of, follow
from orchestrator.verify.deciding import Decider, Occasion
from orchestrator.verify.places import Place, Places
from orchestrator.verify.probing import Prober
from orchestrator.verify.relevance import Relevance
from orchestrator.verify.report import EventKind, Guess
from orchestrator.verify.sites import Site, bounds_of, within
from orchestrator.verify.skeleton import ANY_KEY
from orchestrator.verify.sources import Source, sources_of
from orchestrator.verify.state import Counts, Outcome, State
from orchestrator.verify.surroundings import Surroundings, key_of

_CHILD_ENDS = (Status.COMPLETED, Status.FAILED)


class Transitions:
    """The states of one definition and the ways between them, for some sizes of fan-out."""

    def __init__(self, flow: Flow, fan_out: Iterable[int], external: dict[str, tuple[int, int]]) -> None:
        self.flow = flow
        self.sizes = tuple(fan_out)
        self.largest = max(self.sizes, default=0)
        self.sources: tuple[Source, ...] = sources_of(flow, external)
        relevance = Relevance(flow)
        self._surroundings = Surroundings(flow, relevance)
        places = Places(flow, relevance, keeps_origins=self._surroundings.has_siblings)
        self._prober = Prober(flow, relevance, places)
        self._decider = Decider(flow, self.sizes, relevance, self._prober)
        self._has_outside = bool(self.sources) or flow.timeout is not None
        self._memory: dict[Hashable, tuple[Outcome, ...]] = {}
        self._sites: dict[int, Site] = {}
        """By place."""
        self._transient = frozenset(
            name for name, channel in flow.channels.items() if channel.delivery is Delivery.TRANSIENT
        )

    @property
    def places(self) -> list[Place]:
        """By number; grows while the search goes on."""
        return self._prober.places

    @property
    def queues(self) -> list[tuple[str, str | None]]:
        """By number: channel, and key of a map's instance."""
        return self._prober.queues

    def initial(self) -> list[tuple[State, tuple[Guess, ...]]]:
        """A run just started, before its first step has done anything."""
        return [
            (
                State(
                    marking=counts_of(reading.places),
                    queues=counts_of(reading.queues),
                    data=reading.data,
                    rounds=reading.rounds,
                    budget=tuple(source.budget for source in self.sources),
                    is_completing=False,
                    has_timed_out=False,
                    status=Status.RUNNING,
                ),
                guesses,
            )
            for reading, guesses in self._decider.begin()
        ]

    def outcomes(self, state: State) -> list[Outcome]:
        """Everything that can happen next, the flow's own events first."""
        found: list[Outcome] = []
        for number, _ in state.marking:
            site = self._sites.get(number) or self._site(number)
            key = site.key(state)
            known = site.known.get(key)
            if known is None:
                known = site.known[key] = tuple(site.find(state))
            found += known
        if not state.marking and state.is_completing:
            found.append(Outcome(EventKind.COMPLETED, None, (), (), (), status=Status.COMPLETED))
        if self._has_outside:
            found += self._from_outside(state)
        return found

    def after(self, state: State, outcome: Outcome) -> Sequence[State]:
        """The state that the outcome leads to; transient messages that no wait can take are gone.

        Also where one can, it may come too early: a wait is accepted in a commit of its own, and may need a
        timer as well that has not fired.
        """
        found = follow(state, outcome)
        if found.status is Status.COMPLETED and found.marking:
            found = found._replace(queues=self._given_back(found))
        if not self._transient or not found.is_running:
            return (found,)
        offered = {number for number, _ in found.queues if self.queues[number][0] in self._transient}
        wanted = offered & self._taken(found, outcome)
        left = _without(found, offered - wanted)
        return (left, _without(found, offered)) if wanted else (left,)

    def _given_back(self, state: State) -> Counts:
        """Executions that a completion cuts short give back what their waits took (rule 109)."""
        unread = Counter(dict(state.queues))
        for number, count in state.marking:
            for key, taken in self.places[number].taken.items():
                unread[self._prober.queue_number(key)] += count * taken
        return counts_of(unread)

    def _taken(self, state: State, outcome: Outcome) -> set[int]:
        """Queues from which waits that can end now take; who is only being started does not wait yet."""
        started = dict(outcome.starts)
        found: set[int] = set()
        for number, count in state.marking:
            place = self.places[number]
            if place.phase is not Phase.WAITING or place.wait is None or count <= started.get(place, 0):
                continue
            for win in self._wins(state, place.wait):
                taking = [place.wait.conditions[index] for index, taken in win.counts.items() if taken]
                keys = [(each.channel, each.key) for each in taking if each.channel is not None]
                found.update(map(self._prober.queue_number, keys))
        return found

    def _site(self, number: int) -> Site:
        place = self.places[number]
        found = self._waiting(number, place) if place.phase is Phase.WAITING else self._calling(number, place)
        self._sites[number] = found
        return found

    # --- Waits ----------------------------------------------------------------------------------------------

    def _waiting(self, number: int, place: Place) -> Site:
        wait, has_faces = place.wait, bool(place.faces)
        assert wait is not None
        bounds = bounds_of(wait, self._prober.queue_number)

        def key(state: State) -> Hashable:
            sizes = within(bounds, state.queues)
            return (sizes, state.rounds) if has_faces else sizes

        def find(state: State) -> Iterator[Outcome]:
            for win in self._wins(state, wait):
                yield from self._satisfy(state, place, win)
            yield from self._child_ends(state, number, place)

        return Site(key, find)

    def _wins(self, state: State, wait: Wait) -> Iterator[Win]:
        """Any candidate that holds may be the first to; timers come at some time."""
        if not wait.groups:
            yield Win((), (), {})
            return
        sizes = dict(state.queues)

        def size(key: tuple[str, str | None]) -> int:
            return sizes.get(self._prober.queue_number(key), 0)

        def find(name: str) -> DraftRound:
            found = next(round for round in state.rounds if round.name == name)
            reports = [BranchReport(0, None)] * found.report_count
            return DraftRound(Round(name.partition("/")[0], *found[1:6], reports=reports))

        for group in wait.groups:
            fired = tuple(index for index in group if wait.conditions[index].kind == "timer")
            win = win_of(wait, group, fired, size, find)
            if win is not None:
                yield win

    def _satisfy(self, state: State, place: Place, win: Win) -> Iterator[Outcome]:
        assert place.wait is not None
        needed: Counter[int] = Counter()
        for index, count in win.counts.items():
            condition = place.wait.conditions[index]
            assert condition.channel is not None
            needed[self._prober.queue_number((condition.channel, condition.key))] += count
        ids = tuple(dict.fromkeys(place.wait.conditions[index].id for index in win.winners))
        path = self._condition_path(place, ids)
        occasion = Occasion(state, EventKind.SATISFIED, path, place, queues=counts_of(needed))
        for outcome in self._decider.outcomes(occasion, self._decider.satisfy(win)):
            yield replace(outcome, conditions=ids)

    def _condition_path(self, place: Place, ids: tuple[str, ...]) -> Path:
        """Where the first of the conditions stands, else the wait."""
        wait_for = self.flow.steps[place.step].wait_for
        assert wait_for is not None
        paths = (declared.path for declared in wait_for.conditions if declared.id in ids)
        return next(paths, wait_for.path)

    def _child_ends(self, state: State, number: int, place: Place) -> Iterator[Outcome]:
        assert place.wait is not None
        for index, condition in enumerate(place.wait.conditions):
            child = condition.child
            if child is None or child.status != Status.RUNNING:
                continue
            key = ("child", number, index, state.rounds if place.faces else ())
            if key not in self._memory:
                self._memory[key] = tuple(self._end_child(state, place, index, child.flow_id))
            yield from self._memory[key]

    def _end_child(self, state: State, place: Place, index: int, flow_id: str) -> Iterator[Outcome]:
        assert place.wait is not None
        condition = place.wait.conditions[index]
        path = self._condition_path(place, (condition.id,))
        occasion = Occasion(state, EventKind.CHILD_CLOSED, path, place)
        for status in _CHILD_ENDS:
            guesses = (Guess(path, condition.id, status.value),)
            for outcome in self._decider.outcomes(occasion, self._decider.end_child(index, flow_id, status)):
                yield replace(outcome, guesses=guesses, conditions=(condition.id,))

    # --- Calls of methods, and decisions --------------------------------------------------------------------

    def _calling(self, number: int, place: Place) -> Site:
        victims = self._surroundings.victims[place.step]
        is_alone = victims is not None and not victims and not self._surroundings.channels[place.step]

        def key(state: State) -> Hashable:
            if is_alone:
                return (state.data, state.rounds)
            return (state.data, state.rounds, self._around(state, place.step, number))

        def find(state: State) -> Iterator[Outcome]:
            return self._call(state, place, *self._around(state, place.step, number))

        return Site(key, find)

    def _call(self, state: State, place: Place, others: Counts, queues: Counts) -> Iterator[Outcome]:
        step = self.flow.steps[place.step]
        crowd = self._crowd(others)
        decider = self._decider

        def occasion(kind: EventKind, path: Path) -> Occasion:
            return Occasion(state, kind, path, place, crowd, queues)

        if place.phase is Phase.WAIT_FOR:
            assert step.wait_for is not None
            path = step.wait_for.path
            yield from decider.outcomes(occasion(EventKind.WAIT_FOR, path), decider.accept_wait)
            yield from decider.outcomes(occasion(EventKind.WAIT_FOR_FAILED, path), decider.fail_wait)
            return
        yield from decider.outcomes(occasion(EventKind.DECIDED, step.path), decider.execute(step))
        if step.execute is not None:
            yield from decider.outcomes(occasion(EventKind.FAILED, step.execute.path), decider.fail)
        elif step.on_failure is not None and _has_expressions(step):
            yield from decider.outcomes(occasion(EventKind.FAILED, step.on_failure.path), decider.fail)

    def _around(self, state: State, decider: str, actor: int | None) -> tuple[Counts, Counts]:
        """The other executions and the queues that an event of this decider can touch."""
        victims = self._surroundings.victims[decider]
        sized = self._surroundings.channels[decider]
        others: list[tuple[int, int]] = []
        if victims is None or victims:
            for number, count in state.marking:
                if victims is None or self.places[number].step in victims:
                    left = count - (number == actor)
                    others += [(number, left)] if left else []
        queues = [(number, count) for number, count in state.queues if self.queues[number][0] in sized]
        return tuple(others), tuple(queues)

    def _crowd(self, others: Counts) -> tuple[tuple[Place, int], ...]:
        return tuple((self.places[number], count) for number, count in others)

    # --- From outside ---------------------------------------------------------------------------------------

    def _from_outside(self, state: State) -> Iterator[Outcome]:
        for index, source in enumerate(self.sources):
            if state.budget[index] <= 0:
                continue
            if source.rpc is not None:
                yield from self._call_rpc(state, index, source.rpc)
            elif source.channel is not None:
                yield from self._publish(state, index, source.channel)
        if self.flow.timeout is not None and not state.has_timed_out:
            yield from self._time_out(state)

    def _publish(self, state: State, index: int, name: str) -> Iterator[Outcome]:
        channel = self.flow.channels[name]
        number = self._prober.queue_number((name, ANY_KEY if channel.is_map else None))
        size = dict(state.queues).get(number, 0)
        if channel.capacity is not None and size >= channel.capacity:
            return
        is_replaced = channel.delivery is Delivery.LATEST and size > 0
        added = () if is_replaced else ((number, 1),)
        yield Outcome(EventKind.PUBLISHED, None, channel.path, (), added, source=index, channel=name)

    def _call_rpc(self, state: State, index: int, name: str) -> tuple[Outcome, ...]:
        rpc = self.flow.rpcs[name]
        others, queues = self._around(state, key_of(rpc), None)
        key = ("rpc", name, state.data, state.rounds, others, queues)
        found = self._memory.get(key)
        if found is None:
            occasion = Occasion(state, EventKind.RPC, rpc.path, None, self._crowd(others), queues)
            outcomes = self._decider.outcomes(occasion, self._decider.call(rpc))
            found = self._memory[key] = tuple(replace(each, source=index, step=name) for each in outcomes)
        return found

    def _time_out(self, state: State) -> Iterator[Outcome]:
        timeout, handler = self.flow.timeout, self.flow.on_timeout
        assert timeout is not None
        if timeout.policy is not TimeoutPolicy.HANDLER or handler is None:
            status = Status.CANCELED if timeout.policy is TimeoutPolicy.CANCEL else Status.FAILED
            yield Outcome(EventKind.TIMED_OUT, None, timeout.path, (), (), times_out=True, status=status)
            return
        others, queues = self._around(state, key_of(handler), None)
        key = ("timeout", state.data, state.rounds, others, queues)
        found = self._memory.get(key)
        if found is None:
            occasion = Occasion(state, EventKind.TIMED_OUT, handler.path, None, self._crowd(others), queues)
            outcomes = self._decider.outcomes(occasion, self._decider.time_out(handler))
            found = self._memory[key] = tuple(replace(outcome, times_out=True) for outcome in outcomes)
        yield from found


def _has_expressions(step: Step) -> bool:
    """Its decision may fail."""
    return any(value.expressions for value in iterate_values(step.decisions))


def _without(state: State, queues: set[int]) -> State:
    return state._replace(queues=tuple(entry for entry in state.queues if entry[0] not in queues))
