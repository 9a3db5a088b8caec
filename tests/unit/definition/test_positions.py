"""Where each key and value of a document stands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.definition.model import Json, Path
from orchestrator.definition.parse import read_document
from orchestrator.definition.problem import Span
from orchestrator.definition.source import Source

TEXT = """\
flow: F  # comment
types:
  T: {type: object, properties: {a: {type: string}}}
steps:
  Ünï:
    description: >-
      folded
      text

    "quoted key": 'it''s'
    list:
    - 1
    -   two
    - [x, {y: z}]
empty:
last: |
  block
"""


def read(text: str) -> tuple[Source, Json]:
    source, node, problems = read_document(text, "f")
    assert problems == []
    return source, node


def paths_of(node: Json, path: Path = ()) -> Iterator[Path]:
    yield path
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for part, value in entries:
        yield from paths_of(value, (*path, part))


def text_of(source: Source, span: Span) -> str:
    lines = source.lines[span.line - 1 : span.end_line]
    last = lines[-1][: span.end_column - 1]
    return (
        lines[0][span.column - 1 : span.end_column - 1]
        if len(lines) == 1
        else ("\n".join([lines[0][span.column - 1 :], *lines[1:-1], last]))
    )


def test_every_key_is_where_it_is_located() -> None:
    source, node = read(TEXT)
    found = 0
    for path in paths_of(node):
        if path and isinstance(path[-1], str):
            key = source.locate(path).key
            assert key is not None
            assert text_of(source, key).strip("\"'") == path[-1]
            found += 1
    assert found == 15


def test_every_scalar_is_where_it_is_located() -> None:
    source, node = read(TEXT)
    written = {
        ("flow",): "F",
        ("types", "T", "type"): "object",
        ("types", "T", "properties", "a", "type"): "string",
        ("steps", "Ünï", "description"): ">-\n      folded\n      text",
        ("steps", "Ünï", "quoted key"): "'it''s'",
        ("steps", "Ünï", "list", 0): "1",
        ("steps", "Ünï", "list", 1): "two",
        ("steps", "Ünï", "list", 2, 0): "x",
        ("steps", "Ünï", "list", 2, 1, "y"): "z",
        ("empty",): "",
        ("last",): "|\n  block",
    }
    scalars = [path for path in paths_of(node) if path in written]
    assert {path: text_of(source, source.locate(path).value) for path in scalars} == written


def test_mappings_and_lists_end_with_their_last_part() -> None:
    source, _ = read(TEXT)
    assert source.locate(("steps", "Ünï", "list")).value == Span(12, 5, 14, 18)
    assert source.locate(("types", "T")).value == Span(3, 6, 3, 53)
    assert source.locate(("steps",)).value == Span(5, 3, 14, 18)


def test_an_absent_path_is_located_at_the_nearest_enclosing_part() -> None:
    source, _ = read(TEXT)
    assert source.locate(("steps", "Ünï", "list", 9, "x")) == source.locate(("steps", "Ünï", "list"))
    assert source.locate(("nothing",)).value.line == 1


def test_an_alias_is_located_where_it_is_written_and_its_parts_where_the_anchor_is() -> None:
    source, _ = read("a: &x {b: 1}\nc: *x\n")
    assert source.locate(("c",)).value == Span(2, 4, 2, 6)
    assert source.locate(("c", "b")).value == Span(1, 11, 1, 12)


WITHIN = [
    ("a: hello world", "world", Span(1, 10, 1, 15)),
    ("a: 'it''s me'", "me", Span(1, 11, 1, 13)),
    ("a: '''x'' == y'", "y", Span(1, 14, 1, 15)),
    ('a: "say \\"hi\\" twice"', "twice", Span(1, 16, 1, 21)),
    ('a: "\\u0041B\\tC"', "C", Span(1, 14, 1, 15)),
    ("a: >-\n  one\n  two three", "three", Span(3, 7, 3, 12)),
    ("a: |\n    one\n      two\n", "two", Span(3, 7, 3, 10)),
    ("a: one\n  two", "two", Span(2, 3, 2, 6)),
    ("é: 日本 語", "語", Span(1, 7, 1, 8)),
]


@pytest.mark.parametrize(("text", "piece", "span"), WITHIN)
def test_a_piece_of_a_text_is_located_in_the_file(text: str, piece: str, span: Span) -> None:
    source, node = read(text)
    ((key, value),) = node.items()
    offset = value.index(piece)
    assert source.locate_within((key,), offset, offset + len(piece)) == span
