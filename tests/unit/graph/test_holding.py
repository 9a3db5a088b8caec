"""Sections are seen from how channels are used; each breach of their discipline is found, nothing else."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from orchestrator.definition.catalogue import find_files, load_flow
from orchestrator.graph.holding import sections
from orchestrator.graph.section import Evidence, Section
from tests.support.contract_edit_variants import SECTION, VARIANTS, text_of
from tests.support.play import flow_of

ROOT = Path(__file__).parents[3]
DATAFLOW = {
    "correct": None,
    "no token publish on EditContract withdraw": ("TOK002", "EditContract"),
    "no token publish in SaveContractEdit": ("TOK002", "SaveContractEdit"),
    "no token publish in ReleaseContractEditToken": ("TOK002", "ReleaseContractEditToken"),
    "no seed in StartContractEdits": ("TOK001", "EnterContractEdit"),
    "Enter's failure routed to a step that swallows the token": ("TOK002", "Swallow"),
    "no report in Release": None,
    "Save publishes token twice": ("TOK003", "SaveContractEdit"),
    "withdraw publishes twice": ("TOK003", "EditContract"),
    "Release publishes twice": ("TOK003", "ReleaseContractEditToken"),
    "Start seeds two": ("TOK010", "StartContractEdits"),
    "token released in Edit and Save": ("TOK003", "SaveContractEdit"),
    "no failure route on Save": None,
    "a timer step cancels EditContract": ("TOK007", "CancelLate"),
    "a timer step cancels EnterContractEdit": None,
    "join waits N+1": None,
    "join waits N-1": None,
}


def section_of(text: str) -> Section:
    (section,) = sections(flow_of(text))
    return section


def codes(text: str) -> list[str]:
    return [finding.code for finding in section_of(text).findings]


def test_the_edit_section_is_seen_with_its_seed_entry_members_and_releases() -> None:
    section = section_of(text_of("correct"))
    assert section.channel == "contractEditToken"
    assert section.evidence is Evidence.STRONG
    assert set(section.members) == set(SECTION)
    assert [place.step for place in section.entries] == ["EnterContractEdit"]
    assert {place.step for place in section.releases} == set(SECTION) - {"EnterContractEdit"}
    assert [(place.step, place.count) for place in section.seeds] == [("StartContractEdits", 1)]
    assert section.is_conserved and section.is_exclusive


def test_the_table_has_every_variant() -> None:
    assert set(DATAFLOW) == set(VARIANTS)


@pytest.mark.parametrize("variant", DATAFLOW)
def test_the_reference_table(variant: str) -> None:
    section = section_of(text_of(variant))
    found = [(finding.code, finding.step) for finding in section.findings]
    assert found == ([] if DATAFLOW[variant] is None else [DATAFLOW[variant]])
    assert section.is_conserved == (DATAFLOW[variant] is None)


def test_no_other_flow_of_the_project_surely_has_tokens() -> None:
    flows = [load_flow(file) for file in find_files([ROOT / "flows"])]
    sure = {flow.name for flow in flows for each in sections(flow) if each.evidence is not Evidence.WEAK}
    assert sure == {"ContractEditFlow"}


# --- Small flows -------------------------------------------------------------------------------------------

_WORKERS = """flow: Workers
channels: {slot: none}
start: Begin
steps:
  Begin:
    publish: {slot: null}
    go_to_many:
      - {step: Enter, for_each: "${range(3)}"}
  Enter:
    wait_for: {WAIT}
