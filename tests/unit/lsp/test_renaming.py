"""A new name everywhere, or a refusal that says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Edit, Fix
from orchestrator.definition.symbols import Symbol, SymbolKind
from orchestrator.lint.fixing import apply_fixes
from orchestrator.lsp.document import Document
from orchestrator.lsp.rehearsal_renaming import rehearsal_edits
from orchestrator.lsp.renaming import RenameRefused, Renaming, find_renamed, rename
from tests.support.cursor import marked

PATH = "/nowhere/shop.flow.yaml"
FLOW = """\
flow: Shop
types:
  Order: {type: object, properties: {next: {$ref: "#/types/Order"}, "n o": {type: string}}}
input: list of Order
attributes:
  total: {type: number, initial: 0.0}
channels:
  paid: Order                  # the money
joins:
  done: string
start: Ask
steps:
  Ask:
    wait_for:
      any_of:
        - channel: paid
        - {timer: 1h}
      local: {seen: "${channels.paid.size}"}
    execute: {handler: ask, may: {publish: {paid: 1}}}
    result: {name: answer, type: Order or none}
    let: {twice: "${attributes.total * 2.0}"}
    on_failure: Mend
    decide:
      - when: wait.timer.satisfied || local.seen > 3
        set: {total: "${twice}"}
        graceful_complete: ${answer}
      - when: size(wait.paid.messages) > 1
        go_to_many: [{step: Mend, for_each: "${wait.paid.messages}", as: each, when: each.next != null}]
        join: done
        otherwise: {dead_end: true}
      - go_to: Close
  Mend: {report: {done: "x"}, dead_end: true}
  Close:
    wait_for: {until: {join: done, need: active}}
    graceful_complete: ${wait.done.messages}
rpcs:
  look: {output: number, returns: "${attributes.total}"}
