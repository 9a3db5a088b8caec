"""What is said of a flow: each property in a flow that keeps it and in one that breaks it, soonest."""

from __future__ import annotations

import pytest

from orchestrator.verify.report import Verdict
from orchestrator.verify.verifying import verify_flow
from tests.support.contract_edit_variants import text_of
from tests.support.play import flow_of
from tests.unit.verify.searching import length_of, report_of, verified, violated


def test_a_wait_for_what_nobody_sends_is_a_deadlock() -> None:
    report = verified(
        """
        flow: A
        channels: {c: string}
        start: First
        steps:
          First: {go_to: Wait}
          Wait: {wait_for: {until: {channel: c}}, graceful_complete: }
        """
    )
    assert "deadlock" in violated(report)
    assert length_of(report, "deadlock") == 1
    found = report_of(report, "deadlock").counterexample
    assert found is not None
    assert [(stuck.step_execution_id, stuck.reason) for stuck in found.stuck] == [("Wait-1", "has 0 of 1 c")]
    assert found.status == "RUNNING"


@pytest.mark.parametrize(
    "way_out",
    [
        "channels: {c: {type: string, external: true}}",
        "channels: {c: string}\nrpcs: {send: {publish: {c: x}}}",
        "channels: {c: string}\ntimeout: 1h",
        "channels: {c: string}\nrpcs: {stop: {cancel: [Wait]}}",
    ],
)
def test_a_wait_that_somebody_outside_may_end_is_none(way_out: str) -> None:
    text = "flow: A\nstart: Wait\nsteps:\n  Wait: {wait_for: {until: {channel: c}}, graceful_complete: }\n"
    assert "deadlock" not in violated(verified(text + way_out))


@pytest.mark.rule(185)
@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ("S: {wait_for: {until: {channel: c}}, graceful_complete: }", "deadlock"),
        ("S: {wait_for: {until: {timer: 1h}}, dead_end: true}", "zombie"),
    ],
)
def test_a_deadline_that_came_ends_nothing_any_more(steps: str, name: str) -> None:
    text = "flow: A\nchannels: {c: string}\ntimeout: 1h\nstart: S\nsteps:\n  " + steps
    assert not violated(verified(text)) & {"deadlock", "zombie"}
    assert name in violated(verified(text + "\non_timeout: {dead_end: true}\n"))
    rescued = text + "\n  T: {graceful_complete: }\non_timeout: {cancel: [S], go_to: T}\n"
    assert not violated(verified(rescued)) & {"deadlock", "zombie"}


@pytest.mark.rule(89)
@pytest.mark.parametrize(
    "wait",
    [
        'until: {timer: "${input.after}"}',
        'until: {channel: c, for: "${input.count}"}',
        "set: {n: '${10 / input.n}'}, until: {timer: 1h}",
        "until: {subflow: Child}",
    ],
)
@pytest.mark.parametrize("options", ["", "options: {wait_for: {on_failure: proceed}}"])
def test_a_wait_that_may_fail_to_be_evaluated_may_proceed(wait: str, options: str) -> None:
    text = f"""
        flow: A
        input: any
        attributes: {{n: any}}
        channels: {{c: {{type: any, external: true}}}}
        start: First
        steps:
          First: {{input: any, go_to: {{step: Wait, {options}}}}}
          Wait:
            input: any
            wait_for: {{{wait}{"" if options else ", on_failure: proceed"}}}
            decide:
              - {{when: wait_for_failed, force_complete: too bad}}
              - {{graceful_complete: }}
    """
    assert violated(verified(text)) == set()


def test_the_failure_route_of_a_step_without_handler_is_for_decisions_that_may_fail() -> None:
    text = """
        flow: A
        input: integer
        attributes: {n: integer}
        channels: {c: string}
        start: Divide
        steps:
          Divide: {input: integer, set: {n: "${10 / input}"}, on_failure: Stuck, graceful_complete: }
          Stuck: {wait_for: {until: {channel: c}}, graceful_complete: }
    """
    report = verified(text)
    assert "deadlock" in violated(report)
    assert length_of(report, "deadlock") == 1
    assert "deadlock" not in violated(verified(text.replace("${10 / input}", "10").replace('"', "")))


