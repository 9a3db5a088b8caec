"""Random runs of random flows (joins, maps, locks, every delivery) take only ways that the model has."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings

from orchestrator.core.changes import Change
from orchestrator.core.events import Event
from orchestrator.definition.model import Flow
from orchestrator.errors import OrchestratorError
from tests.conformance.following import Follower
from tests.property.test_random_runs import ACTIONS, event_of
from tests.support.play import Play
from tests.support.random_flows import flows

_ROUNDS = 6
_MOST_COMMITS = 80
_MOST_EXECUTIONS = 12
_DEEPEST = 3
"""Rounds nested deeper are not followed: each costs the search as much as all above it."""


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
            or len(run.executions) > _MOST_EXECUTIONS
            or len(self.commits) > _MOST_COMMITS
            or any(len(execution.line) > _DEEPEST for execution in run.executions.values())
        )


@settings(
    max_examples=200,
    phases=[Phase.explicit, Phase.generate],  # a way that the model has not would take minutes to shrink
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(flow=flows(), actions=ACTIONS)
def test_the_model_has_every_way_that_a_random_run_takes(flow: Flow, actions: list[tuple[str, int]]) -> None:
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


def settle(play: TracedPlay) -> None:
    """At most so many rounds: a flow of steps without handlers may go on for ever."""
    for _ in range(_ROUNDS):
        if play.is_over or not play.settle_once():
            return
