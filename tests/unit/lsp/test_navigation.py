"""From a name to its declaration, and to everything that speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.definition.problem import Span
from orchestrator.definition.source import Source
from orchestrator.lsp.document import Document
from orchestrator.lsp.navigation import Target, find_definition, find_references
from tests.support.cursor import marked

FLOW = """\
flow: Shop
handlers: [shop.more, shop.main]
types:
  Order: {type: object, properties: {item: {type: string}}}
input: Order
attributes:
  total: {type: number}
channels:
  paid: Order
start: Ask
steps:
  Ask:
    input: Order
    wait_for:
      any_of: [{channel: paid}, {timer: 1h, id: late}, {subflow: Child}]
    execute: {handler: ask}
    result: {name: answer, type: Order}
    let: {twice: "${answer.item}"}
    on_failure: Mend
    when: wait.late.satisfied || wait.paid.message.item == twice
    set: {total: "${attributes.total + 1.0}"}
    go_to_many: [{step: Mend, for_each: "${[input]}", as: each, input: "${each}"}]
  Mend:
    execute: shop.main:Desk.mend
    dead_end: true
"""


def definition(old: str, new: str, file: Path | None = None) -> Target | None:
    text, line, column, _ = marked(FLOW.replace(old, new, 1))
    assert text == FLOW
    path = file or Path("/nowhere/shop.flow.yaml")
    return find_definition(Document(str(path), text), line, column, [path.parent])


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("on_failure: Mend", "on_failure: Me¦nd", 23, "Mend"),
        ("start: Ask", "start: ¦Ask", 12, "Ask"),
        ("{channel: paid}", "{channel: paid¦}", 9, "paid"),
        ("set: {total", "set: {to¦tal", 7, "total"),
        ("attributes.total", "attributes.tot¦al", 7, "total"),
        ("paid: Order", "paid: Or¦der", 4, "Order"),
        ("wait.late", "wait.la¦te", 15, "late"),
        ("wait.paid", "wait.pa¦id", 15, "paid"),
        ("answer.item", "ans¦wer.item", 17, "answer"),
        ("== twice", "== tw¦ice", 18, "twice"),
        ("${each}", "${ea¦ch}", 22, "each"),
        ("[input]", "[in¦put]", 13, "input"),
        ("wait.late", "wa¦it.late", 14, "wait_for"),
        ("attributes.total", "attri¦butes.total", 6, "attributes"),
    ],
)
def test_a_name_leads_to_its_declaration(old: str, new: str, line: int, word: str) -> None:
    target = definition(old, new)
    assert target is not None
    assert target.file == "/nowhere/shop.flow.yaml"
    assert (target.span.line, Source("", FLOW).text_at(target.span)) == (line, word)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "main.py").write_text(
        "raise SystemExit('importing me is a mistake')\n\n\ndef ask(order):\n    return order\n\n\n"
        "class Desk:\n    async def mend(self): ...\n"
    )
    (tmp_path / "shop" / "more.py").write_text("raise SystemExit(1)\n")
    (tmp_path / "child.flow.yaml").write_text("# a child\nflow: Child\n")
    return tmp_path / "shop.flow.yaml"


def test_a_handler_leads_to_its_function_without_importing_it(project: Path) -> None:
    target = definition("handler: ask", "handler: as¦k", project)
    assert target == Target(str(project.parent / "shop" / "main.py"), Span(4, 5, 4, 8))


def test_a_handler_with_a_module_leads_into_a_class(project: Path) -> None:
    target = definition("Desk.mend", "Desk.me¦nd", project)
    assert target == Target(str(project.parent / "shop" / "main.py"), Span(9, 15, 9, 19))


def test_a_module_leads_to_its_file(project: Path) -> None:
    target = definition("shop.more", "shop.mo¦re", project)
    assert target is not None
    assert target.file == str(project.parent / "shop" / "more.py")


def test_a_subflow_leads_to_its_file(project: Path) -> None:
    target = definition("subflow: Child", "subflow: Ch¦ild", project)
    assert target == Target(str(project.parent / "child.flow.yaml"), Span(2, 7, 2, 12))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("handler: ask", "handler: a¦sk"),
        ("subflow: Child", "subflow: C¦hild"),
        ("dead_end: true", "dead_end: tr¦ue"),
    ],
)
def test_what_is_not_there_leads_nowhere(old: str, new: str) -> None:
    assert definition(old, new) is None


def references(old: str, new: str, *, has_declaration: bool = True) -> list[tuple[int, int]]:
    text, line, column, _ = marked(FLOW.replace(old, new, 1))
    document = Document("/nowhere/shop.flow.yaml", text)
    found = find_references(document, line, column, has_declaration=has_declaration)
    return [(target.span.line, target.span.column) for target in found]


def test_references_of_a_step() -> None:
    assert references("  Mend:", "  Me¦nd:") == [(19, 17), (22, 25), (23, 3)]
    assert references("  Mend:", "  Me¦nd:", has_declaration=False) == [(19, 17), (22, 25)]


def test_references_of_an_attribute_count_expressions() -> None:
    assert references("  total:", "  to¦tal:") == [(7, 3), (21, 11), (21, 32)]


def test_there_are_none_of_nothing() -> None:
    assert references("dead_end: true", "dead_end: tr¦ue") == []


def test_a_choice_leads_to_where_a_handler_says_it(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def ask():\n    return choose('yes', 1)\n")
    text, line, column, _ = marked(
        "flow: F\nhandlers: shop\nsteps:\n  A:\n    execute: ask\n"
        "    decide:\n      - {choice: y¦es, dead_end: true}\n"
    )
    target = find_definition(Document(str(tmp_path / "f.flow.yaml"), text), line, column, [tmp_path])
    assert target is not None
    assert (target.file, target.span.line) == (str(tmp_path / "shop.py"), 2)