def test_a_wait_that_cannot_fail_does_not_proceed() -> None:
    report = verified(
        """
        flow: A
        start: Wait
        steps:
          Wait:
            wait_for: {until: {timer: 1h}, on_failure: proceed}
            decide:
              - {when: wait_for_failed, force_complete: too bad}
              - {graceful_complete: }
        """
    )
    assert violated(report) == {"dead_transition"}


@pytest.mark.rule(181)
def test_a_timeout_of_zero_ends_no_wait() -> None:
    text = "flow: A\nchannels: {c: string}\ntimeout: 0\nstart: Wait\nsteps:\n"
    text += "  Wait: {wait_for: {until: {channel: c}}, graceful_complete: }\n"
    assert "deadlock" in violated(verified(text))


def test_bounds_that_silence_the_outside_bring_the_deadlock_back() -> None:
    report = verified(
        """
        flow: A
        channels: {c: {type: string, external: true}}
        verify: {external: {c: [0, 0]}}
        start: Wait
        steps:
          Wait: {wait_for: {until: {channel: c}}, graceful_complete: }
        """
    )
    assert "deadlock" in violated(report)


ZOMBIE = """
    flow: A
    %s
    start: First
    steps:
      First: {dead_end: true}
"""


def test_a_run_that_nothing_can_close_is_a_zombie_unless_it_is_meant() -> None:
    assert violated(verified(ZOMBIE % "")) == {"zombie"}
    assert length_of(verified(ZOMBIE % ""), "zombie") == 1
    assert violated(verified(ZOMBIE % "verify: {open_ended: true}")) == set()
    assert violated(verified(ZOMBIE % "timeout: 1d")) == set()
    assert violated(verified(ZOMBIE % "rpcs: {more: {go_to: First}}")) == set()


def test_rpcs_that_start_nothing_do_not_keep_a_run_from_being_a_zombie() -> None:
    report = verified(ZOMBIE % "attributes: {a: string}\n    rpcs: {note: {set: {a: x}}}")
    assert length_of(report, "zombie") == 1


def test_a_cycle_without_a_way_out_is_a_livelock() -> None:
    report = verified(
        """
        flow: A
        start: First
        steps:
          First: {go_to: Ping}
          Ping: {wait_for: {until: {timer: 1h}}, go_to: Pong}
          Pong: {wait_for: {until: {timer: 1h}}, go_to: Ping}
        """
    )
    assert "livelock" in violated(report)
    found = report_of(report, "livelock").counterexample
    assert found is not None
    assert [event.step for event in found.cycle] == ["Ping", "Ping", "Pong", "Pong"]


def test_a_decision_that_nothing_leads_to_is_dead() -> None:
    report = verified(
        """
        flow: A
        attributes: {done: {type: boolean, initial: false}}
        start: First
        steps:
          First:
            decide:
              - {when: attributes.done, graceful_complete: }
              - {go_to: Second}
          Second: {graceful_complete: }
        """
    )
    dead = [each for each in report.properties if each.name == "dead_transition"]
    assert [each.path for each in dead] == [("steps", "First", "decide", 0)]


def test_completion_that_is_asked_for_while_somebody_waits_for_ever_never_comes() -> None:
    report = verified(
        """
        flow: A
        channels: {c: string}
        start: First
        steps:
          First: {go_to_many: [Wait, End]}
          Wait: {wait_for: {until: {channel: c}}, dead_end: true}
          End: {graceful_complete: }
        """
    )
    assert violated(report) >= {"deadlock", "graceful_never_completes"}


def test_a_conserved_token_is_proved_for_any_number_of_branches() -> None:
    report = verified(text_of("correct"))
    for name in ("token_conservation", "mutual_exclusion"):
        assert report_of(report, name).verdict is Verdict.PROVED
    assert report.verdict is Verdict.CHECKED


