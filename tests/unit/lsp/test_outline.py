"""The tree of a flow."""

from __future__ import annotations

from orchestrator.lsp.document import Document
from orchestrator.lsp.outline import OutlineItem, outline_of

TEXT = """\
flow: F
types:
  T: string
attributes:
  n: {type: integer}
channels:
  paid: T
start: A
steps:
  A:
    wait_for: {until: {channel: paid}}
    execute: {handler: m:f}
    decide:
      - go_to: B
  B: {wait_for: {any_of: [{timer: 1s}]}, dead_end: true}
rpcs:
  look: {returns: 1}
on_timeout: {execute: m:g, dead_end: true}
"""


def lines(items: tuple[OutlineItem, ...] | list[OutlineItem], indent: str = "") -> list[str]:
    found = []
    for item in items:
        found.append(f"{indent}{item.kind} {item.name} {item.detail}".rstrip())
        found += lines(item.children, indent + "  ")
    return found


def test_sections_their_entries_and_the_parts_of_steps() -> None:
    assert lines(outline_of(Document("f.flow.yaml", TEXT))) == [
        "property flow F",
        "section types 1",
        "  type T",
        "section attributes 1",
        "  attribute n integer",
        "section channels 1",
        "  channel paid T",
        "property start A",
        "section steps 2",
        "  step A",
        "    method wait_for channel paid",
        "    method execute m:f",
        "    method decide 1 decisions",
        "  step B",
        "    method wait_for any_of",
        "section rpcs 1",
        "  rpc look",
        "step on_timeout",
        "  method execute m:g",
    ]


def test_the_name_lies_within_its_item() -> None:
    def check(items: tuple[OutlineItem, ...]) -> None:
        for item in items:
            start, end = (item.span.line, item.span.column), (item.span.end_line, item.span.end_column)
            assert start <= (item.name_span.line, item.name_span.column)
            assert (item.name_span.end_line, item.name_span.end_column) <= end
            check(item.children)

    check(tuple(outline_of(Document("f.flow.yaml", TEXT))))
    check(tuple(outline_of(Document("f.flow.yaml", "flow: F\nsteps:\n  A:\n  B:\nchannels: {}\n"))))


def test_a_document_that_is_no_mapping_has_none() -> None:
    assert outline_of(Document("f.flow.yaml", "- a")) == []
