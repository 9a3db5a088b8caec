from __future__ import annotations

from typing import Any

import pytest

from orchestrator.definition.expressions import Environment, ExpressionProblem, parse_value
from orchestrator.definition.model import (
    Attribute,
    Channel,
    ChannelCondition,
    Combinator,
    Condition,
    Handler,
    Join,
    JoinCondition,
    Result,
    SubflowCondition,
    TimerCondition,
    WaitFor,
)
from orchestrator.definition.scopes import Scopes
from orchestrator.definition.types import parse_type

TYPES: dict[str, Any] = {
    "Order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
}
SCOPES = Scopes(
    attributes={
        "status": Attribute(name="status", type=parse_type("string", TYPES)),
        "progress": Attribute(name="progress", type=parse_type("integer", TYPES), is_map=True),
    },
    channels={
        "orders": Channel(name="orders", type=parse_type("Order", TYPES)),
        "signals": Channel(name="signals", type=parse_type("string", TYPES), is_map=True),
    },
    joins={"done": Join(name="done", type=parse_type("integer", TYPES))},
    flow_input=parse_type("Order", TYPES),
    types=TYPES,
)


def _wait(*conditions: Condition, handler: Handler | None = None, **locals: Any) -> WaitFor:
    environment = SCOPES.wait(input=parse_type("Order", TYPES))
    return WaitFor(
        combinator=Combinator.ANY_OF if handler is None else Combinator.HANDLER,
        conditions=conditions,
        handler=handler,
        locals=tuple((name, parse_value(value, environment)) for name, value in locals.items()),
    )


def _decision(
    wait: WaitFor | None = None, *, result: Result | None = None, has_handler: bool = True
) -> Environment:
    input_type = parse_type("Order", TYPES)
    return SCOPES.decision(input=input_type, result=result or Result(), has_handler=has_handler, wait=wait)


EACH_INPUT = parse_value("${input.map(o, o.id)}", Environment({"input": parse_type("list of Order", TYPES)}))
WAIT = _wait(
    ChannelCondition(id="orders", channel="orders"),
    ChannelCondition(id="each", channel="signals", for_each=EACH_INPUT),
    TimerCondition(id="deadline"),
    SubflowCondition(id="child", flow="Child"),
    JoinCondition(id="done", join="done"),
    kept="${input.id}",
)


@pytest.mark.parametrize(
    ("source", "type"),
    [
        ("input.id", "string"),
        ("run.input", "Order"),
        ("run.attempt", "integer"),
        ("now - run.started_at", "number"),
        ("step.execution_id", "string"),
        ("attributes.status", "string"),
        ("attributes.progress", "{type: object, additionalProperties: {type: integer}}"),
        ("attributes.progress.?x.orValue(0)", "integer"),
        ("channels.orders.size + channels.signals.size", "integer"),
        ("failure.attempts", "integer"),
        ("failure == null ? '' : failure.message", "string"),
        ("wait_for_failed", "boolean"),
        ("wait.orders.satisfied", "boolean"),
        ("wait.orders.messages", "list of Order"),
        ("wait.orders.message", "Order"),
        ("wait.orders.message.id", "string"),
        ("wait.each[0].item", "string"),
        ("wait.each.map(e, e.key)", "{type: array, items: {anyOf: [{type: string}, {type: null}]}}"),
        ("wait.deadline.fired", "boolean"),
        ("wait.child.outputs", "array"),
        ("wait.child.status == 'COMPLETED'", "boolean"),
        ("wait.done.by_branch[0]", "integer or none"),
        ("local.kept", "string"),
        ("result", "any"),
    ],
)
def test_a_decision_sees_names_with_their_types(source: str, type: str) -> None:
    assert parse_value("${" + source + "}", _decision(WAIT)).type.text == type


@pytest.mark.parametrize(
    ("environment", "source", "message"),
    [
        (_decision(WAIT), "wait.ordres.message", "`wait` has no field `ordres`"),
        (_decision(WAIT), "wait.orders.fired", "`wait.orders` has no field `fired`"),
        (_decision(WAIT), "wait.each.messages", "`wait.each` is a list, it has no field `messages`"),
        (_decision(WAIT), "local.keep", "`local` has no field `keep`"),
        (_decision(WAIT), "channels.orders.length", "`channels.orders` has no field `length`"),
        (_decision(None), "wait.orders", "`wait` has no field `orders`"),
        (_decision(has_handler=False), "result.x", "`result` is always null here, it has no field `x`"),
        (_decision(result=Result(name="record")), "result", "there is no name `result` here"),
        (SCOPES.wait(input=None), "wait.orders.message", "`wait` is known in decisions only"),
        (SCOPES.rpc(input=None, result=Result(), has_handler=True), "step.name", "an RPC has no `step`"),
        (
            SCOPES.timeout_handler(result=Result(), has_handler=True),
            "input",
            "the timeout handler has no `input`",
        ),
    ],
)
def test_what_a_place_does_not_have_is_reported(environment: Environment, source: str, message: str) -> None:
    with pytest.raises(ExpressionProblem) as caught:
        parse_value("${" + source + "}", environment)
    assert message in caught.value.message


def test_a_handler_may_set_locals_that_are_not_declared() -> None:
    wait = _wait(handler=Handler(name="decide"), kept="${input.id}")
    assert parse_value("${local.other}", _decision(wait)).type.text == "any"
    assert parse_value("${local.kept}", _decision(wait)).type.text == "string"


def test_the_result_has_the_name_and_type_declared() -> None:
    environment = _decision(result=Result(name="record", type=parse_type("Order", TYPES)))
    assert parse_value("${record.id}", environment).type.text == "string"


def test_an_rpc_sees_attributes_and_its_input() -> None:
    environment = SCOPES.rpc(input=parse_type("Order", TYPES), result=Result(), has_handler=False)
    assert parse_value("${input.id + attributes.status}", environment).type.text == "string"