def test_two_hundred_editors_are_searched_and_exclusion_is_still_proved() -> None:
    report = verified(text_of("correct"), [200])
    assert report.states == 1006
    assert report_of(report, "mutual_exclusion").verdict is Verdict.PROVED


def test_a_lost_token_is_told_from_a_doubled_one() -> None:
    lost = report_of(verified(text_of("no token publish in SaveContractEdit"), [3]), "token_conservation")
    doubled = report_of(verified(text_of("Save publishes token twice"), [3]), "token_conservation")
    assert (lost.rule, lost.counterexample and lost.counterexample.length) == ("TOK002", 5)
    assert (doubled.rule, doubled.counterexample and doubled.counterexample.length) == ("TOK003", 5)


def test_a_cancelled_holder_takes_the_token_with_it() -> None:
    assert "cancelled_holder" in violated(verified(text_of("a timer step cancels EditContract"), [3]))
    assert "cancelled_holder" not in violated(
        verified(text_of("a timer step cancels EnterContractEdit"), [3])
    )


def test_a_join_that_a_cancel_starves_is_named_as_that() -> None:
    report = verified(text_of("a timer step cancels EnterContractEdit"), [3])
    assert report_of(report, "unsatisfiable_join").rule == "JON006"


def test_a_join_that_waits_for_one_report_too_many_has_all_but_one() -> None:
    found = report_of(verified(text_of("join waits N+1"), [3]), "unsatisfiable_join")
    assert found.rule == "JON001"
    assert found.message == "`FinishContractEdits` waits for 4 of `contractEditFinished`, and only 3 can come"


def test_a_join_that_waits_for_one_report_too_few_leaves_it() -> None:
    assert violated(verified(text_of("join waits N-1"), [3])) == {"early_join", "orphan_message"}


def test_a_channel_that_a_cycle_fills_grows_without_bound() -> None:
    report = verified(
        """
        flow: A
        channels: {c: {type: string, leftover: true}}
        start: Loop
        steps:
          Loop:
            execute: m:f
            result: {type: boolean}
            publish: {c: x}
            decide: [{when: result, go_to: Loop}, {graceful_complete: }]
        """
    )
    assert violated(report) == {"unbounded_channel"}
    found = report_of(report, "unbounded_channel").counterexample
    assert found is not None
    assert [(event.step, event.decision) for event in found.cycle] == [("Loop", 1)]
    assert found.length == 0


def test_a_capacity_bounds_it() -> None:
    report = verified(
        """
        flow: A
        channels: {c: {type: string, leftover: true, capacity: 3}}
        start: Loop
        steps:
          Loop:
            execute: m:f
            result: {type: boolean}
            publish: {c: x}
            decide: [{when: result, go_to: Loop}, {graceful_complete: }]
        """
    )
    assert violated(report) == set()


def test_messages_from_inside_must_be_read_unless_they_may_be_left() -> None:
    text = """
        flow: A
        channels: {note: %s}
        start: First
        steps:
          First: {publish: {note: x}, go_to_many: [Read, End]}
          Read: {wait_for: {any_of: [{channel: note}, {timer: 1h}]}, dead_end: true}
          End: {graceful_complete: }
        """
    assert violated(verified(text % "string")) == {"orphan_message"}
    assert violated(verified(text % "{type: string, leftover: true}")) == set()
    assert violated(verified(text % "{type: string, external: true}")) == set()


def test_a_forced_completion_races_with_work_under_way() -> None:
    text = """
        flow: A
        start: First
        steps:
          First: {go_to_many: [Work, End]}
          Work: {execute: m:work, dead_end: true}
          End: {wait_for: {until: {timer: 1h}}, %s}
        """
    assert violated(verified(text % "force_complete: ")) == {"forced_completion_race"}
    assert violated(verified(text % "graceful_complete: ")) == set()


