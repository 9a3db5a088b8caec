"""Choices and waits that handlers return, read from their source and held against the definition."""

from __future__ import annotations

import pytest

from tests.support.surveyed import Workshop, codes, one

CHOOSING = """\
flow: Shop
handlers: surveyed_shop
input: string
start: Ask
steps:
  Ask:
    execute: ask
    decide:
      - {choice: yes, graceful_complete: paid}
      - {choice: no, graceful_complete: declined}
"""
OPEN = CHOOSING + "      - {graceful_complete: nothing}\n"
WAITING = """\
flow: Shop
handlers: surveyed_shop
channels: {reply: string}
start: Ask
steps:
  Ask:
    wait_for:
      handler: ask
      conditions: {reply: {channel: reply}, late: {timer: 1h}}
    graceful_complete: done
"""


HEAD = """\
import sys
from typing import NoReturn
import orchestrator
from orchestrator import Choice, all_of, any_combination_of, any_of, choose, skip, until
"""


def look(workshop: Workshop, flow: str, *lines: str, more: str = "") -> list[tuple[str, str]]:
    """The body of the handler is given in lines."""
    text = "\n".join(
        [f"def ask({'text' if 'input:' in flow else ''}):", *(f"    {line}" for line in lines), ""]
    )
    return [(problem.code, problem.severity) for problem in workshop.check(HEAD + more + text, flow)]


BOTH = ("if text:", "    return choose('yes')", "return choose('no')")
MAYBE = ("if text:", "    return choose('yes')", "elif not text:", "    return choose('no')")


@pytest.mark.parametrize(
    "lines",
    [
        BOTH,
        ("return choose('yes') if text else orchestrator.choose('no', 3)",),
        ("word = 'x'", "return choose(word)"),
        ("answer = choose('yes') if text else choose('no')", "return answer"),
        ("return Choice('yes') if text else Choice(word='no')",),
        ("if text:", "    return _yes()", "else:", "    return _no(text)"),
        ("return text.choice()",),
        ("while True:", "    if text:", "        return choose('yes')", "    return choose('no')"),
        ("try:", "    return choose('yes')", "except ValueError:", "    return choose('no')"),
        (*MAYBE, "raise ValueError"),
        (*MAYBE, "_fail()"),
        (*MAYBE, "sys.exit(1)"),
        ("match text:", "    case 'a':", "        return choose('yes')", "return choose('no')"),
        ("match text:", "    case 'a':", "        return _yes()", "    case _:", "        return _no(1)"),
        ("with open(text):", "    return choose('yes') if text else choose('no')"),
    ],
)  # fmt: skip
def test_a_handler_that_always_chooses_is_no_problem(workshop: Workshop, lines: tuple[str, ...]) -> None:
    more = (
        "def _yes():\n    return choose('yes')\ndef _no(text):\n    return choose('no')\n"
        "def _fail() -> NoReturn:\n    raise ValueError\n"
    )
    assert look(workshop, CHOOSING, *lines, more=more) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("if text:", "    return choose('yse')", "return choose('no')"), [("REF013", "error")]),
        (("return choose('yes') if text else None",), [("DEC005", "error"), ("REF014", "info")]),
        ((*BOTH[:2], "if not text:", "    return choose('no')"), [("DEC005", "warning")]),
        (("try:", "    return choose('no')", "except ValueError:", "    pass", "return f'{text}'"),
         [("DEC005", "error"), ("REF014", "info")]),
        (("return choose('yes')",), [("REF014", "info")]),
        (("print(text)",), [("DEC005", "error")]),
        (("return {'yes': choose('yes')}",), [("DEC005", "error")]),
        (("return until('yes')",), [("DAT010", "error")]),
        (("return _plain()",), [("DEC005", "error")]),
    ],
)  # fmt: skip
def test_a_way_out_without_a_known_choice_is_a_problem(
    workshop: Workshop, lines: tuple[str, ...], found: list[tuple[str, str]]
) -> None:
    assert sorted(look(workshop, CHOOSING, *lines, more="def _plain():\n    return 3\n")) == found


