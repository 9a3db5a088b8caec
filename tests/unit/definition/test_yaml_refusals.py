"""The YAML text alone: section 9 of the language, and the parse errors that expressions cause."""

from __future__ import annotations

import pytest

from orchestrator.definition.parse import SIZE_LIMIT, parse, read_document
from orchestrator.definition.problem import Span
from orchestrator.lint.fixing import apply_fixes
from tests.support.marked import assert_problems, problems_of, unmark

REFUSALS = [
    pytest.param("flow: F\n⟦flow⟧: G\n", "YML002", id="duplicate key"),
    pytest.param(
        "flow: F\nsteps:\n  A: {dead_end: true}\n  ⟦A⟧: {dead_end: true}\n", "YML002", id="duplicate step"
    ),
    pytest.param("flow: F\n⟦1⟧: x\n", "YML004", id="number as key"),
    pytest.param("flow: F\nsteps:\n  ⟦true⟧: {dead_end: true}\n", "YML004", id="boolean as key"),
    pytest.param("flow: F\n? ⟦[a]⟧\n: b\n", "YML004", id="list as key"),
    pytest.param("flow: F\n⟦<<⟧: {a: b}\n", "YML009", id="merge key"),
    pytest.param("flow: ⟦!!str F⟧\n", "YML010", id="tag"),
    pytest.param("flow: F\n⟦---⟧\nflow: G\n", "YML006", id="second document"),
    pytest.param("flow: F\n...\n⟦f⟧low: G\n", "YML006", id="second document behind the end of the first"),
    pytest.param("flow: F\nsteps:\n⟦\t⟧A: {dead_end: true}\n", "YML008", id="tab as indentation"),
    pytest.param("flow:⟦\t⟧F\n", "YML008", id="tab as separator"),
    pytest.param("flow: F\nversion: ⟦*v⟧\n", "YML005", id="alias of nothing"),
    pytest.param("flow: F\nx-a: &v [⟦*v⟧]\n", "YML005", id="alias inside its anchor"),
    pytest.param("flow: F\nversion: ⟦.inf⟧\n", "YML016", id="infinity"),
    pytest.param("flow: F\nversion: ⟦.nan⟧\n", "YML016", id="not a number"),
    pytest.param("flow: F\nversion: ⟦1e999⟧\n", "YML016", id="too large for JSON"),
    pytest.param("flow: ⟦\x07⟧F\n", "YML014", id="control character"),
    pytest.param('flow: F\nversion: ⟦"⟧open\n', "YML001", id="open quote is shown where it begins"),
    pytest.param(
        "flow: F\nconfig: ⟦{⟧durability: sync\n", "YML001", id="open brace is shown where it begins"
    ),
    pytest.param("flow: F\nx-a: {when: ⟦>⟧-\n  a}\n", "YML001", id="block text in flow style"),
    pytest.param("flow: F\n input⟦:⟧ integer\n", "YML001", id="indentation"),
]


@pytest.mark.parametrize(("marked", "code"), REFUSALS)
def test_yaml_is_refused_at_its_place(marked: str, code: str) -> None:
    assert_problems(marked, code)


