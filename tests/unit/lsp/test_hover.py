"""What the editor says about a name, a key, a value."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.lsp.document import Document
from orchestrator.lsp.hover import hover_at, spell_span
from orchestrator.lsp.schema_places import describe_place
from tests.support.cursor import marked

FLOW = """\
flow: Shop
handlers: shop
types:
  Order: {type: object, required: [item], properties: {item: {type: string}, count: {type: integer}}}
input: Order
attributes:
  total: {type: number, initial: 0.0, description: What it costs.}
channels:
  paid: {type: Order, external: true}
joins:
  done: string
start: Ask
steps:
  Ask:
    description: Asks for the money.
    input: Order
    wait_for:
      any_of:
        - {channel: paid, for: 2}
        - {timer: 90m, id: late}
    execute: {handler: ask, retry: {initial_interval: 1.5s}}
    result: {name: answer, type: Order}
    let:
      twice: ${answer.count * 2}
    on_failure: Mend
    decide:
      - when: wait.late.satisfied
        set: {total: 1.0}
        go_to: Mend
      - go_to_many:
          - {step: Mend, for_each: "${wait.paid.messages}", as: each, when: each.count > twice}
          - step: Ask
  Mend: {dead_end: true}
rpcs:
  look: {output: number, returns: "${attributes.total}"}
"""


def hover(old: str, new: str, *roots: Path) -> str:
    """With the cursor where `new` has it, in the text with `old` replaced."""
    assert old in FLOW
    text, line, column, _ = marked(FLOW.replace(old, new, 1))
    assert text == FLOW
    found = hover_at(Document("/nowhere/shop.flow.yaml", text), line, column, roots)
    return found.text if found is not None else ""


def test_a_step_says_what_it_waits_for_and_where_it_leads() -> None:
    text = hover("  Ask:\n", "  As¦k:\n")
    assert "**step** `Ask`" in text
    assert "Asks for the money." in text
    assert "input: `Order`" in text
    assert "any of channel `paid` (for 2); timer `90m`" in text
    assert "handler: `ask`" in text
    assert "→ `Mend` (on_failure, go_to, go_to_many)" in text
    assert "← `Ask` (go_to_many)" in text
    assert "← start of the flow" in text


def test_a_reference_says_what_the_declaration_does() -> None:
    assert hover("on_failure: Mend", "on_failure: M¦end") == hover("  Mend:", "  ¦Mend:")


def test_a_channel_says_who_publishes_and_awaits() -> None:
    text = hover("  paid: {", "  p¦aid: {")
    assert "**channel** `paid`: `Order`" in text
    assert "`external: true`" in text
    assert "awaited by `Ask`" in text


def test_an_attribute_says_who_sets_and_reads() -> None:
    text = hover("attributes.total", "attributes.to¦tal")
    assert "**attribute** `total`: `number`" in text
    assert "What it costs." in text
    assert "set by `Ask`" in text
    assert "read by `look`" in text


def test_a_type_lists_its_members() -> None:
    text = hover("type: Order, ext", "type: Or¦der, ext")
    assert "- `item`: `string`\n" in text
    assert "- `count`: `integer` (may be absent)" in text


def test_a_condition_says_what_it_waits_for() -> None:
    assert "waits for timer `90m`" in hover("wait.late", "wait.la¦te")
    assert "default" in hover("wait.paid.m", "wait.pa¦id.m")


@pytest.mark.parametrize(
    ("old", "new", "type_"),
    [
        ("answer.count * 2", "ans¦wer.count * 2", "Order"),
        ("answer.count * 2", "answer.co¦unt * 2", "integer"),
        ("wait.paid.messages", "wait.paid.mess¦ages", "list of Order"),
        ("as: each", "as: ea¦ch", "Order"),
        ("each.count >", "eac¦h.count >", "Order"),
        ("> twice", "> tw¦ice", "integer"),
        ("late.satisfied", "late.satis¦fied", "boolean"),
    ],
)
def test_a_name_of_an_expression_has_its_type(old: str, new: str, type_: str) -> None:
    assert f"type: `{type_}`" in hover(old, new)


def test_the_type_of_an_object_is_its_members() -> None:
    text = hover("wait.late", "wa¦it.late")
    assert "- `late`" in text
    assert "The results of the wait" in text


def test_a_key_is_described_by_the_schema() -> None:
    text = hover("on_failure: Mend", "on_fai¦lure: Mend")
    assert text.startswith("**on_failure**\n\n")
    assert describe_place({}, ("steps", "Ask", "on_failure")) in text


def test_a_key_says_its_words_and_its_default() -> None:
    text = hover("external: true", "exter¦nal: true")
    assert "One of `true`, `false`." in text
    assert "Default: `false`" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("timer: 90m", "timer: 9¦0m", "1 hour 30 minutes"),
        ("initial_interval: 1.5s", "initial_in¦terval: 1.5s", "1 second 500 milliseconds"),
    ],
)
def test_a_duration_is_spelt_out(old: str, new: str, said: str) -> None:
    assert said in hover(old, new)


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (timedelta(0), "no time at all"),
        (timedelta(days=2, seconds=1), "2 days 1 second"),
        (timedelta(microseconds=1500), "1.5 milliseconds"),
    ],
)
def test_spans_in_words(span: timedelta, said: str) -> None:
    assert spell_span(span) == said


def test_a_handler_shows_its_signature(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text('def ask(order: dict) -> dict:\n    """Ask nicely."""\n')
    text = hover("handler: ask", "handler: a¦sk", tmp_path)
    assert "def ask(order: dict) -> dict" in text
    assert "Ask nicely." in text


def test_a_handler_that_is_not_there_is_said_so() -> None:
    assert "No Python function" in hover("handler: ask", "handler: a¦sk")


def test_nothing_is_said_of_white_space() -> None:
    text, line, column, _ = marked(FLOW + "\n\n¦\n")
    assert hover_at(Document("x.flow.yaml", text), line, column) is None


def test_a_member_of_a_value_has_the_type_that_its_place_asks() -> None:
    text, line, column, _ = marked(
        FLOW.replace("set: {total: 1.0}", "set: {total: 1.0}\n        publish: {paid: {cou¦nt: 1}}")
    )
    found = hover_at(Document("x.flow.yaml", text), line, column)
    assert found is not None
    assert "`count`\n\ntype: `integer`" in found.text


def test_a_subflow_shows_its_file(tmp_path: Path) -> None:
    (tmp_path / "child.flow.yaml").write_text("flow: Child\ndescription: Does the work.\n")
    text, line, column, _ = marked("flow: F\nsteps:\n  A:\n    wait_for: {until: {subflow: Ch¦ild}}\n")
    found = hover_at(Document(str(tmp_path / "f.flow.yaml"), text), line, column)
    assert found is not None
    assert "Does the work." in found.text
    assert "child.flow.yaml" in found.text


def test_the_flow_counts_its_parts() -> None:
    text = hover("flow: Shop", "flow: Sh¦op")
    assert "input: `Order`" in text
    assert "2 steps, 1 rpcs, 1 channels, 1 attributes" in text
