"""Random runs of one version of a flow move to another: what is said to fit goes on to its end."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from orchestrator.core import codec
from orchestrator.core.events import ExecuteFailed, ExecuteSucceeded, Failure, Message, MessagesPublished
from orchestrator.core.invariants import check
from orchestrator.core.migration.comparison import Comparison, stand_of
from orchestrator.core.migration.moving import check_run, migrate
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.core.migration.verdicts import Verdict
from orchestrator.core.rounds import DraftRounds
from orchestrator.core.state import Execution, Run, Status
from orchestrator.core.tasks import TaskKind, failure_route, task_of
from orchestrator.core.transition import evolve
from orchestrator.definition.model import Flow
from orchestrator.diff.places import judge_places
from orchestrator.errors import UsageError
from tests.property.test_random_runs import state_of
from tests.support.play import Play
from tests.support.versions import build, two_versions

ACTS = ("settle", "settle", "settle", "work", "work", "fail", "signal", "signal", "more", "again", "time")
ACTIONS = st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 3)), max_size=16)
ROUNDS = 40
RENAMED = ("step:Part=Share", "step:Share=Part")
"""That another step could take the place of one does not make it the same step."""


def started(flow: Flow, actions: list[tuple[str, int]]) -> Play:
    """A run somewhere on its way: not everything that is due has been done."""
    play = Play(flow)
    for act, number in actions:
        if play.run.closed_at is not None:
            break
        if act == "settle":
            play.settle_once()
        elif act == "time":
            play.now += timedelta(hours=number * 20)
        elif act in ("work", "fail"):
            called = calls(play)
            if called:
                finish(play, called[number % len(called)], fails=act == "fail")
        else:
            publish(play, act)
    return play


def calls(play: Play) -> list[Execution]:
    return [
        execution
        for execution in play.run.executions.values()
        if execution.due_at is not None
        and execution.due_at <= play.now
        and task_of(play.flow, execution) is TaskKind.CALL_EXECUTE
    ]


def finish(play: Play, execution: Execution, *, fails: bool = False) -> None:
    """A failure is for good where a recovery step follows; else it is tried again."""
    id, attempt = execution.id, execution.attempt
    if not fails:
        play.send(ExecuteSucceeded(at=play.now, execution_id=id, attempt=attempt, result=1))
        return
    is_final = failure_route(play.flow, execution) is not None
    failure = Failure("ValueError", "boom", is_retryable=not is_final)
    if is_final or attempt == 1:
        play.send(ExecuteFailed(at=play.now, execution_id=id, attempt=attempt, failure=failure))


def publish(play: Play, channel: str) -> None:
    name = channel if channel in play.flow.channels else "go" if "go" in play.flow.channels else "ready"
    value = "x" if play.flow.channels[name].type.text == "string" else 1
    play.send(MessagesPublished(at=play.now, messages=(Message(name, value, None),)))


def finished(play: Play) -> Run:
    """Handlers succeed, clients send what they can, days go by."""
    for _ in range(ROUNDS):
        for _ in range(20):
            if not play.settle_once():
                break
        for execution in calls(play):
            if execution.id in play.run.executions:
                finish(play, execution)
        if play.run.closed_at is not None:
            break
        if not calls(play):
            for channel in [each.name for each in play.flow.channels.values() if each.is_external]:
                if play.run.closed_at is None:
                    publish(play, channel)
            play.now += timedelta(days=1)
    return play.run


def at_work(play: Play, number: int) -> set[str]:
    """Some of the executions whose handlers could be at work."""
    return {each.id for index, each in enumerate(calls(play)) if (index + number) % 3 == 0}


def mapped(old: Flow, new: Flow, play: Play, leased: set[str]) -> Comparison:
    """With all the mappings that are advised, as long as more are."""
    given: dict[str, None] = {}
    case = Comparison(old, new)
    for _ in range(6):
        advised = [each.mapping for each in check_run(case, play.run, leased) if each.mapping is not None]
        texts = (text for mapping in advised for text in mapping.split(" --map "))
        more = dict.fromkeys(text for text in texts if text in RENAMED or not text.startswith("step:"))
        if not more.keys() - given.keys():
            break
        given |= more
        try:
            case = Comparison(old, new, parse_renaming(given, old, new))
        except UsageError:
            break  # two pieces of advice that exclude each other
    return case


SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@settings(SETTINGS, max_examples=250)
@given(two_versions(), ACTIONS, st.integers(0, 2))
def test_a_run_that_fits_goes_on_to_its_end_as_one_of_the_new_version_would(
    versions: tuple[dict[str, str], dict[str, str]], actions: list[tuple[str, int]], number: int
) -> None:
    old, new = map(build, versions)
    assume(old is not None and new is not None and finished(Play(new)).status is Status.COMPLETED)
    assert old is not None and new is not None
    play = started(old, actions)
    assume(play.run.closed_at is None and finished(started(old, actions)).status is Status.COMPLETED)
    leased = at_work(play, number)
    case = mapped(old, new, play, leased)
    if check_run(case, play.run, leased):
        event("left")
        return
    event("moved with a mapping" if case.renaming != type(case.renaming)() else "moved")
    changes = migrate(case, play.run, leased)
    play.history.append(codec.encode(changes))
    evolve(play.run, changes)
    check(play.run)
    play.flow = new
    assert counted(play) == {name: round.counting for name, round in play.run.rounds.items()}
    run = finished(play)
    assert state_of(play.replayed()) == state_of(run)
    assert failures(play) == []
    assert (run.status, run.error) == (Status.COMPLETED, None), run.executions


def counted(play: Play) -> dict[str, int]:
    """What a count by the new definition gives."""
    ledger = DraftRounds(play.flow, play.run, [])
    counts = dict.fromkeys(play.run.rounds, 0)
    for execution in play.run.executions.values():
        for round in ledger.counted(execution):
            counts[round] += 1
    return counts


def failures(play: Play) -> list[str]:
    """Beside those of handlers."""
    found = (getattr(change, "failure", None) for body in play.history for change in codec.decode(body))
    return [each.message for each in found if each is not None and getattr(each, "type", "") != "ValueError"]


@settings(SETTINGS, max_examples=250)
@given(two_versions(), ACTIONS, st.integers(0, 2))
def test_what_the_definitions_alone_allow_no_run_refuses(
    versions: tuple[dict[str, str], dict[str, str]], actions: list[tuple[str, int]], number: int
) -> None:
    old, new = map(build, versions)
    assume(old is not None and new is not None)
    assert old is not None and new is not None
    case = Comparison(old, new)
    judged = {each.place: each.verdict for each in judge_places(case)}
    play = started(old, actions)
    assume(play.run.closed_at is None)
    leased = at_work(play, number)
    held = {
        stand_of(execution, is_leased=execution.id in leased).place
        for execution in play.run.executions.values()
        if execution.locks or execution.wanted_locks or execution.id in leased
    }
    refused = {each.place for each in check_run(case, play.run, leased)} - held
    event("refused" if refused else "allowed")
    names = {place: "deadline" if "sys:" in place else place for place in refused}
    assert [place for place in refused if judged[names[place]] is Verdict.COMPATIBLE] == []
