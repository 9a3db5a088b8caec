"""What may be written at the cursor, also in the middle of a line that is no YAML yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.lsp.completion import complete_at
from orchestrator.lsp.document import Document
from tests.support.cursor import marked

HEAD = """\
flow: Shop
handlers: shop
types:
  Order: {type: object, properties: {item: {type: string}, count: {type: integer}}}
input: Order
attributes:
  total: {type: number, initial: 0.0}
  counts: {type: integer, map: true}
channels:
  paid: Order
  sent: string
joins:
  done: string
start: Ask
"""
STEPS = """\
steps:
  Ask:
    input: Order
    wait_for:
      any_of: [{channel: paid}, {timer: 1h, id: late}]
      local: {seen: 1}
    execute: ask
    result: {name: answer, type: Order}
    let: {twice: "${answer.count * 2}"}
"""
REST = """\
  Mend:
    dead_end: true
"""
GOOD = f"{HEAD}{STEPS}    go_to: Mend\n{REST}"


def propose(
    line: str, *, before: str = HEAD + STEPS, after: str = REST, roots: tuple[Path, ...] = ()
) -> list[str]:
    """The labels, with `line` between `before` and `after`, typed after a text that was good."""
    text, _, _, offset = marked(f"{before}{line}\n{after}")
    document = Document("/nowhere/shop.flow.yaml", text, Document("/nowhere/shop.flow.yaml", GOOD))
    return [proposal.label for proposal in complete_at(document, offset, roots).proposals]


@pytest.mark.parametrize(
    "line",
    [
        "    go_to: ¦",
        "    go_to: M¦",
        "    go_to: {step: ¦}",
        "    go_to: {step: ¦",
        '    go_to: {step: "¦',
        "    go_to:\n      step: ¦",
        "    on_failure: ¦",
        "    cancel: [¦]",
        "    cancel: [¦",
        "    cancel:\n      - ¦",
        "    go_to_many:\n      - ¦",
        "    go_to_many:\n      - step: ¦",
        "    go_to_many:\n      - {step: Ask, options: {on_failure: ¦",
    ],
)
def test_steps_where_a_step_is_named(line: str) -> None:
    proposals = propose(line)
    assert {"Ask", "Mend"} <= set(proposals)
    assert not {"paid", "total", "done"} & set(proposals)


@pytest.mark.parametrize(
    "line",
    [
        "    publish: {¦",
        "    publish: {¦}",
        "    publish:\n      ¦",
        "    publish:\n      p¦",
        "    publish:\n      - {channel: ¦",
        "    publish:\n      - channel: ¦",
        "    force_complete_if_channels_empty: {channels: [¦",
    ],
)
def test_channels_where_a_channel_is_named(line: str) -> None:
    proposals = propose(line)
    assert {"paid", "sent"} <= set(proposals)
    assert not {"Ask", "total"} & set(proposals)


def test_attributes_joins_and_types() -> None:
    assert {"total", "counts"} <= set(propose("    set: {¦"))
    assert propose("    report: {¦") == ["done"]
    assert {"Order", "string", "list of"} <= set(propose("    input: ¦", before=HEAD + "steps:\n  Ask:\n"))
    assert "Order" in propose("    result: {name: answer, type: list of ¦", before=HEAD + "steps:\n  Ask:\n")


def test_a_name_that_is_there_already_is_not_offered_again() -> None:
    assert propose("    publish: {paid: 1, ¦}") == ["sent"]
    assert "Ask" not in propose("    cancel: [Ask, ¦]")


def test_the_keys_of_a_step_that_it_has_not_yet() -> None:
    for line in ("    ¦", "    on_f¦", "    on_f¦\n    go_to: Mend"):
        proposals = propose(line)
        assert {"on_failure", "decide", "publish"} <= set(proposals)
        assert "execute" not in proposals


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("    decide:\n      - ¦", {"when", "choice", "go_to", "dead_end", "force_fail"}),
        ("    decide:\n      - when: true\n        ¦", {"choice", "go_to", "dead_end"}),
        ("    go_to: {¦", {"step", "input", "options"}),
        ("    go_to: {step: Mend, ¦}", {"input", "options"}),
        ("    on_failure: {step: Mend, options: {execute: {¦", {"retry", "timeout"}),
    ],
)
def test_the_keys_of_each_place(line: str, keys: set[str]) -> None:
    assert keys <= set(propose(line))


def test_the_keys_of_a_condition_are_those_of_its_kind() -> None:
    before = HEAD + "steps:\n  Ask:\n    wait_for:\n"
    assert {"for", "at_least"} <= set(propose("      until: {channel: paid, ¦", before=before))
    assert "for" not in propose("      until: {timer: 1h, ¦", before=before)
    assert {"channel", "timer", "subflow", "join"} <= set(propose("      until: {¦", before=before))


def test_the_keys_at_the_top_and_of_declarations() -> None:
    assert {"joins", "steps"} - set(propose("¦", before="flow: F\n", after="")) == set()
    assert {"external", "delivery"} <= set(propose("  more: {type: string, ¦", before="flow: F\nchannels:\n"))


def test_the_words_of_a_key() -> None:
    before = "flow: F\nchannels:\n"
    assert propose("  a: {type: string, delivery: ¦", before=before) == ["queued", "transient", "latest"]
    assert propose("  a: {type: string, external: ¦}", before=before) == ["true", "false"]
    assert propose("    dead_end: ¦") == ["true"]


def test_an_example_of_a_duration() -> None:
    assert "30m" in propose("    execute: {handler: ask, timeout: ¦", before=HEAD + "steps:\n  Ask:\n")


@pytest.mark.parametrize(
    "line",
    ["    when: ¦", "    go_to: {step: Mend, input: '${¦", "    graceful_complete: ${1 + ¦}"],
)
def test_the_names_that_an_expression_sees(line: str) -> None:
    proposals = propose(line)
    assert {"input", "wait", "attributes", "answer", "twice", "size"} <= set(proposals)
    assert "item" not in proposals


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("wait.¦", {"paid", "late"}),
        ("wait.paid.¦", {"satisfied", "messages", "message"}),
        ("wait.paid.message.¦", {"item", "count"}),
        ("wait.paid.messages[0].¦", {"item", "count"}),
        ("size(wait.paid.messages) > 0 && answer.¦", {"item", "count"}),
        ("wait.paid.messages.filter(m, m.¦", {"item", "count"}),
        ("attributes.¦", {"total", "counts"}),
        ("channels.¦", {"paid", "sent"}),
        ("local.¦", {"seen"}),
        ("input.?¦", {"item", "count"}),
        ("run.¦", {"flow_id", "started_at"}),
        ("wait.paid.messages.¦", {"size", "map", "filter"}),
    ],
)
def test_what_follows_a_dot(expression: str, names: set[str]) -> None:
    assert names <= set(propose(f"    when: {expression}"))


def test_the_element_of_a_for_each() -> None:
    line = (
        '    go_to_many:\n      - {step: Mend, for_each: "${wait.paid.messages}", as: each, input: "${each.¦'
    )
    assert {"item", "count"} <= set(propose(line))


def test_nothing_of_expressions_outside_of_one() -> None:
    assert "attributes" not in propose('    force_fail: "${input.item} ¦"')
    assert "attributes" not in propose('    force_fail: "$${¦"')


def test_handlers_of_the_modules(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def ask(x): ...\nasync def tell(x): ...\ndef _own(): ...\n")
    before = HEAD + "steps:\n  Ask:\n"
    assert propose("    execute: ¦", before=before, roots=(tmp_path,)) == ["ask", "tell"]


def test_flows_beside_for_a_subflow(tmp_path: Path) -> None:
    (tmp_path / "child.flow.yaml").write_text("flow: Child\n")
    text, _, _, offset = marked("flow: F\nsteps:\n  A:\n    wait_for:\n      until: {subflow: ¦}\n")
    document = Document(str(tmp_path / "f.flow.yaml"), text)
    assert "Child" in [proposal.label for proposal in complete_at(document, offset).proposals]


def test_the_word_under_the_cursor_is_replaced() -> None:
    text, _, _, offset = marked(f"{HEAD}{STEPS}    go_to: Me¦nd\n{REST}")
    found = complete_at(Document("x.flow.yaml", text), offset)
    assert text[found.start : found.end] == "Mend"


def test_a_key_gets_its_colon_once() -> None:
    def texts(line: str) -> dict[str, str]:
        text, _, _, offset = marked(f"{HEAD}{STEPS}{line}\n{REST}")
        return {
            each.label: each.new_text for each in complete_at(Document("x.flow.yaml", text), offset).proposals
        }

    assert texts("    on¦")["on_failure"] == "on_failure: "
    assert texts("    on¦: Mend")["on_failure"] == "on_failure"
    assert texts("    ¦")["dead_end"] == "dead_end: true"


def test_a_text_broken_elsewhere_is_no_hindrance() -> None:
    assert {"Ask", "Mend"} <= set(propose("    go_to: ¦", after="  Mend: [\n  : x\n"))
    assert {"Ask", "Mend"} <= set(propose("    go_to: ¦", before=HEAD + "steps:\n  Ask:\n    x: [\n"))


def test_messages_and_writes_are_keys_not_bare_names() -> None:
    text, _, _, offset = marked(f"{HEAD}{STEPS}    publish:\n      p¦\n{REST}")
    found = complete_at(Document("x.flow.yaml", text), offset)
    assert {proposal.label: proposal.new_text for proposal in found.proposals}["paid"] == "paid: "


def test_keywords_and_words_of_json_schema() -> None:
    before = "flow: F\ntypes:\n"
    assert {"properties", "required", "format"} <= set(propose("  T: {type: object, ¦", before=before))
    assert "integer" in propose("  T: {type: ¦", before=before)
    assert "date-time" in propose("  T: {type: string, format: ¦", before=before)
    assert "properties" not in propose("  T: {properties: {¦", before=before)
    assert '"#/types/T"' in propose("  T: {items: {$ref: ¦", before=before)


def test_words_that_handlers_choose(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "def ask(x):\n    if x:\n        return choose('yes', 1)\n    return orchestrator.choose('no')\n"
    )
    assert propose("    decide:\n      - choice: ¦", roots=(tmp_path,)) == ["yes", "no"]


@pytest.mark.parametrize(
    "line", ["    # a comment ¦", "    go_to: Mend   # ¦", "    description: Once upon a ¦"]
)
def test_nothing_in_comments_and_descriptions(line: str) -> None:
    before = HEAD + "steps:\n  Ask:\n"
    assert propose(line, before=before) == []


TYPED = """\
flow: Shop
types:
  Order:
    type: object
    properties:
      item: {type: string, description: What is bought.}
      state: {enum: [open, paid]}
      gift: {type: boolean}
      parts: {type: array, items: {$ref: "#/types/Order"}}