@pytest.mark.parametrize("line", ["pass", "return 3", "return choose('yes') if text else choose('no')"])
def test_a_decision_without_choice_takes_any_result(workshop: Workshop, line: str) -> None:
    assert look(workshop, OPEN, line) == []


def test_the_message_names_function_word_and_place_and_helps(workshop: Workshop) -> None:
    line = "return choose('yse') if text else choose('no')"
    text = f"from orchestrator import choose\ndef ask(text):\n    {line}\n"
    found = one(workshop.check(text, CHOOSING))
    expected = "`ask` chooses `yse`, but no decision of Ask has this choice (surveyed_shop.py:3)"
    assert found.message == expected
    assert found.help == "did you mean `yes`?"
    assert (found.span.line, found.span.column) == (7, 14)
    assert [(span.path, span.span.column) for span in found.spans] == [("surveyed_shop.py", 12)]


def test_a_choice_that_is_never_made_is_told_where_the_decision_stands(workshop: Workshop) -> None:
    found = one(
        workshop.check(
            "from orchestrator import choose\ndef ask(text):\n    return choose('yes')\n", CHOOSING
        )
    )
    assert found.message.startswith("`ask` never chooses `no`: this decision is never taken")
    assert (found.span.line, found.span.column) == (10, 18)


def test_a_function_of_its_own_called_choose_is_not_ours(workshop: Workshop) -> None:
    text = "def choose(word):\n    return globals()[word]\n\n\ndef ask(text):\n    return choose('x')\n"
    assert workshop.check(text, CHOOSING) == []


def test_an_async_function_that_is_awaited_is_followed(workshop: Workshop) -> None:
    text = """\
    from orchestrator import choose

    async def ask(text):
        return await _answer(text)

    async def _answer(text):
        return choose("maybe")
    """
    assert codes(workshop.check(text, CHOOSING)) == ["REF013"]


def test_a_function_of_two_steps_may_choose_what_one_of_them_decides(workshop: Workshop) -> None:
    text = OPEN.replace("yes, graceful_complete: paid", "yes, go_to: Again") + (
        "  Again:\n    input: string\n    execute: ask\n    decide:\n"
        "      - {choice: again, graceful_complete: paid}\n      - {graceful_complete: paid}\n"
    )
    handlers = (
        "from orchestrator import choose\ndef ask(text):\n    if text:\n        return choose('again')\n"
        "    return choose('yes') if text == '' else choose('no')\n"
    )
    assert workshop.check(handlers, text) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("return any_of('reply', 'late')",), []),
        (("return any_combination_of(['reply'], ['late'])",), []),
        (("return skip()",), []),
        (("return all_of(*names)",), []),
        (("raise LookupError",), []),
        (("return until('replay')",), [("REF012", "error")]),
        (("return any_of('reply', orchestrator.__name__)",), [("REF012", "error")]),
        (("return any_combination_of(['reply', 'ltae'], ['late'])",), [("REF012", "error")]),
        (("return until('late') if sys else None",), [("DAT010", "error")]),
        (("if sys:", "    return until('late')"), [("DAT010", "warning")]),
        (("return choose('late')",), [("DAT010", "error")]),
    ],
)
def test_a_wait_for_handler_waits_for_declared_conditions(
    workshop: Workshop, lines: tuple[str, ...], found: list[tuple[str, str]]
) -> None:
    assert look(workshop, WAITING, *lines) == found


WRAPPED = """\
import functools
from orchestrator import choose

def choosing(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return choose(function(*arguments))
    return wrapper

@choosing
def ask(text) -> str:
    return RETURNED
"""


def test_a_decorator_may_replace_what_is_returned(workshop: Workshop) -> None:
    assert workshop.check(WRAPPED.replace("RETURNED", "'yes'"), CHOOSING) == []
    workshop.forget_modules()
    assert codes(workshop.check(WRAPPED.replace("RETURNED", "choose('maybe')"), CHOOSING)) == ["REF013"]
