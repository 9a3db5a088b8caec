"""What stands in the way of a run at one place, by what two definitions say; and what does not."""

from __future__ import annotations

import pytest

from orchestrator.core.migration.comparison import Comparison
from orchestrator.core.migration.renaming import parse_renaming
from orchestrator.core.migration.verdicts import Verdict
from orchestrator.definition.model import Flow
from orchestrator.diff.places import judge_places
from tests.support.play import flow_of

BASE = """
flow: F
input: integer
channels:
  go: {type: integer, external: true}
  stop: {type: integer, external: true}
attributes: {total: {type: integer, initial: 0}}
start: First
steps:
  First: {input: integer, execute: work, go_to: Wait}
  Wait:
    input: integer
    wait_for: {any_of: [{channel: go}, {timer: 3d, id: late}]}
    decide:
      - {when: wait.late.fired, graceful_complete: null}
      - {go_to: {step: Last, input: "${wait.go.message}"}}
  Last: {input: integer, execute: work, graceful_complete: "${attributes.total}"}
"""


def verdicts(old: str, new: str, *mapping: str) -> dict[str, tuple[Verdict, str]]:
    """By place: the verdict, reasons and advice in one text."""
    before, after = flow_of(old), flow_of(new)
    return judged(before, after, *mapping)


def judged(before: Flow, after: Flow, *mapping: str) -> dict[str, tuple[Verdict, str]]:
    case = Comparison(before, after, parse_renaming(mapping, before, after))
    return {
        each.place: (each.verdict, "; ".join(f"{o.reason} [{o.mapping}]" for o in each.obstacles))
        for each in judge_places(case)
    }


def edited(*replacements: tuple[str, str], text: str = BASE) -> str:
    for before, after in replacements:
        assert before in text, before
        text = text.replace(before, after)
    return text


def troubles(old: str, new: str, *mapping: str) -> dict[str, str]:
    """Reasons by place, of places that are not compatible."""
    found = verdicts(old, new, *mapping)
    return {place: reason for place, (verdict, reason) in found.items() if verdict is not Verdict.COMPATIBLE}


