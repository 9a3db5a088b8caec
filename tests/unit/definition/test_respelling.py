"""What is written in the wrong form and can only mean one thing is mended by `--fix`."""

from __future__ import annotations

import pytest

from orchestrator.definition.problem import Problem
from orchestrator.definition.respelling import respell_duration
from orchestrator.lint.fixing import fix_text
from orchestrator.lint.runner import lint_text

PATH = "example.flow.yaml"


def is_safe(problem: Problem) -> bool:
    return problem.fix is not None and problem.fix.is_safe


def fixed(text: str) -> str:
    """What --fix makes of it; a second time it finds nothing to mend."""
    after = fix_text(text, PATH, is_safe).after
    assert fix_text(after, PATH, is_safe).after == after
    return after


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("30 secs", "30s"),
        ("30", None),
        ("1.5 hours", "1.5h"),
        ("1h 30m", "1h30m"),
        ("1 hour and 30 min", "1h30m"),
        ("2 Days, 4 HOURS", "2d4h"),
        ("250 millis", "250ms"),
        ("30M", None),
        ("1 month", None),
        ("3 s 2 h", None),
        ("soon", None),
        ("-3 s", None),
        ("", None),
    ],
)
def test_a_duration_that_can_only_mean_one_thing(text: str, meant: str | None) -> None:
    assert respell_duration(text) == meant


FLOW = """\
flow: Example   # stays
timeout: ⟨2d⟩
channels: {c: {type: string, external: ⟨true⟩}}
start: A
steps:
  A:
    description: ⟨"12"⟩
    wait_for:
      any_of:
        - {channel: c, for: ⟨3⟩}
        - {timer: ⟨30s⟩}
    execute: {handler: h, timeout: ⟨5m⟩, retry: {maximum_attempts: ⟨3⟩}}
    graceful_complete: {⟨"1"⟩: x, ⟨"true"⟩: y}
"""
WRONG = {
    "2d": "2 days",
    "true": "yes",
    '"12"': "12",
    "3": '"3"',
    "30s": "30 secs",
    "5m": "'5 minutes'",
    '"1"': "1",
    '"true"': "true",
}


def test_a_fix_mends_just_that_and_the_flow_is_read() -> None:
    right = FLOW.replace("⟨", "").replace("⟩", "")
    wrong = FLOW
    for good, bad in WRONG.items():
        wrong = wrong.replace(f"⟨{good}⟩", bad)
    assert "⟨" not in wrong
    codes = {problem.code for problem in lint_text(wrong, PATH)}
    assert codes == {"YML004", "SCH003", "SCH004"}
    assert fixed(wrong) == right
    assert not [problem for problem in lint_text(right, PATH) if problem.severity == "error"]


@pytest.mark.parametrize(
    "line",
    ["timeout: 30M", "timeout: >-\n  30 secs", "x-a: &t 30 secs\ntimeout: *t", "timeout: &t 30 secs"],
    ids=["ambiguous", "a block", "an alias", "an anchor"],
)
def test_what_may_mean_something_else_or_stands_elsewhere_is_left(line: str) -> None:
    text = f"flow: Example\n{line}\nstart: A\nsteps: {{A: {{graceful_complete: }}}}\n"
    assert "SCH004" in {problem.code for problem in lint_text(text, PATH)}
    assert fixed(text) == text


@pytest.mark.parametrize("count", ["three", "1.5", "true", "[1]", "{a: 1}", ""])
@pytest.mark.parametrize("key", ["for", "at_least", "at_most"])
def test_a_count_that_is_none_has_the_wrong_shape(key: str, count: str) -> None:
    text = (
        "flow: Example\nchannels: {c: {type: string, external: true}}\n"
        "start: A\nsteps:\n"
        "  A:\n    wait_for:\n      until:\n        channel: c\n"
        f"        {key}: {count}\n    graceful_complete:\n"
    )
    (problem,) = [each for each in lint_text(text, PATH) if each.severity == "error"]
    assert (problem.code, problem.span.line) == ("SCH003", 9)


REPEATED = """\
flow: Example
start: A
steps:
  A:  # kept
    graceful_complete: {a: 1, b: 2}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("start: A\n", "start: A\nstart: B  # later\n"),
        ("{a: 1, b: 2}", "{a: 1, b: 2, a: 3}"),
        ("{a: 1, b: 2}", "{a: 1, a: [3, 4], b: 2}"),
        ("b: 2}\n", "b: 2}\n  A:\n    description: >-\n      text\n\n      more\n    dead_end: true\n"),
        ("b: 2}\n", "b: 2}\n  A:\n"),
        ("start: A\n", "start: A\nstart: |\n  B\n"),
    ],
    ids=["a line", "the last of a flow mapping", "one in between", "a block", "nothing", "a block scalar"],
)
def test_the_later_of_two_entries_goes_when_unsafe_fixes_are_asked_for(old: str, new: str) -> None:
    assert old in REPEATED
    text = REPEATED.replace(old, new, 1)
    assert {problem.code for problem in lint_text(text, PATH)} == {"YML002"}
    assert fixed(text) == text
    assert fix_text(text, PATH, lambda problem: problem.fix is not None).after == REPEATED


@pytest.mark.parametrize(
    "text",
    [
        "flow: Example\nx-a: {a: 1,\n  a: &x 2, b: *x}\nstart: A\nsteps: {A: {graceful_complete: }}\n",
        "flow: Example\nx-a: {\n  a: 1, b: 2,\n  a: 3}\nstart: A\nsteps: {A: {graceful_complete: }}\n",
    ],
    ids=["others refer to it", "it ends a bracket of other lines"],
)
def test_an_entry_that_does_not_stand_by_itself_is_left(text: str) -> None:
    assert fix_text(text, PATH, lambda problem: problem.fix is not None).after == text
