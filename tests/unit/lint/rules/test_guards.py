"""GRA003 to GRA005: dead guards, lists without a last word, overlaps."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found, places

HEAD = """\
flow: F
input: {required: [n, s, b], properties: {n: {type: integer}, s: {enum: [a, b, c]}, b: {type: boolean}}}
start: S
steps:
  S:
"""


def listed(*decisions: str) -> str:
    return HEAD + "    decide:\n" + "".join(f"      - {{{each}}}\n" for each in decisions)


END = "graceful_complete: "


@pytest.mark.parametrize(
    ("decisions", "line"),
    [
        (["when: input.n > 3, " + END, END, END], 9),
        (["when: input.n > 3, " + END, "when: input.n > 5, " + END, END], 8),
        (["when: input.b, " + END, "when: input.b, " + END, END], 8),
        (["when: input.b, " + END, "when: '!input.b', " + END, "when: input.n > 3, " + END], 9),
        (["when: 1 > 2, " + END, END], 7),
        (["when: true, " + END], 7),
        (["when: input.n > 3 || input.n <= 3, " + END], 7),
    ],
)
def test_a_decision_that_is_never_taken_or_a_guard_that_says_nothing_is_dead(
    decisions: list[str], line: int
) -> None:
    assert [place.split(":")[0] for place in places(listed(*decisions), "GRA003")] == [str(line)]


@pytest.mark.parametrize(
    "decisions",
    [
        ["when: input.n > 5, " + END, "when: input.n > 3, " + END, END],
        ["when: input.b, " + END, "when: '!input.b', " + END, END],
        ["when: input.s == 'a', " + END, "when: input.s == 'b', " + END, "when: input.s == 'c', " + END, END],
        ["when: input.b && input.n > 3, " + END, "when: input.b, " + END, END],
    ],
)
def test_cascades_and_a_cautious_last_word_are_not_dead(decisions: list[str]) -> None:
    assert found(listed(*decisions), "GRA003") == []


def test_a_dead_decision_is_deleted_with_its_line() -> None:
    text = listed("when: input.n > 3, " + END, "when: input.n > 5, " + END, END)
    assert fixed(text, "GRA003") == listed("when: input.n > 3, " + END, END)


def test_a_guard_that_always_holds_is_removed_alone() -> None:
    assert fixed(listed("when: true, " + END), "GRA003") == listed(END)
    block = HEAD + "    decide:\n      - when: true\n        graceful_complete:\n"
    assert fixed(block, "GRA003") == HEAD + "    decide:\n      - graceful_complete:\n"


def test_a_guard_that_always_holds_behind_an_else_is_dead_all_the_same() -> None:
    (problem,) = found(listed(END, "when: true, " + END), "GRA003")
    assert problem.message == "this decision is never taken: an earlier one always holds"


def test_choices_are_lists_of_their_own() -> None:
    text = HEAD + (
        "    execute: choose\n    decide:\n"
        "      - {choice: x, graceful_complete: }\n      - {choice: y, graceful_complete: }\n"
        "      - {choice: x, dead_end: true}\n      - graceful_complete:\n"
    )
    assert places(text, "GRA003") == ["10:9"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("    publish: [{channel: c, when: 1 > 2, value: x}]\n    graceful_complete:\n", "7:34"),
        ("    go_to_many: [{step: S, input: '${input}'}, {step: S, when: true}]\n", "7:64"),
        (
            "    wait_for: {any_of: [{channel: c}, {timer: 1h, when: false}]}\n    graceful_complete:\n",
            "7:57",
        ),
    ],
)
def test_constant_guards_of_effects_movements_and_conditions_are_found(body: str, place: str) -> None:
    text = HEAD.replace("start: S", "channels: {c: {type: string, external: true}}\nstart: S") + body
    assert places(text, "GRA003") == [place]


# --- GRA004 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decisions", "case"),
    [
        (["when: input.n > 3, " + END, "when: input.n < 3, " + END], "`input.n` is 3"),
        (["when: input.s == 'a', " + END, "when: input.s == 'b', " + END], "`input.s` is 'c'"),
        (["when: input.b, " + END], "`input.b` is false"),
        (["when: input.n >= 3, " + END], "`input.n` is less than 3"),
    ],
)
def test_the_case_that_no_decision_covers_is_named(decisions: list[str], case: str) -> None:
    (problem,) = found(listed(*decisions), "GRA004")
    assert problem.message == f"no decision of `S` holds where {case}"
    assert (problem.severity, problem.span.line) == ("error", 6)


def test_the_fix_adds_a_last_decision_in_the_style_of_the_list() -> None:
    text = listed("when: input.b, " + END)
    assert fixed(text, "GRA004") == text + "      - {force_fail: no decision of S holds}\n"
    flow_style = HEAD + "    decide: [{when: input.b, graceful_complete: }]  # why\n"
    assert fixed(flow_style, "GRA004") == HEAD + (
        "    decide: [{when: input.b, graceful_complete: }, {force_fail: no decision of S holds}]  # why\n"
    )
    assert found(fixed(text, "GRA004"), "GRA004") == []


def test_a_guard_on_a_step_without_list_stands_alone() -> None:
    text = HEAD + "    when: input.b\n    graceful_complete:\n"
    (problem,) = found(text, "GRA004")
    assert problem.fix is None


def test_each_word_of_a_choice_needs_its_last_word_and_the_choices_together_none() -> None:
    text = HEAD + "    execute: choose\n    decide:\n      - {choice: x, graceful_complete: }\n"
    assert found(text, "GRA004") == []
    guarded = text.replace("choice: x, ", "choice: x, when: input.b, ")
    (problem,) = found(guarded, "GRA004")
    assert problem.message == "no decision of choice `x` of `S` holds where `input.b` is false"


def test_an_rpc_may_be_left_without_decision_since_its_call_is_then_rejected() -> None:
    text = "flow: F\nrpcs: {r: {input: boolean, decide: [{when: input, returns: 1}]}}\n"
    assert found(text, "GRA004") == []


def test_the_timeout_handler_needs_a_last_word() -> None:
    text = "flow: F\nattributes: {b: {type: boolean, initial: true}}\ntimeout: 1h\n"
    text += "on_timeout: {decide: [{when: attributes.b, force_fail: late}]}\n"
    assert places(text, "GRA004") == ["4:14"]


@pytest.mark.parametrize(
    ("movements", "count"),
    [
        ("[{step: S, when: input.b}, {step: S, when: input.n > 3}]", 1),
        ("[{step: S, when: input.b}, {step: S, when: '!input.b'}]", 0),
        ("[{step: S, when: input.b}, S]", 0),
        ('[{step: S, for_each: "${[input]}"}]', 0),
        ('[{step: S, for_each: "${range(2)}", input: "${input}"}]', 0),
        ('[{step: S, for_each: "${range(input.n)}", input: "${input}"}]', 1),
        ('[{step: S, for_each: "${range(input.n)}", input: "${input}"}, S]', 0),
    ],
)
def test_a_fan_out_may_not_be_left_without_movement(movements: str, count: int) -> None:
    assert len(found(HEAD + f"    go_to_many: {movements}\n", "GRA004")) == count


@pytest.mark.parametrize(("more", "severities"), [("", ["info"]), (", minItems: 1", [])])
def test_a_fan_out_over_a_list_that_may_be_empty_is_told_as_info(more: str, severities: list[str]) -> None:
    text = f"""\
        flow: F
        input: {{type: array, items: {{type: integer}}{more}}}
        start: S
        steps:
          S: {{go_to_many: [{{step: W, for_each: "${{input}}"}}]}}
          W: {{input: integer, graceful_complete: done}}
        """
    assert [problem.severity for problem in found(text, "GRA004")] == severities


def test_otherwise_says_what_happens_without_movement() -> None:
    text = HEAD + "    go_to_many: [{step: S, when: input.b}]\n    otherwise: {graceful_complete: }\n"
    assert found(text, "GRA004") == []


def test_the_guard_of_the_decision_counts_for_its_movements() -> None:
    movements = "go_to_many: [{step: S, when: input.n > 5}, {step: S, when: input.n < 6 && input.n > 3}]"
    assert found(listed(f"when: input.n > 3, {movements}", END), "GRA004") == []
    assert found(listed(f"when: input.n > 2, {movements}", END), "GRA004") != []
    assert found(listed("when: input.n < 4, " + END, movements), "GRA004") == []


# --- GRA005 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guards", "case"),
    [
        (["input.n <= 3", "input.n >= 3"], "`input.n` is 3"),
        (["input.n < 9", "input.n > 5"], "`input.n` is between 5 and 9"),
        (["input.s in ['a', 'b']", "input.s in ['b', 'c']"], "`input.s` is 'b'"),
    ],
)
def test_two_guards_that_draw_crossing_lines_overlap(guards: list[str], case: str) -> None:
    decisions = [f'when: "{guard}", {END}' for guard in guards]
    (problem,) = found(listed(*decisions, END), "GRA005")
    assert [span.label for span in problem.spans] == [f"both hold where {case}"]


@pytest.mark.parametrize(
    "guards",
    [
        ["input.n > 9", "input.n > 5"],
        ["input.n < 5", "input.n > 9"],
        ["input.s == 'a'", "input.s != 'b'"],
        ["input.n > 5", "input.b"],
        ["input.n > 5 && input.b", "input.n < 9"],
    ],
)
def test_cascades_and_guards_on_several_things_are_left_alone(guards: list[str]) -> None:
    assert found(listed(*(f'when: "{guard}", {END}' for guard in guards), END), "GRA005") == []


@pytest.mark.parametrize(
    ("guard", "shown"),
    [
        ("input.?a.?b.orValue(0) == 1", "`input.?a.?b.orValue(0)` is none of 1"),
        ("input[?'a'].orValue(0) == 1", "`input[?'a'].orValue(0)` is none of 1"),
        ("input.a.startsWith('x')", "`input.a.startsWith('x')` is false"),
        ("(input.a ? 1 : 2) == 1", "`(input.a ? 1 : 2)` is none of 1"),
        ("(input.a in ['x']) == input.b", "`(input.a in ['x']) == input.b` is false"),
    ],
)
def test_a_message_shows_expressions_as_they_are_written(guard: str, shown: str) -> None:
    text = "flow: F\ninput: any\nstart: S\nsteps:\n  S:\n    decide:\n"
    text += f'      - {{when: "{guard}", graceful_complete: 1}}\n'
    (problem,) = found(text, "GRA004")
    assert problem.message == f"no decision of `S` holds where {shown}"
