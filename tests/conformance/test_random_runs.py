"""Random runs of random flows (joins, maps, locks, every delivery) take only ways that the model has."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from orchestrator.core.changes import Change
from orchestrator.core.events import Event
from orchestrator.definition.model import ChannelCondition, Combinator, Delivery, Flow, TimerCondition
from orchestrator.errors import OrchestratorError
from tests.conformance.following import Follower
from tests.property.test_random_runs import ACTIONS, MOST_ACTIVE, event_of
from tests.support.play import Play
from tests.support.random_flows import flows

_ROUNDS = 6
_MOST_COMMITS = 120


class TracedPlay(Play):
    """Keeps what each commit was about."""

    def __init__(self, flow: Flow) -> None:
        self.commits: list[tuple[str, list[Change]]] = []
        super().__init__(flow, input=0)

    def send(self, event: Event) -> list[Change]:
        changes = super().send(event)
        if changes:
            self.commits.append((type(event).__name__, changes))
        return changes

    @property
    def is_over(self) -> bool:
        run = self.run
        return (
            run.closed_at is not None
            or len(run.executions) > MOST_ACTIVE
            or len(self.commits) > _MOST_COMMITS
        )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flow=flows(), actions=ACTIONS)
def test_the_model_has_every_way_that_a_random_run_takes(flow: Flow, actions: list[tuple[str, int]]) -> None:
    assume(not has_late_taker_of_transient(flow))
    play = TracedPlay(flow)
    settle(play)
    for action, number in actions:
        if play.is_over:
            break
        if action == "time":
            play.advance(number)
        else:
            event = event_of(flow, play.run, action, number, play.now)
            if event is None:
                continue
            try:
                play.send(event)
            except OrchestratorError:
                continue  # refused: nothing happened
        settle(play)
    Follower(flow).follow(play.commits)


def has_late_taker_of_transient(flow: Flow) -> bool:
    """A wait for a timer and a transient message: the search knows no time, and keeps the message for it."""
    for step in flow.steps.values():
        wait = step.wait_for
        if wait is None or wait.combinator is not Combinator.ALL_OF:
            continue
        kinds = {type(condition) for condition in wait.conditions}
        channels = [each.channel for each in wait.conditions if isinstance(each, ChannelCondition)]
        is_transient = any(flow.channels[name].delivery is Delivery.TRANSIENT for name in channels)
        if TimerCondition in kinds and is_transient:
            return True
    return False


def settle(play: TracedPlay) -> None:
    """At most so many rounds: a flow of steps without handlers may go on for ever."""
    for _ in range(_ROUNDS):
        if play.is_over or not play.settle_once():
            return
