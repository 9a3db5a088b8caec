"""Annotated types of handlers held against the types that the definition declares."""

from __future__ import annotations

import pytest

from tests.support.surveyed import Workshop, codes, one

HEAD = """\
from __future__ import annotations
import datetime, decimal, enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, Optional, TypedDict, TypeVar
import msgspec, pydantic
from orchestrator import Choice, Context, Wait

class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"

@dataclass
class Order:
    number: str
    amount: int = 1
    lines: list[str] = field(default_factory=list)

@dataclass
class Card:
    number: str
    card: str

class Sale(TypedDict):
    number: str
    amount: NotRequired[int]

class Tree(msgspec.Struct):
    name: str
    parts: list[Tree] = []

class Model(pydantic.BaseModel):
    number: str
    amount: int = 1

class Strict(pydantic.BaseModel):
    number: str
    card: str

class Lenient(pydantic.BaseModel):
    card: str
    @pydantic.model_validator(mode="before")
    @classmethod
    def read(cls, value): return {"card": "x"}

class Renamed(pydantic.BaseModel):
    model_config = {"populate_by_name": True}
    number: str = pydantic.Field(alias="no")

Number = NewType("Number", int)
"""
FLOW = """\
flow: Shop
handlers: surveyed_shop
types:
  Order: {type: object, required: [number], properties: {number: {type: string}, amount: {type: integer}}}
  Tree: {type: object, required: [name], properties: {name: {type: string}, parts: list of Tree}}
input: INPUT
start: Pay
steps:
  Pay:
    execute: pay
    result: {type: RESULT}
    graceful_complete: done
""".replace("parts: list of Tree", 'parts: {type: array, items: {$ref: "#/types/Tree"}}')


def look(
    workshop: Workshop, *, given: str = "any", takes: str = "Any", returns: str = "Any", asked: str = "any"
) -> list[tuple[str, str]]:
    handlers = f"{HEAD}\ndef pay(value: {takes}) -> {returns}:\n    raise LookupError\n"
    found = workshop.check(handlers, FLOW.replace("INPUT", given).replace("RESULT", asked))
    assert set(codes(found)) <= {"DAT008"}
    return [(problem.severity, problem.message) for problem in found]


@pytest.mark.parametrize(
    ("given", "takes"),
    [
        ("string", "str"), ("string", "str | None"), ("string", "Optional[str]"), ("integer", "float"),
        ("string", "Any"), ("any", "int"), ("string", "object"), ("integer", "Number"),
        ("Order", "dict"), ("Order", "dict[str, Any]"), ("{enum: [red]}", "Colour"),
        ("{enum: [red]}", "Literal['red', 'blue']"), ("list of string", "list[str]"),
        ("list of string", "tuple[str, ...]"), ("list of string", "set[str]"),
        ("string", "datetime.datetime"), ("string", "bytes"), ("number", "decimal.Decimal"),
        ("string", "decimal.Decimal"), ("Tree", "Tree"), ("Order", "Model"), ("Order", "Lenient"),
        ("Order", "Renamed"), ("boolean", "bool"), ("integer", "Annotated[int, 3]"),
    ],
)  # fmt: skip
def test_an_input_that_its_annotation_takes_is_no_problem(workshop: Workshop, given: str, takes: str) -> None:
    assert look(workshop, given=given, takes=takes) == []


@pytest.mark.parametrize(
    ("given", "takes", "severity", "reason"),
    [
        ("string", "int", "error", "string is given where integer is asked"),
        ("integer", "str", "error", "integer is given where string is asked"),
        ("Order", "str", "error", "Order is given where string is asked"),
        ("Order", "Card", "error", "`card` is missing"),
        ("Order", "Strict", "error", "`card` is missing"),
        ("list of string", "list[int]", "error", "in the list: string is given where integer is asked"),
        ("list of integer", "list[Model]", "error", "in the list: integer is given where"),
        ("string or none", "str", "warning", "none is given where string is asked"),
        ("number", "int", "warning", "number is given where integer is asked, which may have a fraction"),
        ("string", "Colour", "warning", "any string is given where only "),
        ("{enum: [red, green]}", "Literal['red', 'blue']", "warning", ""),
        ("{enum: [green]}", "Colour", "error", ""),
    ],
)
def test_an_input_that_its_annotation_does_not_take_is(
    workshop: Workshop, given: str, takes: str, severity: str, reason: str
) -> None:
    (found,) = look(workshop, given=given, takes=takes)
    assert found[0] == severity
    assert reason in found[1]


