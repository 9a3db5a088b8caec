"""What people write who come from another language: the help says what it is here."""

import pytest

from orchestrator.definition.parse import parse

HEAD = """\
flow: F
handlers: h
input: string
attributes: {a: integer}
channels: {c: string}
start: A
steps:
  B: {dead_end: true}
  A:
    input: string
"""


@pytest.mark.parametrize(
    ("step", "code", "help"),
    [
        ("go_to: [B, B]", "SCH003", "several are started by `go_to_many: […]`"),
        ("publish: c\n    go_to: B", "SCH003", "write publish: {channel: value}"),
        ("set: a\n    go_to: B", "SCH003", "write set: {attribute: value}"),
        ("on_failure: {go_to: B}\n    execute: a\n    go_to: B", "SCH001", "here it is called `step`"),
        ("decide: [{when: not a > 1, go_to: B}, {go_to: B}]", "EXP001", "write `!` for `not`"),
        ("wait_for: {channel: c}\n    go_to: B", "SCH001", "it stands under `until` or `any_of`"),
    ],
)
def test_the_help_says_what_to_write(step: str, code: str, help: str) -> None:
    _, problems = parse(f"{HEAD}    {step}\n", "f.flow.yaml")
    assert (code, help) in [(problem.code, problem.help) for problem in problems]


@pytest.mark.parametrize("text", ["attributes.a + 1", "$input", "{{ input }}", "size(input)"])
def test_text_that_looks_like_an_expression_where_none_fits_is_told_how_expressions_are_written(
    text: str,
) -> None:
    _, (problem,) = parse(f"{HEAD}    set: {{a: '{text}'}}\n    go_to: B\n", "f.flow.yaml")
    assert problem.help == "its type is integer or none; what is computed is written `${…}`"


def test_plain_text_that_does_not_fit_is_not() -> None:
    _, (problem,) = parse(f"{HEAD}    set: {{a: many}}\n    go_to: B\n", "f.flow.yaml")
    assert problem.help == "its type is integer or none"
