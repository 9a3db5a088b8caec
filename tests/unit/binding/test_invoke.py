"""How a handler is called, and what comes back (language.md 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest
from pydantic import BaseModel

from orchestrator import Context, any_of, choose, skip, until
from orchestrator.binding.context import NO_SERVICES
from orchestrator.binding.method import MethodKind
from orchestrator.binding.mistakes import InvalidInput, InvalidResult, InvalidWait
from orchestrator.core.events import NO_EFFECTS, HandlerWait
from tests.support.calls import bound, call, snapshot


@dataclass(frozen=True)
class Order:
    number: str
    amount: float = 1.0


class OrderStruct(msgspec.Struct):
    number: str
    amount: float = 1.0


class OrderDict(TypedDict):
    number: str


class OrderModel(BaseModel):
    number: str
    amount: float = 1.0


ORDER = {"number": "A-17", "amount": 2.5}


def takes_input(order: Any) -> Any:
    return [order]


def takes_context_and_input(ctx: Any, order: Any) -> Any:
    return [ctx.step_execution_id, order]


def takes_context_by_name(ctx: Any) -> Any:
    return [ctx.step_execution_id]


def takes_context_by_annotation(call: Context) -> Any:
    return [call.step_execution_id]


def takes_nothing() -> Any:
    return []


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (takes_input, [ORDER]),
        (takes_context_and_input, ["Charge-2", ORDER]),
        (takes_context_by_name, ["Charge-2"]),
        (takes_context_by_annotation, ["Charge-2"]),
        (takes_nothing, []),
    ],
)
def test_every_signature_is_called_with_what_it_takes(function: Any, result: Any) -> None:
    assert call(function, ORDER).result == result


def test_an_async_handler_is_awaited() -> None:
    async def charge(ctx: Context, order: Order) -> str:
        return f"{ctx.flow_id} {order.number}"

    assert bound(charge).is_async
    assert call(charge, ORDER).result == "order-7 A-17"


def by_dataclass(order: Order) -> Order:
    assert isinstance(order, Order)
    return order


def by_struct(order: OrderStruct) -> OrderStruct:
    assert isinstance(order, OrderStruct)
    return order


def by_model(order: OrderModel) -> OrderModel:
    assert isinstance(order, OrderModel)
    return order


@pytest.mark.parametrize("function", [by_dataclass, by_struct, by_model])
def test_input_and_result_convert_to_and_from_annotated_classes(function: Any) -> None:
    assert call(function, ORDER).result == ORDER
    assert call(function, {"number": "B"}).result == {"number": "B", "amount": 1.0}


def test_classes_inside_containers_convert_too() -> None:
    def charge(orders: dict[str, list[OrderModel]]) -> list[str]:
        return [order.number for order in orders["all"]]

    assert call(charge, {"all": [ORDER]}).result == ["A-17"]


def test_a_typed_dict_stays_a_dict() -> None:
    def charge(order: OrderDict) -> str:
        return order["number"]

    assert call(charge, {"number": "A"}).result == "A"


@pytest.mark.parametrize("function", [by_dataclass, by_struct, by_model])
def test_input_that_does_not_convert_fails_the_attempt_and_says_why(function: Any) -> None:
    with pytest.raises(InvalidInput, match="the input of Charge does not convert") as caught:
        call(function, {"number": 5})
    assert "number" in str(caught.value)


@pytest.mark.rule(43)
def test_a_handler_cannot_change_the_input_that_the_engine_holds() -> None:
    def charge(order: Any) -> Any:
        order["lines"].append("more")
        return order

    def charge_typed(order: dict[str, Any]) -> Any:
        order["lines"].append("more")

    held = {"lines": ["one"]}
    returned = call(charge, held).result
    call(charge_typed, held)
    assert held == {"lines": ["one"]}
    assert returned == {"lines": ["one", "more"]}


def test_a_result_that_the_handler_keeps_is_not_shared_with_the_engine() -> None:
    kept: list[str] = []

    def charge() -> Any:
        return kept

    returned = call(charge)
    kept.append("later")
    assert returned.result == []


def test_a_handler_without_effects_costs_no_effects() -> None:
    assert call(takes_context_by_name).effects is NO_EFFECTS


def test_choose_gives_word_and_value() -> None:
    def charge(order: Any) -> Any:
        return choose("paid", Order("A", 1.5))

    returned = call(charge, choices=["paid", "refused"])
    assert (returned.choice, returned.result) == ("paid", {"number": "A", "amount": 1.5})


def test_a_word_that_no_decision_has_is_refused() -> None:
    def charge() -> Any:
        return choose("payed")

    with pytest.raises(InvalidResult, match=r"Charge chose `payed`, but no decision.*did you mean `paid`"):
        call(charge, choices=["paid", "refused"])


@pytest.mark.parametrize("word", ["", None, 5])
def test_choose_takes_a_word(word: Any) -> None:
    with pytest.raises(InvalidWait, match="takes the word of a decision"):
        choose(word)


@pytest.mark.rule(45)
def test_a_wait_for_handler_returns_a_wait_of_declared_conditions() -> None:
    def wait() -> HandlerWait:
        return any_of("approval", "deadline")

    returned = call(wait, kind=MethodKind.WAIT_FOR, conditions=["approval", "deadline"])
    assert returned.wait == HandlerWait("any_of", (("approval",), ("deadline",)))


@pytest.mark.rule(46)
def test_a_wait_for_handler_may_skip() -> None:
    assert call(skip, kind=MethodKind.WAIT_FOR).wait == HandlerWait("none")


def test_a_wait_for_an_undeclared_condition_is_refused() -> None:
    def wait() -> HandlerWait:
        return until("aproval")

    with pytest.raises(InvalidWait, match="declares no condition `aproval`; did you mean `approval`"):
        call(wait, kind=MethodKind.WAIT_FOR, conditions=["approval"])


@pytest.mark.rule(56)
def test_a_wait_for_handler_that_returns_no_wait_fails() -> None:
    with pytest.raises(InvalidWait, match="returned None; return until"):
        call(lambda: None, kind=MethodKind.WAIT_FOR)


def test_a_wait_out_of_execute_is_refused() -> None:
    with pytest.raises(InvalidResult, match="only wait_for handlers wait"):
        call(skip)


def test_a_plain_function_that_returns_a_coroutine_is_told_to_be_async() -> None:
    async def inner(order: Any) -> Any:
        return order

    def charge(order: Any) -> Any:
        return inner(order)

    with pytest.raises(InvalidResult, match="declare the handler `async def`"):
        call(charge)


def test_one_bound_handler_serves_many_calls() -> None:
    handler = bound(takes_context_and_input)
    results = [handler.invoke(snapshot(input=number), NO_SERVICES).result for number in range(3)]
    assert results == [["Charge-2", 0], ["Charge-2", 1], ["Charge-2", 2]]