@pytest.mark.parametrize(
    ("returns", "asked"),
    [
        ("str", "string"), ("int", "number"), ("Any", "string"), ("Order", "Order"), ("Sale", "Order"),
        ("Model", "Order"), ("Tree", "Tree"), ("Colour", "string"), ("Literal['red']", "{enum: [red, blue]}"),
        ("dict[str, Any]", "Order"), ("None", "none"), ("list[Order]", "list of Order"), ("Choice", "string"),
        ("Choice | str", "integer"),
        ("datetime.datetime", "string"), ("decimal.Decimal", "string"), ("Order | None", "Order or none"),
        ("Iterable[int]", "list of string"), ("Order", "{type: object, required: [amount, lines]}"),
    ],
)  # fmt: skip
def test_a_result_that_the_definition_takes_is_no_problem(
    workshop: Workshop, returns: str, asked: str
) -> None:
    assert look(workshop, returns=returns, asked=asked) == []


@pytest.mark.parametrize(
    ("returns", "asked", "severity"),
    [
        ("int", "string", "error"), ("None", "string", "error"), ("Order", "string", "error"),
        ("Sale", "{type: object, required: [card], properties: {card: {type: string}}}", "error"),
        ("Strict", "{type: object, required: [amount], properties: {amount: {type: integer}}}", "error"),
        ("decimal.Decimal", "number", "error"), ("list[int]", "list of string", "error"),
        ("str | None", "string", "warning"), ("str", "{enum: [red, blue]}", "warning"),
        ("float", "integer", "warning"), ("Wait", "any", "error"),
    ],
)  # fmt: skip
def test_a_result_that_the_definition_does_not_take_is(
    workshop: Workshop, returns: str, asked: str, severity: str
) -> None:
    assert [found[0] for found in look(workshop, returns=returns, asked=asked)] == [severity]


def test_both_ends_are_shown(workshop: Workshop) -> None:
    text = FLOW.replace("INPUT", "string").replace("RESULT", "any")
    found = one(workshop.check("def pay(value: int):\n    raise LookupError\n", text))
    why = "string is given where integer is asked"
    assert found.message == f"`pay` takes `int`, but Pay gives it string: {why} (surveyed_shop.py:1)"
    assert (found.span.line, found.span.column) == (10, 14)
    assert [(span.path, span.span.line, span.label) for span in found.spans] == [
        ("shop.flow.yaml", 6, "string is given"),
        ("surveyed_shop.py", 1, "takes int"),
    ]


def test_a_wait_for_handler_is_annotated_to_return_a_wait(workshop: Workshop) -> None:
    text = """\
    flow: Shop
    handlers: surveyed_shop
    start: Ask
    steps:
      Ask: {wait_for: {handler: ask, conditions: {late: {timer: 1h}}}, graceful_complete: done}
    """
    handlers = "from orchestrator import until, Wait\ndef ask() -> RETURNED:\n    return until('late')\n"
    assert workshop.check(handlers.replace("RETURNED", "Wait"), text) == []
    workshop.forget_modules()
    assert codes(workshop.check(handlers.replace("RETURNED", "str"), text)) == ["DAT008"]


@pytest.mark.parametrize(("decisions", "found"), [("", ["DAT008"]), ("returns: done, ", [])])
def test_the_result_of_an_rpc_without_returns_is_its_output(
    workshop: Workshop, decisions: str, found: list[str]
) -> None:
    text = f"flow: Shop\nhandlers: surveyed_shop\nrpcs:\n  ask: {{output: string, {decisions}handler: ask}}\n"
    assert codes(workshop.check("def ask() -> int:\n    return 3\n", text)) == found


def test_a_decorator_may_replace_the_result_and_not_the_input(workshop: Workshop) -> None:
    handlers = """\
    import functools

    def texts(function):
        @functools.wraps(function)
        def wrapper(value):
            return str(function(value))
        return wrapper

    @texts
    def pay(value: int) -> int:
        return value
    """
    text = FLOW.replace("INPUT", "integer").replace("RESULT", "string")
    assert workshop.check(handlers, text) == []
    workshop.forget_modules()
    found = one(workshop.check(handlers, text.replace("input: integer", "input: string")))
    assert "takes `int`" in found.message
