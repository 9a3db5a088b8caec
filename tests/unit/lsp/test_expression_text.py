"""The part of an expression before the cursor."""

from __future__ import annotations

import pytest

from orchestrator.lsp.expression_text import macro_variables, open_expression, split_word


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("${", ""),
        ("${a.b", "a.b"),
        ("x ${a} y ${b", "b"),
        ("${ {'a': 1", " {'a': 1"),
        ("${'}' + a", "'}' + a"),
        ("${a}", None),
        ("plain", None),
        ("$${a", None),
        ("${a} $${", None),
    ],
)
def test_whether_an_expression_is_open(text: str, inner: str | None) -> None:
    assert open_expression(text, is_guard=False) == inner


def test_a_guard_is_all_expression() -> None:
    assert open_expression("a == 1", is_guard=True) == "a == 1"


@pytest.mark.parametrize(
    ("text", "before", "word"),
    [
        ("", None, ""),
        ("a + b", None, "b"),
        ("a.", "a", ""),
        ("1 + wait.x.mess", "wait.x", "mess"),
        ("x + a[0].b(1, 2).", "a[0].b(1, 2)", ""),
        ("a.?b", "a", "b"),
        ("!a.b .c", "a.b", "c"),
        ("(a + b).", "(a + b)", ""),
        ("]).", "])", ""),
    ],
)
def test_what_stands_before_the_last_dot(text: str, before: str | None, word: str) -> None:
    assert split_word(text) == (before, word)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("xs.map(x, x.", [("x", "xs")]),
        ("xs.filter(x, x.ys.exists(y, y.", [("x", "xs"), ("y", "x.ys")]),
        ("xs.map(x, x.a) + ", []),
        ("xs.map(x", []),
    ],
)
def test_variables_of_macros_that_are_open(text: str, found: list[tuple[str, str]]) -> None:
    assert macro_variables(text) == found
