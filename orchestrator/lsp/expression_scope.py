"""What an expression sees at a place of a document, with the types of names and of what follows a dot."""

from __future__ import annotations

from orchestrator.definition import cel
from orchestrator.definition.expressions import Environment, ExpressionProblem, parse_value
from orchestrator.definition.inference import infer
from orchestrator.definition.kinds import Kind, member_kind, members_of, schema_of
from orchestrator.definition.model import Flow, Path, Result, Rpc, Step
from orchestrator.definition.scopes import Scopes
from orchestrator.definition.symbols import SymbolTable
from orchestrator.definition.type_text import spell
from orchestrator.definition.types import ANY


def environment_at(flow: Flow, table: SymbolTable, path: Path) -> Environment:
    """Of the expression at `path`."""
    environment = _body_environment(flow, path)
    for length in range(3, len(path)):
        node = table.node(path[:length])
        if isinstance(node, dict) and "for_each" in node and path[length] != "for_each":
            environment = _with_element(environment, node)
    return environment


def kind_of_text(text: str, environment: Environment) -> Kind | None:
    """None where the text is no expression, or a wrong one."""
    try:
        return infer(cel.parse(text), environment.names, text)[1]
    except (ExpressionProblem, cel.SyntaxProblem, RecursionError):
        return None


def type_text(kind: Kind) -> str:
    """As an author would write the type."""
    schema = schema_of(kind)
    return spell(schema) if schema else kind.word


def _body_environment(flow: Flow, path: Path) -> Environment:
    scopes = Scopes(
        attributes=flow.attributes,
        channels=flow.channels,
        joins=flow.joins,
        flow_input=flow.input,
        types=flow.types,
    )
    body, place = _body_of(flow, path)
    if body is None:
        return scopes.decision(input=ANY, result=Result(), has_handler=True, wait=None)
    if isinstance(body, Rpc):
        environment = scopes.rpc(input=body.input, result=body.result, has_handler=body.handler is not None)
    elif place == "on_timeout":
        environment = scopes.timeout_handler(result=body.result, has_handler=body.execute is not None)
    elif place == "wait_for":
        environment = scopes.wait(input=body.input)
    else:
        environment = scopes.decision(
            input=body.input,
            result=body.result,
            has_handler=body.execute is not None,
            wait=body.wait_for,
        )
    for name, value in body.let:
        environment = environment.with_let(name, value)
    return environment


def _body_of(flow: Flow, path: Path) -> tuple[Step | Rpc | None, str]:
    """The step or RPC around a place, and whether the place is in its wait."""
    match path:
        case ("on_timeout", *_):
            return flow.on_timeout, "on_timeout"
        case ("steps", str(name), *rest):
            return flow.steps.get(name), str(rest[0]) if rest else ""
        case ("rpcs", str(name), *_):
            return flow.rpcs.get(name), ""
        case _:
            return None, ""


def _with_element(environment: Environment, node: dict[str, object]) -> Environment:
    name = node.get("as", "item")
    if not isinstance(name, str):
        return environment
    try:
        return environment.with_item(name, parse_value(node["for_each"], environment))
    except ExpressionProblem:
        return environment.with_name(name, ANY)


def describe_kind(kind: Kind) -> str:
    """The type on one line; the members of an object below it."""
    names, _ = members_of(kind)
    text = type_text(kind)
    if not names or not text.startswith("{"):
        return f"type: `{text}`" + "".join(_members(kind, names))
    return "type: object" + "".join(_members(kind, names))


def _members(kind: Kind, names: list[str]) -> list[str]:
    lines = [f"\n- `{name}`: `{type_text(member_kind(kind, name))}`" for name in names]
    return ["\n", *lines] if lines else []
