"""The symbol table: what is declared, where it is spoken of, whose name it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.mentions import read_symbols
from orchestrator.definition.symbols import Mention, Symbol, SymbolKind, SymbolTable
from tests.support.cursor import marked

ROOT = Path(__file__).parents[3]
FLOW = """\
flow: Shop
handlers: [shop.handlers]
types:
  Line: {type: object, properties: {next: {$ref: "#/types/Line"}}}
input: list of Line
attributes:
  total: {type: number, initial: 0.0}
  counts: {type: integer, map: true}
channels:
  paid: Line
joins:
  done: string
start: Ask
steps:
  Ask:
    input: Line or none
    wait_for:
      any_of:
        - {channel: paid}
        - {timer: 1h, id: late}
      local: {seen: "${channels.paid.size}"}
    execute: {handler: ask, may: {publish: {paid: 1}, cancel: [Ask]}, locks: [total, {counts: a}]}
    result: {name: answer, type: Line}
    let:
      double: ${answer.next}
    on_failure: Mend
    decide:
      - when: wait.late.satisfied && size(wait.paid.messages.filter(m, m.next != null)) > 0
        set:
          total: ${attributes.total + 1.0}
          counts: {"${local.seen}": "${attributes.counts[?'a'].orValue(0)}"}
        publish: [{channel: paid, for_each: "${input}", as: each, value: "${each}"}]
        report: {done: "${string(double)}"}
        cancel: [Mend]
        go_to_many: [Mend, {step: Ask, for_each: "${[1]}", when: item > 0}]
        join: done
      - go_to: {step: Mend, options: {on_failure: Ask}}
  Mend: {dead_end: true}
rpcs:
  look:
    returns: ${attributes.total}
verify:
  external: {paid: [1], look: [0]}
  properties: [{mutual_exclusion: [Ask, Mend]}, {conserved: paid}, {never: {step: Ask, with: Mend}}]
