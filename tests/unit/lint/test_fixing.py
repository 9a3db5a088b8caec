"""`--fix`: edits of the text that leave the rest of it alone, and never leave it worse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies

from orchestrator.definition.problem import Edit, Fix, Problem, Span
from orchestrator.lint.fixing import apply_fixes, fix_files, fix_text
from orchestrator.lint.runner import lint_text

HEAD = (
    "flow: F\ninput: integer\nchannels: {order: string}\nattributes: {total: integer}\nstart: A\n"
    "rpcs: {send: {publish: {order: now}, set: {total: 1}}}\nsteps:\n"
)


def is_safe(problem: Problem) -> bool:
    return problem.fix is not None and problem.fix.is_safe


def is_any(problem: Problem) -> bool:
    return problem.fix is not None


def fixed(steps: str, *, unsafe: bool = True) -> str:
    text = fix_text(HEAD + steps, "x.flow.yaml", is_any if unsafe else is_safe).after
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)


SAFE = [
    (
        '  A: {graceful_complete: ${"a"}}  # why\n',
        "  A: {graceful_complete: '${\"a\"}'}  # why\n",
    ),
    (
        "  A: {decide: [{when: ${input > 1}, dead_end: true}]}\n",
        "  A: {decide: [{when: input > 1, dead_end: true}]}\n",
    ),
    (
        "  A:\n    when: ${input > 1}   # big\n    dead_end: true\n",
        "  A:\n    when: input > 1   # big\n    dead_end: true\n",
    ),
    (
        '  A:\n    when: "${input in [1, 2]}"\n    dead_end: true\n',
        '  A:\n    when: "input in [1, 2]"\n    dead_end: true\n',
    ),
    (
        "  A: {when: max([input, 1]) > 2, dead_end: true}\n",
        '  A: {when: "max([input, 1]) > 2", dead_end: true}\n',
    ),
    (
        "  A: {when: min(input, 1) == 1, dead_end: true}\n",
        '  A: {when: "min(input, 1) == 1", dead_end: true}\n',
    ),
]


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_expressions_are_quoted_and_freed_of_braces(before: str, after: str) -> None:
    assert fixed(before, unsafe=False) == after


UNSAFE = [
    ("  A:\n    gracefulComplete: 1  # done\n", "  A:\n    graceful_complete: 1  # done\n"),
    ("  A: {go_to: B}\n  BB: {dead_end: true}\n", "  A: {go_to: B}\n  BB: {dead_end: true}\n"),
    ("  A: {go_to: Endd}\n  End: {dead_end: true}\n", "  A: {go_to: End}\n  End: {dead_end: true}\n"),
    ("  A: {set: {totl: 1}, dead_end: true}\n", "  A: {set: {total: 1}, dead_end: true}\n"),
    ('  A: {publish: {"ordr": x}, dead_end: true}\n', "  A: {publish: {order: x}, dead_end: true}\n"),
    ("  A: {wait_for: {until: {chanel: ordr}}, dead_end: true}\n",
     "  A: {wait_for: {until: {channel: order}}, dead_end: true}\n"),
    ("  A: {cancel: [Endd], dead_end: true}\n  End: {dead_end: true}\n",
     "  A: {cancel: [End], dead_end: true}\n  End: {dead_end: true}\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_names_with_one_likely_meaning_are_corrected_when_that_is_asked(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(before, unsafe=False) == before


@pytest.mark.parametrize(
    "steps",
    [
        "  A: {dead_end: true, dead_ends: true}\n",  # the known key is there already
        "  A: {go_to: End3}\n  End1: {dead_end: true}\n  End2: {dead_end: true}\n",  # two are as near
        "  A: {go_to: order}\n",  # a name, but of another kind
        "  A: {dead_end: true, x-dead_end: true}\n",
    ],
)
def test_what_may_mean_several_things_is_left_alone(steps: str) -> None:
    assert fixed(steps) == steps


def test_a_fix_that_makes_another_key_twice_is_not_applied() -> None:
    assert fixed("  A: {dead_endd: true, ddead_end: true}\n") in (
        "  A: {dead_end: true, ddead_end: true}\n",
        "  A: {dead_endd: true, dead_end: true}\n",
    )


def test_fixes_go_on_with_what_the_first_ones_bring_to_light() -> None:
    text = HEAD + "  A: {wait_foor: {untill: {chanel: ordr}}, when: ${input > 1}, dead_end: true}\n"
    result = fix_text(text, "x.flow.yaml", is_any)
    assert result.fix_count == 5
    assert [problem for problem in lint_text(result.after) if problem.code[:3] in ("SCH", "REF", "EXP")] == []


def test_only_wanted_problems_are_fixed() -> None:
    text = HEAD + "  A: {when: ${true}, dead_endd: true}\n"
    result = fix_text(text, "x.flow.yaml", lambda problem: problem.code == "SCH001" and is_any(problem))
    assert result.after == HEAD + "  A: {when: ${true}, dead_endd: true}\n".replace("endd", "end")


def test_line_ends_and_the_byte_order_mark_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.flow.yaml"
    file.write_bytes(b"\xef\xbb\xbfflow: A\r\nstrat: B\r\nsteps:\r\n  B: {dead_end: true}\r\n")
    fix_files([tmp_path], is_any, writes=True)
    assert file.read_bytes() == b"\xef\xbb\xbfflow: A\r\nstart: B\r\nsteps:\r\n  B: {dead_end: true}\r\n"


def test_a_difference_is_shown_and_nothing_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.flow.yaml"
    file.write_text("flow: A\nstrat: B\nsteps:\n  B: {dead_end: true}")
    (result,) = fix_files(["a.flow.yaml"], lambda problem: problem.code == "SCH001", writes=False)
    assert result.diff().splitlines() == [
        "--- a/a.flow.yaml",
        "+++ b/a.flow.yaml",
        "@@ -1,4 +1,4 @@",
        " flow: A",
        "-strat: B",
        "+start: B",
        " steps:",
        "   B: {dead_end: true}",
        "\\ No newline at end of file",
    ]
    assert file.read_text().startswith("flow: A\nstrat: B\n")


def test_a_fix_that_makes_the_loader_refuse_the_flow_is_not_applied() -> None:
    text = "flow: A\nstart: B\nsteps:\n  B:\n    graceful_complete: done\n"

    def lint(text: str, path: str) -> list[Problem]:
        """A rule that wants every step away."""
        found = lint_text(text, path)
        edit = Edit(Span(4, 1, 6, 1), "  C: {dead_end: true}\n")
        fix = Fix("write another step", (edit,), is_safe=True)
        return [*found, Problem("GRA001", "unreachable", path, Span(4, 3, 4, 4), fix=fix)]

    assert fix_text(text, "x.flow.yaml", is_any, lint).after == text


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.flow.yaml").write_bytes(b"flow: \xff\n")
    assert fix_files([tmp_path], is_any, writes=True) == []


FLOW = """\
flow: Fuzzed  # a comment
input: integer
channels: {order: string}
start: Wait
steps:
  # another one
  Wait:
    wait_for: {any_of: [{channel: order}, {timer: 1h, id: late}]}
    decide:
      - {when: wait.late.fired, go_to: {step: End, input: "${input + 1}"}}
      - graceful_complete: ${input}   # and one more
  End: {input: integer, when: "input in [1, 2]", graceful_complete: "${input}"}