"""


def renamed(old: str, new: str, name: str, text: str = FLOW) -> str:
    """The text after a rename at the cursor in `new`."""
    renaming = rename_at(old, new, name, text)
    assert set(renaming.edits) == {PATH}
    return apply_fixes(text, [Fix("", tuple(renaming.edits[PATH]), is_safe=False)])


def rename_at(old: str, new: str, name: str, text: str = FLOW) -> Renaming:
    assert old in text
    found, line, column, _ = marked(text.replace(old, new, 1))
    assert found == text
    document = Document(PATH, text)
    return rename(document, find_renamed(document, line, column), name)


def refusal(old: str, new: str, name: str = "Fresh", text: str = FLOW) -> str:
    with pytest.raises(RenameRefused) as refused:
        rename_at(old, new, name, text)
    return refused.value.message


def test_the_flow_is_a_good_one() -> None:
    assert parse(FLOW, PATH)[1] == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("  Mend:", "  Me¦nd:", "Mend"),
        ("input: list of Order", "input: list of Or¦der", "Order"),
        ("attributes.total", "attributes.to¦tal", "total"),
        ("  done:", "  do¦ne:", "done"),
        ("  look:", "  lo¦ok:", "look"),
        ("answer}", "ans¦wer}", "answer"),
        ("twice}", "twi¦ce}", "twice"),
        ("each.next", "ea¦ch.next", "each"),
        ("local.seen", "local.se¦en", "seen"),
        ("  paid: Order", "  p¦aid: Order", "paid"),
    ],
)
def test_every_mention_gets_the_new_name(old: str, new: str, name: str) -> None:
    after = renamed(old, new, "Fresh_1")
    words = after.replace("# the money", "").replace("wait.done", "")
    assert re.search(rf"\b{name}\b", words) is None
    assert parse(after, PATH)[1] == []
    assert after.count("Fresh_1") >= FLOW.count(name) - 1


def test_a_channel_takes_the_default_ids_of_its_conditions_along() -> None:
    after = renamed("  paid: Order", "  p¦aid: Order", "money")
    assert "channel: money" in after
    assert "channels.money.size" in after
    assert "wait.money.messages" in after
    assert "publish: {money: 1}" in after
    assert "# the money" in after


def test_a_join_takes_the_default_ids_of_its_conditions_along() -> None:
    assert "wait.end.messages" in renamed("  done:", "  d¦one:", "end")


def test_an_id_that_was_written_stays() -> None:
    text = FLOW.replace("- channel: paid\n", "- {channel: paid, id: paid}\n")
    after = renamed("  paid: Order", "  pa¦id: Order", "money", text)
    assert "{channel: money, id: paid}" in after
    assert "wait.paid.messages" in after


def test_a_default_id_makes_way_for_one_that_is_taken() -> None:
    text = FLOW.replace("{timer: 1h}", "{timer: 1h, id: money}").replace("wait.timer", "wait.money")
    after = renamed("  paid: Order", "  pa¦id: Order", "money", text)
    assert "wait.money.satisfied" in after
    assert "wait.money_2.messages" in after


def test_a_default_id_that_is_renamed_is_written_in_flow_style() -> None:
    after = renamed("wait.timer", "wait.ti¦mer", "late")
    assert "- {timer: 1h, id: late}" in after
    assert "wait.late.satisfied" in after


def test_a_default_id_that_is_renamed_is_written_in_block_style() -> None:
    after = renamed("wait.paid", "wait.pa¦id", "money")
    assert "        - id: money\n          channel: paid\n" in after
    assert "wait.money.messages" in after
    assert "channels.paid.size" in after


def test_a_line_that_is_written_ends_as_the_others_do() -> None:
    after = renamed("wait.paid", "wait.pa¦id", "money", FLOW.replace("\n", "\r\n"))
    assert "        - id: money\r\n          channel: paid\r\n" in after
    assert "\n" not in after.replace("\r\n", "")


def test_quotes_stay() -> None:
    text = FLOW.replace("start: Ask", 'start: "Ask"').replace("on_failure: Mend", "on_failure: 'Mend'")
    assert "on_failure: 'Fresh'" in renamed("  Mend:", "  Me¦nd:", "Fresh", text)
    assert 'start: "Fresh"' in renamed("  Ask:", "  As¦k:", "Fresh", text)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Ask", "there is a step `Ask` already"),
        ("to-day", "not an identifier"),
        ("", "not an identifier"),
        ("9lives", "not an identifier"),
        ("while", "keyword"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, said: str) -> None:
    assert said in refusal("  Mend:", "  Me¦nd:", name)


@pytest.mark.parametrize(
    ("old", "new", "name", "said"),
    [
        ("answer}", "ans¦wer}", "input", "fixed name"),
        ("twice}", "tw¦ice}", "wait", "fixed name"),
        ("list of Order", "list of Or¦der", "string", "word of the language"),
        ("answer}", "ans¦wer}", "twice", "break line"),
        ("each.next", "ea¦ch.next", "twice", "break line"),
    ],
)
def test_a_name_that_means_something_else_there_is_refused(old: str, new: str, name: str, said: str) -> None:
    assert said in refusal(old, new, name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("flow: Shop", "flow: Sh¦op", "stored runs"),
        ("handler: ask", "handler: a¦sk", "Python function"),
        ("attributes.total", "attrib¦utes.total", "name of the language"),
        ("need: active", "need: acti¦ve", "no name here"),
        ("each.next", "each.ne¦xt", "name of the language"),
    ],
)
def test_what_has_no_name_of_its_own_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(old, new)


def test_a_default_name_of_a_result_or_element_is_refused() -> None:
    text = "flow: F\nsteps:\n  A:\n    execute: m:f\n    graceful_complete: ${result}\n"
    assert "write `result: name`" in refusal("${result}", "${res¦ult}", text=text)
    text = 'flow: F\nsteps:\n  A: {go_to_many: [{step: A, for_each: "${[1]}", when: item > 0}]}\n'
    assert "write `as: name`" in refusal("item >", "it¦em >", text=text)


def test_a_name_that_nobody_declares_is_refused() -> None:
    text = "flow: F\nsteps:\n  A: {go_to: Nowhere}\n"
    assert "no step `Nowhere` is declared" in refusal("Nowhere", "No¦where", text=text)


def test_a_broken_text_is_refused() -> None:
    broken = Document(PATH, FLOW + "  x: [\n", Document(PATH, FLOW))
    with pytest.raises(RenameRefused, match="cannot be read"):
        find_renamed(broken, 13, 4)


def test_an_alias_follows_its_anchor() -> None:
    text = "flow: F\nsteps:\n  A: {on_failure: &next B, go_to: *next, execute: m:f}\n  B: {dead_end: true}\n"
    assert "{on_failure: &next C, go_to: *next," in renamed("  B: {", "  ¦B: {", "C", text)


def test_a_name_written_with_escapes_is_refused() -> None:
    text = 'flow: F\nsteps:\n  A: {go_to: "\\x42"}\n  B: {dead_end: true}\n'
    assert "line 3 says `B` by an alias or an escape" in refusal("  B: {", "  ¦B: {", text=text)


def test_handlers_that_say_the_name_are_told(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "def ask(ctx):\n    ctx.publish('paid', 1)\n    ctx.wait.paid\n    'unpaid'\n"
    )
    text, line, column, _ = marked(
        FLOW.replace("types:", "handlers: shop\ntypes:").replace("  paid: O", "  pa¦id: O")
    )
    document = Document(PATH, text)
    found = rename(document, find_renamed(document, line, column), "money", roots=[tmp_path])
    assert found.notes == [f"{tmp_path / 'shop.py'}:2", f"{tmp_path / 'shop.py'}:3"]


REHEARSAL = """\
rehearsals:
  - name: Ask Mend paid total
    input: {Ask: paid}
    attributes: {total: 1}
    handlers:
      Ask: {returns: {Ask: total, Mend: paid}, publish: {paid: 1}, set: {total: 2}, cancel: [Mend]}
      Ask.wait_for: {skip: true}
      rpc.look: {returns: 1}
    events:
      - {after: Ask-1, publish: {channel: paid, value: Mend}}
      - {after_wait: Ask-12, rpc: look}
    expect: {path: [Ask-1, Mend-2], counts: {Mend: 1}, messages: {paid: [Mend]}, output: {Mend: Ask}}