"""


def table_of(text: str) -> SymbolTable:
    table = read_symbols(text, "shop.flow.yaml")
    assert table is not None
    return table


@pytest.fixture(scope="module")
def table() -> SymbolTable:
    return table_of(FLOW)


def roles(table: SymbolTable, symbol: Symbol) -> list[str]:
    return [mention.role for mention in table.of(symbol) if not mention.is_declaration]


def test_every_declaration_is_found(table: SymbolTable) -> None:
    declared = {kind: table.declared(kind) for kind in SymbolKind}
    assert declared[SymbolKind.STEP] == ["Ask", "Mend"]
    assert declared[SymbolKind.CHANNEL] == ["paid"]
    assert declared[SymbolKind.ATTRIBUTE] == ["total", "counts"]
    assert declared[SymbolKind.JOIN] == ["done"]
    assert declared[SymbolKind.TYPE] == ["Line"]
    assert declared[SymbolKind.RPC] == ["look"]


def test_what_a_step_declares_is_its_own(table: SymbolTable) -> None:
    step = ("steps", "Ask")
    assert table.declared(SymbolKind.CONDITION, step) == ["paid", "late"]
    assert table.declared(SymbolKind.LOCAL, step) == ["seen"]
    assert table.declared(SymbolKind.LET, step) == ["double"]
    assert table.declared(SymbolKind.RESULT, step) == ["answer"]
    assert table.declared(SymbolKind.CONDITION) == []


def test_a_step_is_named_by_movements_routes_cancels_and_properties(table: SymbolTable) -> None:
    assert roles(table, Symbol(SymbolKind.STEP, "Mend")) == [
        "on_failure",
        "cancel",
        "go_to_many",
        "go_to",
        "mutual_exclusion",
        "with",
    ]
    assert roles(table, Symbol(SymbolKind.STEP, "Ask")) == [
        "start",
        "cancel",
        "go_to_many",
        "on_failure",
        "mutual_exclusion",
        "step",
    ]


def test_a_channel_is_named_by_waits_effects_expressions_and_properties(table: SymbolTable) -> None:
    assert roles(table, Symbol(SymbolKind.CHANNEL, "paid")) == [
        "any_of",
        "expression",
        "publish",
        "publish",
        "external",
        "conserved",
    ]


def test_an_attribute_is_named_by_locks_effects_and_expressions(table: SymbolTable) -> None:
    assert roles(table, Symbol(SymbolKind.ATTRIBUTE, "total")) == ["locks", "set", "expression", "expression"]
    assert roles(table, Symbol(SymbolKind.ATTRIBUTE, "counts")) == ["locks", "set", "expression"]


def test_names_in_expressions_belong_to_their_step(table: SymbolTable) -> None:
    step = ("steps", "Ask")
    assert roles(table, Symbol(SymbolKind.CONDITION, "late", step)) == ["expression"]
    assert roles(table, Symbol(SymbolKind.CONDITION, "paid", step)) == ["expression"]
    assert roles(table, Symbol(SymbolKind.LOCAL, "seen", step)) == ["expression"]
    assert roles(table, Symbol(SymbolKind.LET, "double", step)) == ["expression"]
    assert roles(table, Symbol(SymbolKind.RESULT, "answer", step)) == ["expression"]


def test_the_element_of_a_for_each_is_known_beside_it_only(table: SymbolTable) -> None:
    each = next(
        m.symbol for m in table.mentions if m.symbol == Symbol(SymbolKind.ELEMENT, "each", m.symbol.scope)
    )
    assert each.scope[-2:] == ("publish", 0)
    assert roles(table, each) == ["expression"]
    items = [m for m in table.mentions if m.symbol.kind is SymbolKind.ELEMENT and m.symbol.name == "item"]
    assert [mention.is_written for mention in items] == [False, True]


def test_a_variable_of_a_macro_is_no_name_of_the_flow(table: SymbolTable) -> None:
    assert not [mention for mention in table.mentions if mention.symbol.name == "m"]


def test_types_are_found_in_text_and_in_references(table: SymbolTable) -> None:
    lines = [mention.span.line for mention in table.of(Symbol(SymbolKind.TYPE, "Line"))]
    assert lines == [4, 4, 5, 10, 16, 23]


def test_a_span_is_the_name_alone(table: SymbolTable) -> None:
    written = [mention for mention in table.mentions if mention.is_written]
    for mention in written:
        name = mention.symbol.name.rpartition(".")[2] if mention.chain else mention.symbol.name
        assert table.source.text_at(mention.span) == name


@pytest.mark.parametrize(
    "line",
    [
        'until: {channel: "an¦swer"}',
        "until: {channel: 'an¦swer'}",
        "until: {channel: an¦swer}",
        'until: {"channel": an¦swer}',
    ],
)
def test_quotes_are_no_part_of_a_name(line: str) -> None:
    text, row, column, _ = marked(
        f"flow: F\nchannels: {{answer: string}}\nsteps:\n  A:\n    wait_for: {{{line}}}\n"
    )
    table = table_of(text)
    mention = table.at(row, column)
    assert mention is not None
    assert mention.symbol == Symbol(SymbolKind.CHANNEL, "answer")
    assert table.source.text_at(mention.span) == "answer"


def test_a_name_in_a_folded_block_is_found_where_it_stands() -> None:
    text, row, column, _ = marked(
        "flow: F\nattributes: {n: integer, m: integer}\nsteps:\n  A:\n    when: >-\n"
        "      attributes.n == 1\n      && attributes.¦m == 2\n    dead_end: true\n"
    )
    mention = table_of(text).at(row, column)
    assert mention is not None
    assert mention.symbol == Symbol(SymbolKind.ATTRIBUTE, "m")
    assert (mention.span.line, mention.span.column) == (row, column)


def test_ids_of_conditions_default_to_what_they_wait_for() -> None:
    table = table_of(
        "flow: F\nchannels: {a: string}\nsteps:\n  A:\n    wait_for:\n      all_of:\n"
        "        - {channel: a}\n        - {channel: a}\n        - {timer: 1s}\n"
        "        - {timer: 2s, id: a_2}\n"
    )
    assert table.declared(SymbolKind.CONDITION, ("steps", "A")) == ["a", "a_3", "timer", "a_2"]


def test_the_narrowest_mention_is_meant(table: SymbolTable) -> None:
    text, row, column, _ = marked(FLOW.replace("wait.late.sat", "wait.la¦te.sat"))
    mention = table_of(text).at(row, column)
    assert mention is not None
    assert mention.chain == ("wait", "late")


@pytest.mark.parametrize("text", ["a: [", "{", "\t- [", "a: b: c"])
def test_what_is_not_yaml_has_no_table(text: str) -> None:
    assert read_symbols(text, "x.flow.yaml") is None


@pytest.mark.parametrize(
    "text", ["- a", "7", "flow: [1]", "steps: [a]", "steps: {A: 3}", "steps: {A: {decide: x, let: [1]}}"]
)
def test_a_document_of_another_shape_has_an_empty_table(text: str) -> None:
    assert [m for m in table_of(text).mentions if m.symbol.kind is not SymbolKind.STEP] == []


def test_a_flow_with_problems_has_its_symbols() -> None:
    table = table_of("flow: F\nstart: Nowhere\nsteps:\n  A:\n    go_to: B\n    colour: red\n  B: {}\n")
    assert table.declared(SymbolKind.STEP) == ["A", "B"]
    assert table.of(Symbol(SymbolKind.STEP, "Nowhere"))[0].role == "start"


@pytest.mark.parametrize("path", sorted((ROOT / "flows").rglob("*.flow.yaml")), ids=lambda path: path.stem)
def test_every_name_of_the_flows_is_declared(path: Path) -> None:
    table = table_of(path.read_text(encoding="utf-8"))
    kinds = {
        SymbolKind.STEP,
        SymbolKind.CHANNEL,
        SymbolKind.ATTRIBUTE,
        SymbolKind.JOIN,
        SymbolKind.TYPE,
        SymbolKind.CONDITION,
        SymbolKind.ELEMENT,
        SymbolKind.RESULT,
        SymbolKind.LET,
    }

    def is_lost(mention: Mention) -> bool:
        return mention.symbol.kind in kinds and table.declaration(mention.symbol) is None

    assert [mention for mention in table.mentions if is_lost(mention)] == []


def test_the_innermost_key_or_value_of_a_place(table: SymbolTable) -> None:
    assert table.source.path_at(7, 4) == (("attributes", "total"), True)
    assert table.source.path_at(7, 12) == (("attributes", "total", "type"), True)
    assert table.source.path_at(7, 40) is not None
    assert table.source.path_at(999, 1) is None