UNQUOTED = [
    ("x-steps: {A: {go_to: {step: B, input: ⟦${input}⟧}}}", '"${input}"'),
    ("x-steps: {A: {graceful_complete: ⟦${size(input.list)}⟧}}", '"${size(input.list)}"'),
    ("x-a: [1, ⟦${a[0]}⟧, 2]", '"${a[0]}"'),
    ("x-a: {when: ⟦input.x[0] == 1⟧, go_to: B}", '"input.x[0] == 1"'),
    ("x-a: {when: ⟦input ? a : b⟧, go_to: B}", '"input ? a : b"'),
    ("x-a: {when: ⟦input == {a: 1}⟧, go_to: B}", '"input == {a: 1}"'),
    ("x-a:\n  when: ⟦!input.done⟧\n  go_to: B", '"!input.done"'),
    ("x-a:\n  when: ⟦'a' == input⟧\n  go_to: B", "\"'a' == input\""),
    ('x-a:\n  when: ⟦"a" == input⟧\n  go_to: B', "'\"a\" == input'"),
    ("x-a:\n  when: ⟦[input] == [1]⟧\n  go_to: B", '"[input] == [1]"'),
    ("x-a:\n  when: ⟦*input⟧\n  go_to: B", '"*input"'),
    ("x-a:\n  when: ⟦input == {'a': 1}⟧\n  go_to: B", "\"input == {'a': 1}\""),
    ("x-a:\n  value: ⟦${ {'a': 1} }⟧ # why", "\"${ {'a': 1} }\""),
    ("x-a: {value: ⟦order ${input.id} is late⟧, b: 1}", '"order ${input.id} is late"'),
    ("x-a: [⟦order-${input.id}⟧, b]", '"order-${input.id}"'),
    ("x-a: {value: ⟦${a} and ${b}⟧}", '"${a} and ${b}"'),
    ("x-a: {value: ⟦${a}: ${b}⟧}", '"${a}: ${b}"'),
    ("x-a: {⟦${a}⟧: 1}", '"${a}"'),
    ("x-a: {value: ⟦$${a}⟧}", '"$${a}"'),
    ("x-a:\n  value: ⟦${a}: late⟧", '"${a}: late"'),
    ("x-a:\n  value: ⟦at ${ {'a': 1}.a } o'clock⟧ # why", "\"at ${ {'a': 1}.a } o'clock\""),
    ("x-a: {b: 'in ${quotes}', c: ⟦${a}⟧}", '"${a}"'),
    ("x-a: {when: ⟦input == ' #'⟧, go_to: B}", "\"input == ' #'\""),
]


@pytest.mark.parametrize(("marked", "fix"), UNQUOTED)
def test_parse_error_of_an_expression_says_quote_it(marked: str, fix: str) -> None:
    (problem,) = assert_problems("flow: F\n" + marked + "\n", "YML017")
    assert "quote this expression" in problem.message
    assert problem.help == f"write {fix}"


@pytest.mark.parametrize("marked", [marked for marked, _ in UNQUOTED])
def test_the_fix_of_an_unquoted_expression_gives_yaml(marked: str) -> None:
    text, _ = unmark("flow: F\n" + marked + "\n")
    _, (problem,) = parse(text, "x.flow.yaml")
    assert problem.fix is not None
    assert problem.fix.is_safe
    assert problems_of(apply_fixes(text, [problem.fix])) == []


CUT = [
    ("graceful_complete: ⟦${'a' == ' #'}⟧", "\"${'a' == ' #'}\""),
    ("graceful_complete: ⟦no ${' # '} yet⟧", "\"no ${' # '} yet\""),
    ("decide: [{when: ⟦step.name == ' #'⟧, dead_end: true}]", "\"step.name == ' #'\""),
    ("decide:\n      - when: ⟦step.name == ' # '⟧ # why\n        dead_end: true", "\"step.name == ' # '\""),
]


@pytest.mark.parametrize(("marked", "fix"), CUT)
def test_an_expression_cut_where_yaml_sees_a_comment_says_quote_it(marked: str, fix: str) -> None:
    (problem,) = assert_problems(f"flow: F\nstart: A\nsteps:\n  A:\n    {marked}\n", "YML017")
    assert "quote this expression" in problem.message
    assert problem.help == f"write {fix}"


def test_a_comment_behind_an_expression_cuts_nothing() -> None:
    text = "flow: F\nstart: A\nsteps:\n  A: # why\n    graceful_complete: ${'#' + 'a'} # ' why (\n"
    assert problems_of(text) == []


def test_quoted_text_is_not_taken_for_an_unquoted_expression() -> None:
    assert_problems('flow: F\nx-a: {b: "in ${quotes}", c: [1 ⟦}⟧\n', "YML001")


def test_every_tab_of_the_indentation_comes_with_the_other_problems() -> None:
    assert_problems(
        """
        flow: F
        ⟦bogus⟧: 1
        description: |
          with a
          \ttab
        start: A
        steps:
        ⟦\t⟧A:
        ⟦\t\t⟧go_to: ⟦Nowhere⟧
        ⟦\t\t⟧⟦go_to⟧: A
        """,
        "SCH001",
        "YML008",
        "YML008",
        "REF001",
        "YML008",
        "YML002",
    )


def test_a_tab_that_leaves_the_indentation_unclear_comes_alone() -> None:
    assert_problems("flow: F\nbogus: 1\nsteps:\n  A:\n⟦\t⟧go_to: B\n", "YML008")