output: Order
attributes:
  last: Order
  by_name: {type: Order, map: true}
channels:
  paid: Order
  by_shop: {type: Order, map: true}
joins:
  done: Order
steps:
  Ask:
    input: Order
    dead_end: true
  Now:
"""


@pytest.mark.parametrize(
    "line",
    [
        "    graceful_complete: {¦",
        "    graceful_complete:\n      ¦",
        "    graceful_complete: {parts: [{¦",
        "    force_complete_if_channels_empty: {output: {¦",
        "    publish: {paid: {¦",
        "    publish: {by_shop: {one: {¦",
        "    publish: [{channel: paid, value: {¦",
        "    publish: [{channel: by_shop, key: a, value: {¦",
        "    set: {last: {¦",
        "    set: {by_name: {one: {¦",
        "    set: [{attribute: by_name, key: a, value: {¦",
        "    report: {done: {¦",
        "    go_to: {step: Ask, input: {¦",
        "    go_to_many: [{step: Ask, input: {¦",
        "    decide:\n      - go_to:\n          step: Ask\n          input:\n            ¦",
    ],
)
def test_members_of_the_type_that_a_place_asks(line: str) -> None:
    proposals = propose(line, before=TYPED, after="")
    assert {"item", "state", "gift", "parts"} <= set(proposals)


def test_members_that_are_there_are_not_offered_again() -> None:
    assert "item" not in propose("    graceful_complete: {item: a, ¦", before=TYPED, after="")


def test_words_of_the_type_that_a_place_asks() -> None:
    assert propose("    graceful_complete: {state: ¦", before=TYPED, after="") == ["open", "paid"]
    assert propose("    publish: {paid: {gift: ¦", before=TYPED, after="") == ["true", "false"]


def test_a_map_has_no_members_without_its_key() -> None:
    assert "item" not in propose("    publish: {by_shop: {¦", before=TYPED, after="")


def test_what_a_handler_may_is_no_value() -> None:
    line = "    execute: {handler: ask, may: {publish: {paid: {¦"
    assert set(propose(line, before=TYPED, after="")) == {"min", "max"}


@pytest.mark.parametrize(
    "line", ["    go_to: ¦", "    go_to: {step: ¦", "    cancel: [¦", "    on_failure: M¦"]
)
def test_line_breaks_of_another_system(line: str) -> None:
    text, _, _, offset = marked(f"{HEAD}{STEPS}{line}\n{REST}".replace("\n", "\r\n"))
    found = complete_at(Document("x.flow.yaml", text), offset)
    assert {"Ask", "Mend"} <= {proposal.label for proposal in found.proposals}