HARMLESS = {
    "nothing": (),
    "another timer": (("timer: 3d", "timer: 5d"),),
    "a step after it": (
        ("step: Last, input", "step: Extra, input"),
        ("  Last: {", "  Extra: {input: integer, execute: work, go_to: Last}\n  Last: {"),
    ),
    "other retries": (
        ("execute: work, go_to", "execute: {handler: work, retry: {maximum_attempts: 9}}, go_to"),
    ),
    "one more condition of any_of": (("{timer: 3d, id: late}]", "{timer: 3d, id: late}, {channel: stop}]"),),
    "a wider type of an input": (("  Last: {input: integer", "  Last: {input: any"),),
    "an attribute with an initial value": (
        ("attributes: {total", "attributes: {seen: {type: integer, initial: 1}, total"),
        ('graceful_complete: "${attributes.total}"', 'graceful_complete: "${attributes.seen}"'),
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless(name: str) -> None:
    assert troubles(BASE, edited(*HARMLESS[name])) == {}


WAIT = """    wait_for: {any_of: [{channel: go}, {timer: 3d, id: late}]}
    decide:
      - {when: wait.late.fired, graceful_complete: null}
      - {go_to: {step: Last, input: "${wait.go.message}"}}
"""
TROUBLE = {
    "another channel": (
        (("{any_of: [{channel: go}", "{any_of: [{channel: stop, id: go}"),),
        {"step:Wait/waiting": "condition go waits on channel go; now on stop [None]"},
    ),
    "a condition removed": (
        (
            ("{channel: go}, {timer: 3d, id: late}", "{channel: go}"),
            ("      - {when: wait.late.fired, graceful_complete: null}\n", ""),
        ),
        {"step:Wait/waiting": "may end with condition late"},
    ),
    "all instead of any": (
        (("any_of: [", "all_of: ["),),
        {"step:Wait/waiting": "as the new one never does"},
    ),
    "no wait any more": (
        ((WAIT, "    go_to: Last\n"),),
        {
            "step:Wait/wait_for": "step Wait no longer waits",
            "step:Wait/waiting": "step Wait no longer waits for anything",
        },
    ),
    "a narrower input": (
        (("  Last: {input: integer", "  Last: {input: {type: integer, maximum: 5}"),),
        {
            "step:Last/execute": "its input does not fit step Last",
            "step:Last/running": "its input does not fit step Last",
        },
    ),
    "a wait where there was none": (
        (
            (
                'execute: work, graceful_complete: "${attributes.total}"',
                'wait_for: {until: {channel: stop}}, graceful_complete: "${wait.stop.message}"',
            ),
        ),
        {
            "step:Last/execute": "reads a wait that this execution never made",
            "step:Last/running": "reads a wait that this execution never made",
        },
    ),
    "another handler": (
        (("execute: work, graceful", "execute: other, graceful"),),
        {"step:Last/running": "a handler is at work here whose declaration changes"},
    ),
    "an attribute that an earlier step sets": (
        (
            ("attributes: {total", "attributes: {rate: integer, total"),
            ("execute: work, go_to: Wait", "execute: work, set: {rate: 2}, go_to: Wait"),
            ('"${attributes.total}"', '"${attributes.rate + 1}"'),
        ),
        dict.fromkeys(
            ("step:Wait/wait_for", "step:Wait/waiting", "step:Last/execute", "step:Last/running"),
            "reads attribute rate, which only steps before this one set",
        ),
    ),
    "a channel that an earlier step seeds": (
        (
            ("channels:\n", "channels:\n  seed: integer\n"),
            ("execute: work, go_to: Wait", "execute: work, publish: {seed: 1}, go_to: Wait"),
            (
                "any_of: [{channel: go}, {timer: 3d, id: late}]",
                "all_of: [{channel: go}, {timer: 3d, id: late}, {channel: seed}]",
            ),
        ),
        {"step:Wait/wait_for": "a wait needs channel seed, to which nothing publishes that is still to come"},
    ),
    "a failure that is read": (
        (('graceful_complete: "${attributes.total}"', 'graceful_complete: "${failure.message}"'),),
        {
            "step:Last/execute": "now reads `failure`, and there was none",
            "step:Last/running": "now reads `failure`, and there was none",
        },
    ),
    "a narrower channel": (
        (("  go: {type: integer, external", "  go: {type: {type: integer, minimum: 1}, external"),),
        {"channel:go": "an unread message of go does not fit"},
    ),
    "a channel that is a map": (
        (("  stop: {type: integer, external: true}", "  stop: {type: integer, external: true, map: true}"),),
        {"channel:stop": "channel stop has become a map"},
    ),
    "an attribute that is a map": (
        (
            (
                "attributes: {total: {type: integer, initial: 0}}",
                "attributes: {total: {type: integer, map: true}}",
            ),
            ('"${attributes.total}"', '"${size(attributes.total)}"'),
        ),
        {"attribute:total": "attribute total has become a map"},
    ),
    "another type of an attribute": (
        (("total: {type: integer, initial: 0}", "total: {type: string, initial: a}"),),
        {"attribute:total": "the value of attribute total does not fit"},
    ),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_is_told_where_it_is(name: str) -> None:
    replacements, expected = TROUBLE[name]
    found = troubles(BASE, edited(*replacements))
    assert {place for place in expected if expected[place] in found.get(place, "")} == set(expected), found


def test_only_what_is_waiting_minds_a_change_of_its_wait() -> None:
    new = edited(("{any_of: [{channel: go}", "{any_of: [{channel: stop, id: go}"))
    assert set(troubles(BASE, new)) == {"step:Wait/waiting"}


SECTION = """
flow: Section
channels: {token: integer, go: {type: integer, external: true}}
start: Begin
steps:
  Begin: {publish: {token: 1}, go_to_many: [Enter, Enter]}
  Enter: {wait_for: {until: {channel: token}}, execute: work, publish: {token: 1}, dead_end: true}
"""


def test_a_token_that_nobody_gives_back_any_more_is_missed_by_those_who_wait_for_it() -> None:
    kept = edited(("execute: work, publish: {token: 1}", "execute: work"), text=SECTION)
    found = troubles(SECTION, kept)
    assert set(found) == {"step:Enter/wait_for", "step:Enter/waiting"}  # who is past its wait needs no more
    assert all("a wait needs channel token" in reason for reason in found.values())
    looping = edited(
        ("publish: {token: 1}, dead_end: true", "publish: {token: 1}, go_to: Enter"), text=SECTION
    )
    lost = edited(("execute: work, publish: {token: 1}", "execute: work"), text=looping)
    assert "a wait needs channel token" in troubles(looping, lost)["step:Enter/execute"]


def test_a_channel_that_clients_may_no_longer_publish_to_is_missed_by_those_who_wait_on_it() -> None:
    old = edited(("until: {channel: token}", "until: {channel: go}"), text=SECTION)
    new = edited(("go: {type: integer, external: true}", "go: integer"), text=old)
    assert "a wait needs channel go" in troubles(old, new)["step:Enter/waiting"]
    assert "step:Enter/execute" not in troubles(old, new)


def test_a_handler_at_work_may_return_only_words_that_are_still_decided() -> None:
    decide = (
        """decide: [{choice: yes_please, graceful_complete: null}, {choice: no_thanks, dead_end: true}]"""
    )
    old = edited(('execute: work, graceful_complete: "${attributes.total}"', f"execute: work, {decide}"))
    new = edited((", {choice: no_thanks, dead_end: true}", ""), text=old)
    assert set(troubles(old, new)) == {"step:Last/running"}


def test_an_attribute_that_only_clients_set_is_missing_in_a_new_run_as_well() -> None:
    new = edited(
        ("attributes: {total", "attributes: {rate: integer, total"),
        ('"${attributes.total}"', '"${attributes.rate + 1}"'),
    )
    assert troubles(BASE, new) == {}


# --- What a mapping helps -----------------------------------------------------------------------------------

RENAMINGS = {
    "step": ((("Wait", "Hold"),), "step:Wait=Hold"),
    "attribute": ((("total", "sum_so_far"),), "attribute:total=sum_so_far"),
}


@pytest.mark.parametrize("kind", RENAMINGS)
def test_what_is_renamed_needs_a_mapping_and_with_it_is_compatible(kind: str) -> None:
    replacements, mapping = RENAMINGS[kind]
    new = edited(*replacements)
    found = verdicts(BASE, new)
    told = {place: said for place, said in found.items() if said[0] is not Verdict.COMPATIBLE}
    assert told
    assert {verdict for verdict, _ in told.values()} == {Verdict.NEEDS_MAPPING}, told
    assert all(mapping in reason for _, reason in told.values())
    assert troubles(BASE, new, mapping) == {}


def test_a_renamed_condition_needs_a_mapping() -> None:
    new = edited(("id: late", "id: expired"), ("wait.late", "wait.expired"))
    assert verdicts(BASE, new)["step:Wait/waiting"] == (
        Verdict.NEEDS_MAPPING,
        "the accepted wait may end with condition late, which the new definition does not have "
        "[condition:Wait/late=expired]",
    )
    assert troubles(BASE, new, "condition:Wait/late=expired") == {}


def test_a_renamed_channel_that_is_waited_on_needs_its_name_once() -> None:
    new = edited(("go:", "start_now:"), ("{channel: go}", "{channel: start_now, id: go}"))
    found = verdicts(BASE, new)
    assert found["step:Wait/waiting"][0] is found["channel:go"][0] is Verdict.NEEDS_MAPPING
    assert troubles(BASE, new, "channel:go=start_now") == {}


def test_what_is_gone_for_good_is_dropped_or_impossible() -> None:
    text = edited(("  stop: {type: integer, external: true}\n", ""))
    assert verdicts(BASE, text)["channel:stop"] == (
        Verdict.NEEDS_MAPPING,
        "channel stop is gone, and unread messages may lie there [channel:stop=]",
    )
    assert troubles(BASE, text, "channel:stop=") == {}
    gone = edited(
        ('  Last: {input: integer, execute: work, graceful_complete: "${attributes.total}"}\n', ""),
        ('go_to: {step: Last, input: "${wait.go.message}"}', "graceful_complete: null"),
        ("execute: work, go_to: Wait", "execute: {handler: work, may: {publish: [go]}}, go_to: Wait"),
    )
    verdict, reason = verdicts(BASE, gone)["step:Last/running"]
    assert (verdict, "none of its steps could take its place" in reason) == (Verdict.IMPOSSIBLE, True)


def test_a_removed_step_is_taken_over_by_one_that_fits() -> None:
    text = edited(
        ("execute: work, go_to: Wait", "execute: work, go_to: Before"),
        ("  Wait:\n", "  Before: {input: integer, execute: work, go_to: Wait}\n  Wait:\n"),
    )
    verdict, reason = verdicts(text, BASE)["step:Before/execute"]
    assert verdict is Verdict.NEEDS_MAPPING
    assert "--map" not in reason
    assert "[step:Before=First]" in reason


# --- Joins, options, deadlines ------------------------------------------------------------------------------

SPLIT = """
flow: Split
channels: {go: {type: integer, external: true}}
joins: {parts: integer}
start: Begin
steps:
  Begin:
    join: parts
    go_to_many:
      - {for_each: [1, 2], step: Part, input: "${item}", options: {execute: {timeout: 5m}}}
      - Collect
  Part: {input: integer, execute: work, report: {parts: "${input}"}, dead_end: true}
  Collect: {wait_for: {until: {join: parts}}, go_to: End}
  End: {execute: work, graceful_complete: null}
"""


def test_a_branch_that_could_no_longer_report_stays() -> None:
    new = edited(('report: {parts: "${input}"}, ', ""), text=SPLIT)
    assert "join parts counts on a report from here" in troubles(SPLIT, new)["step:Part/execute"]


def test_a_join_that_only_earlier_steps_open_cannot_be_waited_for_nor_reported_to() -> None:
    wide = edited(("joins: {parts: integer}", "joins: {parts: integer, more: integer}"), text=SPLIT)
    waits = edited(
        ("start: Begin\nsteps:\n", "start: Open\nsteps:\n  Open: {join: more, go_to_many: [Begin]}\n"),
        ("wait_for: {until: {join: parts}}", "wait_for: {all_of: [{join: parts}]}"),
        ("  End: {", "  End: {report: {more: 1}, "),
        text=wide,
    )
    assert (
        "reports to join more, of which it is inside no round" in troubles(SPLIT, waits)["step:End/execute"]
    )


def test_options_are_found_again_where_their_movement_has_moved() -> None:
    new = edited(
        (
            "    join: parts\n    go_to_many:\n      - {for_each",
            "    decide:\n      - {when: run.attempt > 5, dead_end: true}\n      - join: parts\n"
            "        go_to_many:\n          - {for_each",
        ),
        ("      - Collect\n", "          - Collect\n"),
        text=SPLIT,
    )
    assert troubles(SPLIT, new) == {}


def test_options_that_are_gone_are_told() -> None:
    new = edited((", options: {execute: {timeout: 5m}}", ""), text=SPLIT)
    assert "it runs under the `options` of" in troubles(SPLIT, new)["step:Part/execute"]


def test_a_deadline_needs_the_handler_that_it_was_set_with() -> None:
    handled = edited(
        (
            "channels:",
            "timeout: {after: 1h, policy: handler}\n"
            "on_timeout: {execute: work, force_complete: null}\nchannels:",
        ),
        text=SPLIT,
    )
    assert "`on_timeout`, which is gone" in troubles(handled, SPLIT)["deadline"]
    assert troubles(SPLIT, handled) == {}


def test_a_step_with_the_same_handler_is_advised_before_any_other_new_one() -> None:
    old = """
        flow: A
        start: First
        steps:
          First: {go_to: Save}
          Save: {execute: m:save, graceful_complete: }
        """
    new = """
        flow: A
        start: First
        steps:
          First: {go_to: Audit}
          Audit: {go_to: Store}
          Store: {execute: m:save, graceful_complete: }
        """
    assert "[step:Save=Store]" in verdicts(old, new)["step:Save/execute"][1]
