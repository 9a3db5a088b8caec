"""Mutated flows give problems, never a traceback: through the loader, every rule, every report and every fix.

`ORCHESTRATOR_FUZZ=5000` tries that many of each kind instead of a few.
"""

from __future__ import annotations

import copy
import os
import tempfile
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.definition.catalogue import read_file
from orchestrator.definition.finders import finders
from orchestrator.definition.model import Json
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Problem
from orchestrator.lint.fingerprints import fingerprints
from orchestrator.lint.fixing import fix_text
from orchestrator.lint.report import render
from orchestrator.lint.runner import check_flow, lint_text

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "flows").rglob("*.flow.yaml"))
TEXTS = [file.read_text(encoding="utf-8") for file in FILES]
NODES: list[Json] = [read_document(text, "x")[1] for text in TEXTS]
COUNT = int(os.environ.get("ORCHESTRATOR_FUZZ", "0"))
FORMATS = ("text", "concise", "json", "github", "sarif", "junit")
PIECES = st.sampled_from(
    [
        *(
            "",
            " ",
            "  ",
            "\n",
            "\n\n",
            "\t",
            "\r",
            "#",
            ":",
            ": ",
            "- ",
            "{",
            "}",
            "[",
            "]",
            ",",
            "'",
            '"',
            "|",
            ">",
        ),
        *(
            "&a ",
            "*a",
            "!x ",
            "---\n",
            "...",
            "${",
            "}",
            "$${",
            "<<: ",
            "? ",
            "%",
            "@",
            "`",
            "~",
            "null",
            "true",
        ),
        *("1", "-1", "1e400", "0x1F", "\x00", "\x1b", "\ufeff", "\u2028", "\x85", "é", "日本", "🎈"),
        "# lint: ignore[SCH001]",
    ]
)
ODD: list[Json] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        10**20,
        1.5,
        "",
        "x",
        "${input}",
        "${1 +",
        "1h",
        "0s",
        "PT1M",
        "string",
    ),
    *([], {}, [[]], [1], {"a": 1}, {"when": "true", "dead_end": True}, {"channel": "x"}, {"timer": "1h"}),
]


def bounded(count: int) -> settings:
    return settings(
        max_examples=COUNT or count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def look(text: str, path: str = "fuzzed.flow.yaml") -> list[Problem]:
    """Everything that `lint` does to a text."""
    problems = lint_text(text, path)
    source = read_document(text, path)[0]
    for format in FORMATS:
        assert isinstance(render(problems, format, sources={path: source}, files=[path]), str)
    assert len(set(fingerprints(problems, {path: source}))) == len(problems)
    for problem in problems:
        assert problem.message
        assert problem.span.line >= 1 and problem.span.column >= 1
        assert (problem.span.line, problem.span.column) <= (problem.span.end_line, problem.span.end_column)
    return problems


@bounded(150)
@given(data=st.data())
def test_a_text_with_holes_and_strange_pieces_gives_problems(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.sampled_from([0, 0, 1, 2, 5, 30, 200]))
        text = text[:start] + data.draw(PIECES) + text[start + cut :]
    look(text)


@bounded(60)
@given(data=st.data())
def test_bytes_of_any_kind_give_problems(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from(TEXTS)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    flow, problems = _read_bytes("fuzzed.flow.yaml", bytes(raw))
    assert (flow is None) == bool(problems)


def _read_bytes(name: str, raw: bytes) -> tuple[object, list[Problem]]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, name)
        file.write_bytes(raw)
        flow, problems = read_file(file)
    if flow is not None:
        check_flow(flow)
    return flow, problems


@bounded(300)
@given(data=st.data())
def test_a_structure_put_together_otherwise_gives_problems(data: st.DataObject) -> None:
    node = copy.deepcopy(data.draw(st.sampled_from(NODES)))
    for _ in range(data.draw(st.integers(1, 4))):
        node = _mutated(data, node)
    text = yaml.safe_dump(node, sort_keys=False, allow_unicode=True)
    problems = look(text)
    if any(problem.fix is not None for problem in problems):
        fixed = fix_text(text, "fuzzed.flow.yaml", lambda problem: problem.fix is not None)
        left = look(fixed.after)
        assert refused(problems) or not refused(left), fixed.diff()


def refused(problems: list[Problem]) -> bool:
    return any(problem.severity == "error" and "loader" in finders(problem.code) for problem in problems)


def _mutated(data: st.DataObject, node: Json) -> Json:
    """Most of these keep the flow one that the loader accepts, so that the rules have something to see."""
    places = list(_places(node))
    path = data.draw(st.sampled_from(places))
    kind = data.draw(st.sampled_from(["name", "name", "like", "like", "delete", "twice", "odd"]))
    value = _at(node, path)
    if kind == "name" and isinstance(value, str):
        return _replaced(node, path, data.draw(st.sampled_from(_texts(node, path) or [value])))
    if kind == "like" and path:
        alike = [_at(node, other) for other in places if other and other[-1] == path[-1]]
        return _replaced(node, path, copy.deepcopy(data.draw(st.sampled_from(alike))))
    if kind == "delete" and path:
        return _without(node, path)
    if kind == "twice" and isinstance(value, list) and value:
        return _replaced(node, path, [*value, copy.deepcopy(data.draw(st.sampled_from(value)))])
    odd = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    return _replaced(node, path, odd) if kind == "odd" else node


def _places(node: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for part, value in entries for place in _places(value, (*path, part)))]


def _texts(node: Json, path: tuple[str | int, ...]) -> list[str]:
    """What stands under the same key elsewhere, and the names of steps."""
    found = [_at(node, other) for other in _places(node) if other and path and other[-1] == path[-1]]
    steps = node.get("steps") if isinstance(node, dict) else None
    return [*(text for text in found if isinstance(text, str)), *(steps if isinstance(steps, dict) else ())]


def _at(node: Json, path: tuple[str | int, ...]) -> Json:
    for part in path:
        node = node[part]
    return node


def _replaced(node: Json, path: tuple[str | int, ...], value: Json) -> Json:
    if not path:
        return value
    _at(node, path[:-1])[path[-1]] = value
    return node


def _without(node: Json, path: tuple[str | int, ...]) -> Json:
    del _at(node, path[:-1])[path[-1]]
    return node