"""


@pytest.mark.parametrize(
    ("kind", "name", "count"),
    [
        (SymbolKind.STEP, "Ask", 5),
        (SymbolKind.STEP, "Mend", 3),
        (SymbolKind.CHANNEL, "paid", 3),
        (SymbolKind.ATTRIBUTE, "total", 2),
        (SymbolKind.RPC, "look", 2),
        (SymbolKind.JOIN, "done", 0),
    ],
)
def test_rehearsals_say_the_new_name_where_they_mean_it(kind: SymbolKind, name: str, count: int) -> None:
    edits = rehearsal_edits(REHEARSAL, Symbol(kind, name), "Fresh")
    after = apply_fixes(REHEARSAL, [Fix("", tuple(edits), is_safe=False)])
    assert after.count("Fresh") == len(edits) == count
    assert "name: Ask Mend paid total" in after
    assert "returns: {Ask: total, Mend: paid}" in after
    assert "output: {Mend: Ask}" in after


def test_the_rehearsal_beside_a_flow_is_renamed_with_it(tmp_path: Path) -> None:
    path = tmp_path / "shop.flow.yaml"
    text, line, column, _ = marked(FLOW.replace("  Mend:", "  Me¦nd:"))
    document = Document(str(path), text)

    def read_text(asked: Path) -> str:
        assert asked == tmp_path / "shop.rehearsal.yaml"
        return REHEARSAL

    found = rename(document, find_renamed(document, line, column), "Fresh", read_text=read_text)
    assert len(found.edits[str(tmp_path / "shop.rehearsal.yaml")]) == 3


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("path", sorted((ROOT / "flows").glob("*.flow.yaml")), ids=lambda path: path.stem)
def test_every_name_of_the_flows_can_be_renamed_and_back(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    document = Document(PATH, text)
    assert document.table is not None
    for mention in document.table.mentions:
        symbol = mention.symbol
        if mention.is_declaration and mention.is_written and symbol.kind is not SymbolKind.FLOW:
            after = applied(text, rename(document, mention, "Fresh_1").edits[PATH])
            moved = Document(PATH, after)
            assert moved.table is not None
            fresh = next(m for m in moved.table.mentions if m.symbol.name == "Fresh_1")
            assert len(moved.table.mentions) == len(document.table.mentions)
            assert applied(after, rename(moved, fresh, symbol.name).edits[PATH]) == text


def applied(text: str, edits: list[Edit]) -> str:
    return apply_fixes(text, [Fix("", tuple(edits), is_safe=False)])
