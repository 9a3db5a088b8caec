"""Aliases of nothing and characters that YAML does not allow: the rest of the file is read all the same."""

from __future__ import annotations

import pytest

from tests.support.marked import assert_problems, problems_of

WHOLE = """\
flow: F
types:
  T: {type: object, required: [n], properties: {n: {type: integer}}}
input: T
output: integer
attributes:
  total: integer
  byName: {type: integer, map: true}
channels:
  c: {type: T, external: true}
  box: {type: integer, map: true}
joins: {j: integer}
start: A
timeout: {after: 1h, policy: fail}
steps:
  A:
    wait_for: {any_of: [{channel: c, id: won}, {timer: 1h}]}
    execute: {handler: work, retry: {maximum_attempts: 3}}
    result: {name: made, type: integer}
    let: {twice: "${made * 2}"}
    on_failure: B
    decide:
      - when: wait.won.satisfied
        set: {total: "${twice}", byName: {x: 1}}
        publish: {box: {x: "${made}"}}
        go_to: {step: C, input: "${wait.won.message}"}
      - go_to_many: [{step: D, input: 3}, E]
        join: j
  B: {input: T, publish: {c: "${input}"}, graceful_complete: "${input.n}"}
  C: {input: T, graceful_complete: "${input.n + attributes.total}"}
  D: {input: integer, report: {j: "${input}"}, dead_end: true}
  E: {wait_for: {until: {join: j}}, graceful_complete: "${sum(wait.j.messages)}"}
rpcs:
  look: {input: integer, output: integer, set: {total: "${input}"}, returns: "${attributes.total}"}
"""
MISTAKE = "  Z: {graceful_complete: ⟦ten⟧, ⟦bogus⟧: 1}\n"


def scalars() -> list[str]:
    """Where the values of the flow stand that are one word or one quoted text: line, start, end."""
    assert problems_of(WHOLE) == []
    found = []
    for number, line in enumerate(WHOLE.splitlines()):
        for start in range(len(line)):
            if line[start - 2 : start] in (": ", ", ", " [") or line[start - 1 : start] == "[":
                end = start
                if line[start] == '"':
                    end = line.index('"', start + 1) + 1
                else:
                    while end < len(line) and (line[end].isalnum() or line[end] in "_."):
                        end += 1
                is_value = end > start and line[end : end + 1] != ":"
                if is_value:
                    found.append(f"{number}:{start}:{end}")
    return found


PLACES = scalars()


def with_value(place: str, value: str) -> str:
    number, start, end = map(int, place.split(":"))
    lines = WHOLE.splitlines()
    lines[number] = lines[number][:start] + value + lines[number][end:]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("value", "code"), [("*gone", "YML005"), ('"a\x07b"', "YML014")])
def test_of_a_value_that_nobody_knows_nothing_else_is_said(place: str, value: str, code: str) -> None:
    text = with_value(place, value)
    if "when: *gone" in text:
        code = "YML017"  # an expression that begins with `*`
    assert [problem.code for problem in problems_of(text)] == [code]


@pytest.mark.parametrize("value", ["⟦*gone⟧", '"a⟦\x07⟧b"'])
@pytest.mark.parametrize(
    "place",
    [
        "flow: F",
        "total: integer",
        "c: {type: T, external: true}",
        "j: integer",
        "after: 1h",
        "handler: work",
        "maximum_attempts: 3",
        "step: C",
        "join: j\n",
        "output: integer, set",
        'returns: "${attributes.total}"',
        'x: "${made}"',
    ],
)
def test_the_mistakes_of_other_parts_are_found(place: str, value: str) -> None:
    key, _, rest = place.partition(": ")
    end = rest.removeprefix("integer") if rest.startswith("integer,") else "\n" if rest[-1:] == "\n" else ""
    text = WHOLE.replace(place, f"{key}: {value}{end}").replace("rpcs:\n", f"{MISTAKE}rpcs:\n")
    gap = "YML014" if "\x07" in value else "YML005"
    found = sorted(problem.code for problem in problems_of(text.replace("⟦", "").replace("⟧", "")))
    assert found == sorted([gap, "TYP002", "SCH001"])


@pytest.mark.parametrize(
    "line", ["steps: *gone", "channels: *gone", "start: *gone", "types: *gone", "steps: {A: *gone}"]
)
def test_where_everything_may_depend_on_it_the_rest_is_left_alone(line: str) -> None:
    key = line.partition(":")[0]
    lines = [each for each in ("flow: F", "channels: {c: string}", "start: A") if not each.startswith(key)]
    text = "\n".join([*lines, line, "rpcs: {r: {publish: {d: 1}}}", "bogus: 1"]) + "\n"
    assert [problem.code for problem in problems_of(text)] == ["YML005"]


def test_every_unknown_alias_and_character_comes_with_the_other_problems() -> None:
    assert_problems(
        """
        flow: F
        description: "bell ⟦\x07⟧ and ⟦\x08⟧"  # ⟦\x01⟧ in a comment
        start: A
        steps:
          A: {execute: {handler: a, retry: ⟦*retry⟧}, go_to: B}
          B: {go_to: ⟦Nowhere⟧}
          C: {graceful_complete: ⟦*out⟧, set: {⟦x⟧: 1}, ⟦bogus⟧: 1}
        """,
        "YML014",
        "YML014",
        "YML014",
        "YML005",
        "REF001",
        "YML005",
        "REF003",
        "SCH001",
    )


@pytest.mark.parametrize(
    "text",
    [
        "flow: F\nx-a: &a {n: ⟦*gone⟧}\nsteps: {A: *a}\n",
        "flow: F\nx-a: &a [⟦*a⟧]\nbogus: *a\n",
        "flow: F\nchan⟦\x07⟧nels: {c: string}\nbogus: 1\n",
    ],
    ids=["repeated by an alias", "in itself and repeated", "in a key"],
)
def test_a_gap_that_stands_for_more_than_a_value_comes_alone(text: str) -> None:
    assert_problems(text, "YML014" if "\x07" in text else "YML005")


def test_a_file_that_is_no_text_has_no_more_than_some_problems() -> None:
    found = problems_of("flow: F\n" + "\x00" * 1000)
    assert {problem.code for problem in found} == {"YML014"}
    assert len(found) <= 20


def test_a_mistake_of_yaml_beside_a_character_is_told_too() -> None:
    assert_problems("flow: ⟦\x07⟧F\nsteps: {A: ⟦]⟧}\n", "YML014", "YML001")