"""


def workers(enter: str, steps: str = "", *, wait: str = "until: {channel: slot}") -> str:
    """Three branches compete for one token; `enter` says what Enter does with it."""
    text = _WORKERS.replace("WAIT", wait) + textwrap.indent(textwrap.dedent(enter).strip("\n"), "    ") + "\n"
    return text + textwrap.indent(textwrap.dedent(steps).strip("\n"), "  ") + "\n"


WORKING = """
publish: {slot: null}
dead_end: true
"""
RACE = "any_of: [{channel: slot}, {timer: 5s}]"


def test_a_section_of_one_step_is_a_section() -> None:
    section = section_of(workers(WORKING))
    assert dict(section.members) == {"Enter": 1}
    assert section.is_exclusive


def test_a_timer_beside_the_token_is_told_apart_by_the_guard() -> None:
    enter = """
    decide:
      - {when: wait.slot.satisfied, go_to: Work}
      - dead_end: true
    """
    section = section_of(workers(enter, "Work: {publish: {slot: null}, dead_end: true}", wait=RACE))
    assert section.findings == ()
    assert section.is_conserved
    assert dict(section.members) == {"Work": 1}
    assert dict(section.holders) == {"Enter": 1, "Work": 1}


@pytest.mark.parametrize(
    "guard",
    ["attributes.x && !wait.timer.fired", "size(wait.slot.messages) == 1 && attributes.x", "got"],
)
def test_guards_that_follow_from_the_winner_are_understood(guard: str) -> None:
    enter = f"""
    let: {{got: "${{wait.slot.satisfied}}"}}
    decide:
      - when: {guard}
        publish: {{slot: null}}
        dead_end: true
      - when: wait.slot.satisfied
        publish: {{slot: null}}
        dead_end: true
      - dead_end: true
    """
    text = workers(enter, wait=RACE)
    text = text.replace("start:", "attributes: {x: {type: boolean, initial: true}}\nstart:")
    assert section_of(text).is_conserved


def test_a_guard_that_says_nothing_of_the_winner_does_not_save_the_timers_branch() -> None:
    enter = """
    decide:
      - when: now > run.started_at
        publish: {slot: null}
        dead_end: true
      - {when: wait.slot.satisfied, publish: {slot: null}, dead_end: true}
      - dead_end: true
    """
    assert not section_of(workers(enter, wait=RACE)).is_conserved


def test_taking_again_while_holding_waits_for_itself() -> None:
    again = """
    Again:
      wait_for: {until: {channel: slot}}
      publish: {slot: null}
      dead_end: true
    """
    assert codes(workers("go_to: Again", again)) == ["TOK004"]


def test_taking_a_second_of_several_while_holding_one_can_block_all() -> None:
    begin = """
    publish: [{channel: slot, value: null, for_each: "${range(2)}"}]
    go_to_many: [Enter, Enter]
    """
    again = """
    Again:
      wait_for: {until: {channel: slot}}
      publish: [{channel: slot, value: null}, {channel: slot, value: null}]
      dead_end: true
    """
    assert codes(begun(begin, workers("go_to: Again", again))) == ["TOK004"]


def test_taking_two_at_once_is_no_mistake() -> None:
    begin = """
    publish: [{channel: slot, value: null, for_each: "${range(2)}"}]
    go_to_many: [Enter, Enter]
    """
    enter = """
    publish: [{channel: slot, value: null}, {channel: slot, value: null}]
    dead_end: true
    """
    text = DECLARED + begun(begin, workers(enter, wait="until: {channel: slot, for: 2}"))
    assert section_of(text).is_conserved


def test_one_who_takes_all_tokens_keeps_all_others_out() -> None:
    begin = """
    publish: [{channel: slot, value: null, for_each: "${range(2)}"}]
    go_to_many: [Enter, Enter, Alone]
    """
    alone = """
    Alone:
      wait_for: {until: {channel: slot, for: 2}}
      publish: [{channel: slot, value: null, for_each: "${range(2)}"}]
      dead_end: true
    """
    text = begun(begin, workers(WORKING, alone))
    assert section_of(text).is_conserved
    assert codes(text.replace('range(2)}"}]\n    dead_end', 'range(1)}"}]\n    dead_end')) == ["TOK002"]


def test_two_branches_that_could_both_give_the_token_back() -> None:
    steps = """
    Left: {publish: {slot: null}, dead_end: true}
    Right: {publish: {slot: null}, dead_end: true}
    """
    assert codes(workers("go_to_many: [Left, Right]", steps)) == ["TOK005"]


def test_one_branch_may_carry_the_token_while_others_run_beside_it() -> None:
    steps = """
    Work: {publish: {slot: null}, dead_end: true}
    Log: {dead_end: true}
    """
    assert section_of(workers("go_to_many: [Work, Log]", steps)).is_conserved


def test_a_join_inside_the_section_gives_the_token_back() -> None:
    enter = """
    go_to_many: [Part, Part, Collect]
    join: parts
    """
    steps = """
    Part: {report: {parts: null}, dead_end: true}
    Collect:
      wait_for: {until: {join: parts}}
      publish: {slot: null}
      dead_end: true
    """
    text = workers(enter, steps).replace("start:", "joins: {parts: none}\nstart:")
    assert section_of(text).is_conserved


def test_a_recovery_step_for_holders_and_others_is_path_dependent() -> None:
    enter = """
    execute: enter
    on_failure: Recover
    publish: {slot: null}
    dead_end: true
    """
    text = workers(enter, "Recover: {publish: {slot: null}, dead_end: true}")
    begin = "    execute: begin\n    on_failure: Recover\n    go_to_many:"
    section = section_of("handlers: h\n" + text.replace("    go_to_many:", begin))
    assert [(f.code, f.step) for f in section.findings] == [("TOK006", "Recover")]
    assert {label for _, label in section.findings[0].also} == {"comes holding it", "comes without it"}


BEGIN = '    publish: {slot: null}\n    go_to_many:\n      - {step: Enter, for_each: "${range(3)}"}\n'


def begun(begin: str, text: str) -> str:
    assert BEGIN in text
    return text.replace(BEGIN, textwrap.indent(textwrap.dedent(begin).strip("\n"), "    ") + "\n")


def test_a_seed_on_one_way_only() -> None:
    begin = """
    decide:
      - when: size(run.flow_id) > 3
        publish: {slot: null}
        go_to_many: [Enter, Enter]
      - go_to_many: [Enter, Enter]
    """
    assert codes(begun(begin, workers(WORKING))) == ["TOK001"]


def test_a_seed_by_a_branch_beside_the_waiting_ones_is_one() -> None:
    text = workers(WORKING, "Seed: {publish: {slot: null}, dead_end: true}")
    assert codes(begun("go_to_many: [Seed, Enter, Enter]", text)) == []


def test_a_seed_by_the_wait_of_the_first_step_is_one() -> None:
    begin = """
    wait_for: {publish: {slot: null}}
    go_to_many: [Enter, Enter]
    """
    assert section_of(begun(begin, workers(WORKING))).is_exclusive


def test_several_slots_from_a_list_are_a_semaphore() -> None:
    begin = """
    publish: [{channel: slot, value: null, for_each: "${range(2)}"}]
    go_to_many: [Enter, Enter, Enter]
    """
    section = section_of(begun(begin, workers(WORKING)))
    assert (section.capacity, section.seeded, section.findings) == (2, 2, ())
    assert section.is_conserved and not section.is_exclusive


def test_a_declared_capacity_is_the_limit_of_seeds() -> None:
    begin = """
    publish: [{channel: slot, value: null}, {channel: slot, value: null}]
    go_to_many: [Enter, Enter, Enter]
    """
    text = begun(begin, workers(WORKING))
    assert codes(text) == ["TOK010"]
    assert codes(text.replace("{slot: none}", "{slot: {type: none, capacity: 2}}")) == []


def test_a_seed_in_a_loop_is_no_section_unless_declared() -> None:
    begin = """
    publish: {slot: null}
    go_to_many: [Enter, Enter, StartContext]
    """
    steps = "StartContext: {wait_for: {until: {timer: 1h}}, go_to: Begin}"
    text = begun(begin, workers(WORKING, steps))
    assert section_of(text).evidence is Evidence.WEAK
    assert codes("verify: {properties: [{conserved: slot}]}\n" + text) == ["TOK010"]


def test_an_rpc_that_always_publishes_the_token() -> None:
    assert codes(workers(WORKING) + "rpcs: {give: {publish: {slot: null}}}\n") == ["TOK012"]


def test_an_rpc_that_publishes_the_token_when_something_holds_is_a_doubt() -> None:
    rpc = "rpcs: {give: {decide: [{when: now > run.started_at, publish: {slot: null}}, {reject: no}]}}\n"
    section = section_of(workers(WORKING) + rpc)
    assert section.findings == ()
    assert [doubt.message for doubt in section.doubts] == ["RPC `give` may publish `slot`"]
    assert not section.is_conserved


WATCH = """
Work: {publish: {slot: null}, dead_end: true}
Watch:
  wait_for: {until: {timer: 1h}}
  cancel: [Work]