def test_problems_of_the_text_do_not_hide_those_of_the_definition() -> None:
    assert_problems(
        """
        flow: F
        channels: {c: string, ⟦c⟧: integer}
        start: ⟦B⟧
        steps:
          A:
            input: integer
            ⟦wait_fro⟧: 1
            wait_for: {until: {channel: c, for: ⟦${input}⟧, ⟦wehn⟧: true}}
            go_to: {step: ⟦Nowhere⟧, input: ⟦${input + 1}⟧}
        """,
        "YML002",
        "REF001",
        "SCH001",
        "YML017",
        "SCH001",
        "REF001",
        "YML017",
    )


def test_guard_cut_at_a_comma_says_quote_it_once() -> None:
    assert_problems(
        """
        flow: F
        start: A
        steps:
          A:
            decide:
              - {when: ⟦[1].exists(x⟧, x > 0), dead_end: true}
        """.replace("[1].exists", "range(3).exists"),
        "YML017",
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "\n\n", "null\n"])
def test_empty_file_is_refused(text: str) -> None:
    (problem,) = problems_of(text)
    assert problem.code == "YML012"


def test_file_over_one_mebibyte_is_refused_before_it_is_read() -> None:
    (problem,) = problems_of("flow: F\n#" + "é" * (SIZE_LIMIT // 2))
    assert problem.code == "YML011"


def test_deep_nesting_is_refused() -> None:
    (problem,) = problems_of("flow: F\nx-a: " + "[" * 200 + "]" * 200)
    assert problem.code == "YML015"
    (problem,) = problems_of("flow: F\nx-a: " + "[" * 100_000)
    assert problem.code == "YML015" or "nesting" in problem.message


def test_aliases_that_expand_past_the_limit_are_refused_once() -> None:
    levels = ["x-a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    levels += [f"x-a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 30)]
    (problem,) = problems_of("flow: F\n" + "\n".join(levels))
    assert problem.code == "YML005"
    assert "10000" in problem.message


def test_aliases_within_the_limit_are_expanded() -> None:
    _, document, problems = read_document("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n", "f")
    assert problems == []
    assert document == {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}, {"b": [1]}]}


TEXTS = ["on", "off", "yes", "no", "y", "NO", "12:30", "1_000", "2024-01-01", "0b1", "tRUE", "nUll", "1e"]
CORE_SCHEMA: dict[str, object] = {
    **{text: text for text in TEXTS},
    "0o17": 15,
    "0x1F": 31,
    "12": 12,
    "-3": -3,
    "+4": 4,
    "1.5": 1.5,
    ".5": 0.5,
    "1.": 1.0,
    "1e3": 1000.0,
    "true": True,
    "True": True,
    "FALSE": False,
    "null": None,
    "~": None,
    "Null": None,
    "": None,
    "'no'": "no",
    "'1'": "1",
    '"true"': "true",
    '"null"': "null",
}


@pytest.mark.parametrize("written", CORE_SCHEMA)
def test_plain_scalars_follow_the_core_schema_of_yaml_1_2(written: str) -> None:
    _, document, problems = read_document(f"a: {written}\n", "f")
    assert problems == []
    assert document == {"a": CORE_SCHEMA[written]}
    assert type(document["a"]) is type(CORE_SCHEMA[written])


def test_tabs_in_texts_and_comments_are_fine() -> None:
    _, document, problems = read_document('a: "x\ty" # a\tb\nb: |\n  c\td\n', "f")
    assert problems == []
    assert document == {"a": "x\ty", "b": "c\td\n"}


def test_several_problems_of_the_text_come_together() -> None:
    assert_problems("flow: F\n⟦flow⟧: G\n⟦1⟧: x\nversion: ⟦!v x⟧\n", "YML002", "YML004", "YML010")


def test_columns_count_characters_not_bytes() -> None:
    problems = assert_problems('flow: F\nx-a: {"é日本😀": 1, ⟦"é日本😀"⟧: 2}\n', "YML002")
    assert problems[0].span == Span(2, 18, 2, 24)


def test_byte_order_mark_and_windows_line_ends_do_not_shift_positions() -> None:
    _, problems = parse("flow: F\r\nsteps:\r\n  A: {ded_end: true}\r\n", "f")
    assert [(problem.code, problem.span.line, problem.span.column) for problem in problems] == [
        ("SCH001", 3, 7)
    ]