"""


COMMENTS = ("# a comment", "# another one", "# and one more")


def unreadable_count(text: str) -> int:
    return sum(problem.code.startswith("YML") for problem in lint_text(text))


@settings(max_examples=60, deadline=None)
@given(
    strategies.integers(0, len(FLOW)),
    strategies.sampled_from(["", "x", "_", ":", "{", "]", "'", '"', "$", " ", "#"]),
)
def test_a_text_never_gets_worse_and_its_comments_stay(at: int, inserted: str) -> None:
    text = FLOW[:at] + inserted + FLOW[at + (not inserted) :]
    result = fix_text(text, "x.flow.yaml", is_any).after
    assert unreadable_count(result) <= unreadable_count(text)
    assert [comment for comment in COMMENTS if comment in text and comment not in result] == []
    assert fix_text(result, "x.flow.yaml", is_any).after == result


def test_a_name_is_not_corrected_to_what_cannot_be_one() -> None:
    assert (
        fixed("  A: {go_to: Second}\n  Sec-ond: {dead_end: true}\n")
        == "  A: {go_to: Second}\n  Sec-ond: {dead_end: true}\n"
    )


def test_edits_are_applied_from_the_end() -> None:
    text = "ab\r\ncd\u2028ef"
    fixes = [
        Fix("one", (Edit(Span(1, 1, 1, 2), "long"), Edit(Span(3, 2, 3, 3), "")), is_safe=True),
        Fix("two", (Edit(Span(2, 1, 2, 1), "+"),), is_safe=True),
    ]
    assert apply_fixes(text, fixes) == "longb\r\n+cd\u2028e"