"""


def test_a_canceller_that_gives_the_token_back_for_its_victim() -> None:
    text = workers("go_to: Work", WATCH + "  publish: {slot: null}\n  dead_end: true\n")
    text = text.replace("go_to_many:\n", "go_to_many:\n      - Watch\n", 1)
    assert sorted(codes(text)) == ["TOK007", "TOK012"]


def test_a_cancel_by_who_closes_the_run_loses_nothing() -> None:
    text = workers("go_to: Work", WATCH + "  force_complete:\n")
    text = text.replace("go_to_many:\n", "go_to_many:\n      - Watch\n", 1)
    assert codes(text) == []


def test_the_holder_of_the_only_token_may_cancel_who_else_would_hold_one() -> None:
    work = "Work: {cancel: [Work, Enter], publish: {slot: null}, dead_end: true}"
    assert codes(workers("go_to: Work", work)) == []


def test_a_cancelled_round_may_have_held_the_token() -> None:
    begin = """
    publish: {slot: null}
    go_to_many:
      - {step: Enter, for_each: "${range(3)}"}
      - First
    join: done
    """
    steps = """
    Work: {publish: {slot: null}, report: {done: null}, dead_end: true}
    First:
      wait_for: {until: {join: done, need: first}}
      cancel_round: done
      graceful_complete:
    """
    text = begun(begin, workers("go_to: Work", steps)).replace("start:", "joins: {done: none}\nstart:")
    assert codes(text) == ["TOK007"]
    assert codes(text.replace("need: first", "need: active")) == []


def test_a_route_given_by_a_movement_replaces_the_steps_own() -> None:
    steps = """
    Work: {execute: work, on_failure: Release, publish: {slot: null}, dead_end: true}
    Release: {publish: {slot: null}, dead_end: true}
    Swallow: {dead_end: true}
    """
    text = workers("go_to: {step: Work, options: {on_failure: Swallow}}", steps)
    section = section_of("handlers: h\n" + text)
    assert [(f.code, f.step) for f in section.findings] == [("TOK002", "Swallow")]


PROCEEDS = "handler: build, conditions: {slot: {channel: slot}}, on_failure: proceed"


def test_a_wait_that_proceeds_on_failure_took_nothing() -> None:
    enter = """
    decide:
      - {when: wait_for_failed, dead_end: true}
      - {when: wait.slot.satisfied, publish: {slot: null}, dead_end: true}
      - dead_end: true
    """
    section = section_of("handlers: h\n" + workers(enter, wait=PROCEEDS))
    assert section.findings == ()
    assert section.is_conserved


def test_a_handlers_wait_may_end_without_the_token() -> None:
    section = section_of("handlers: h\n" + workers("go_to: Work", WORK, wait=PROCEEDS))
    assert not section.is_conserved


WORK = "Work: {publish: {slot: null}, dead_end: true}"


def test_what_a_handler_always_publishes_counts() -> None:
    enter = """
    execute: {handler: work, may: {publish: {slot: 1}}}
    dead_end: true
    """
    assert section_of("handlers: h\n" + workers(enter)).is_conserved


DECLARED = "verify: {properties: [{conserved: slot}]}\n"


def test_what_a_handler_may_publish_is_a_doubt() -> None:
    enter = """
    execute: {handler: work, may: {publish: {slot: {min: 0, max: 1}}}}
    dead_end: true
    """
    section = section_of(DECLARED + "handlers: h\n" + workers(enter))
    assert section.findings == ()
    assert section.doubts != ()


def test_a_publish_under_an_open_guard_is_a_doubt_and_no_mistake() -> None:
    enter = """
    publish: [{channel: slot, value: null, when: now > run.started_at}]
    dead_end: true
    """
    section = section_of(DECLARED + workers(enter))
    assert section.findings == ()
    assert not section.is_conserved


def test_forced_ends_lose_no_token() -> None:
    enter = """
    decide:
      - {when: now > run.started_at, force_fail: late}
      - {publish: {slot: null}, dead_end: true}
    """
    assert section_of(workers(enter)).is_conserved


def test_a_loop_that_gives_back_before_it_takes_again_is_conserved() -> None:
    enter = """
    publish: {slot: null}
    go_to: Enter
    """
    assert section_of(workers(enter)).is_conserved


# --- What looks like a token and is none -------------------------------------------------------------------


def no_mistake(text: str) -> bool:
    return all(each.evidence is Evidence.WEAK or not each.findings for each in sections(flow_of(text)))


QUEUES = {
    "work that is put back": """
    flow: Requeue
    handlers: h
    input: list of string
    channels: {jobs: string}
    start: Begin
    steps:
      Begin:
        publish: [{channel: jobs, for_each: "${input}", as: job, value: "${job}"}]
        go_to_many: [{step: Take, for_each: "${range(3)}"}]
      Take:
        wait_for: {until: {channel: jobs}}
        go_to: {step: Work, input: "${wait.jobs.message}"}
      Work:
        input: string
        execute: work
        on_failure: PutBack
        go_to: Take
      PutBack:
        input: string
        publish: {jobs: "${input}"}
        go_to: Take
    """,
    "a wake-up signal": """
    flow: Wake
    handlers: h
    channels: {wake: none}
    start: Begin
    steps:
      Begin:
        go_to_many: [{step: Look, for_each: "${range(3)}"}]
      Look:
        wait_for: {any_of: [{channel: wake}, {timer: 1m}]}
        execute: look
        result: {name: has_more, type: boolean}
        decide:
          - {when: has_more, publish: {wake: null}, go_to: Look}
          - {go_to: Look}
    rpcs:
      nudge: {publish: {wake: null}}
    """,
    "an endless producer": """
    flow: Producer
    handlers: h
    channels: {item: none}
    start: Begin
    steps:
      Begin:
        go_to_many: [Produce, Consume, Consume]
      Produce:
        wait_for: {until: {timer: 1s}}
        publish: {item: null}
        go_to: Produce
      Consume:
        wait_for: {until: {channel: item}}
        execute: consume
        on_failure: PutBack
        go_to: Consume
      PutBack:
        publish: {item: null}
        go_to: Consume
    """,
}


@pytest.mark.parametrize("what", QUEUES)
def test_queues_and_signals_are_no_tokens(what: str) -> None:
    assert no_mistake(QUEUES[what])


def test_a_declared_channel_is_held_to_its_word_whatever_it_carries() -> None:
    text = QUEUES["work that is put back"].rstrip() + "\n    verify: {properties: [{conserved: jobs}]}\n"
    (section,) = sections(flow_of(text))
    assert section.evidence is Evidence.DECLARED
    assert section.findings != ()


def test_steps_far_behind_a_branch_without_token_hold_none_for_certain() -> None:
    enter = """
    go_to_many: [Keep, Log]
    """
    steps = """
    Keep:
      decide:
        - {when: now > run.started_at, publish: {slot: null}, dead_end: true}
        - go_to: Log
    Log: {go_to: Last}
    Last: {force_complete: }
    """
    section = section_of(workers(enter, steps))
    assert dict(section.members) == {"Enter": 1, "Keep": 1}
    assert set(section.holders) == {"Enter", "Keep", "Log", "Last"}


def test_what_is_published_with_the_end_of_the_run_doubles_nothing() -> None:
    enter = """
    publish: {slot: null}
    go_to: Last
    """
    assert section_of(workers(enter, "Last: {publish: {slot: null}, force_complete: }")).is_conserved