RACE = """
    flow: A
    attributes: {total: integer}
    start: First
    steps:
      First: {go_to_many: [Add, Add]}
      Add: {execute: {handler: m:add, may: {set: [total]}%s}, graceful_complete: }
"""


def test_handlers_that_write_one_attribute_at_the_same_time_race_unless_a_lock_is_between() -> None:
    assert violated(verified(RACE % "")) == {"attribute_race"}
    assert length_of(verified(RACE % ""), "attribute_race") == 1
    assert violated(verified(RACE % ", locks: [total]")) == set()


def test_a_section_keeps_handlers_apart_as_well_as_a_lock() -> None:
    text = text_of("correct")
    edit = "execute: {handler: edit_contract, "
    assert edit in text
    marked = text.replace(edit, edit + "may: {set: [total]}, ").replace(
        "channels:", "attributes: {total: integer}\nchannels:", 1
    )
    assert "attribute_race" not in violated(verified(marked))


ASKED = """
    flow: A
    verify: {properties: [%s]}
    start: First
    steps:
      First: {go_to_many: [Ship, Refund]}
      Ship: {execute: m:ship, graceful_complete: }
      Refund: {execute: m:refund, graceful_complete: }
"""


@pytest.mark.parametrize(
    "asked", ["{never: {step: Ship, with: Refund}}", "{mutual_exclusion: [Ship, Refund]}"]
)
def test_what_the_author_forbids_is_found_where_it_can_happen(asked: str) -> None:
    report = verified(ASKED % asked)
    (name,) = violated(report)
    assert length_of(report, name) == 1
    assert report_of(report, name).path == ("verify", "properties", 0)


def test_steps_that_decide_in_the_commit_that_ends_their_wait_are_never_under_way_together() -> None:
    text = """
        flow: A
        verify: {properties: [{never: {step: Ship, with: Refund}}]}
        start: First
        steps:
          First: {go_to_many: [Ship, Refund]}
          Ship: {wait_for: {until: {timer: 1h}}, %sgraceful_complete: }
          Refund: {wait_for: {until: {timer: 1h}}, %sgraceful_complete: }
        """
    assert violated(verified(text % ("", ""))) == set()
    assert violated(verified(text % (("execute: m:f, ",) * 2))) == {"never: Ship with Refund"}


def test_what_the_author_forbids_is_proved_where_an_invariant_forbids_it_too() -> None:
    report = verified(
        """
        flow: A
        verify: {properties: [{never: {step: Ship, with: Refund}}]}
        start: Ask
        steps:
          Ask:
            execute: m:ask
            result: {type: boolean}
            decide: [{when: result, go_to: Ship}, {go_to: Refund}]
          Ship: {execute: m:ship, graceful_complete: }
          Refund: {execute: m:refund, graceful_complete: }
        """
    )
    assert report_of(report, "never: Ship with Refund").verdict is Verdict.PROVED


def test_a_run_that_must_always_close_may_not_wait_for_the_outside() -> None:
    text = """
        flow: A
        verify: {properties: [{always_closes: true}]}
        channels: {c: {type: string, external: true}}
        start: Wait
        steps:
          Wait: {wait_for: {any_of: [{channel: c}%s]}, graceful_complete: }
        """
    assert violated(verified(text % "")) == {"always_closes"}
    assert violated(verified(text % ", {timer: 1d}")) == set()


def test_a_search_without_an_end_answers_unknown_where_nothing_was_found() -> None:
    report = verify_flow(flow_of(text_of("correct")), fan_out=[50], max_states=60)
    assert report.verdict is Verdict.UNKNOWN
    assert report_of(report, "deadlock").verdict is Verdict.UNKNOWN
    assert report_of(report, "mutual_exclusion").verdict is Verdict.PROVED


def test_only_what_was_asked_for_is_looked_at() -> None:
    report = verify_flow(flow_of(text_of("no seed in StartContractEdits")), properties=["deadlock"])
    assert {each.name for each in report.properties} == {"deadlock"}
