"""Whether a function can be the handler of a method: its shape, and the type of its input."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from orchestrator.binding.context import Context
from orchestrator.binding.convert import Converter, NotConvertible, copy_json, plan_input
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.method import Method
from orchestrator.definition.model import Flow, Path
from orchestrator.definition.problem import Problem

_SHAPES = "f(input), f(ctx, input), f(ctx) or f()"
_EMPTY = inspect.Parameter.empty


class BindingProblem(NamedTuple):
    """Why a handler cannot be bound; `path` leads to its name in the definition."""

    path: Path
    message: str
    help: str
    code: str
    """UNKNOWN or MISFIT."""


UNKNOWN = "REF004"
MISFIT = "DAT008"


def locate(flow: Flow, problems: Iterable[BindingProblem]) -> list[Problem]:
    """The problems at their places in the file that the flow was loaded from."""
    if flow.source is None:
        raise ValueError("the flow was not loaded from a file")
    return [
        Problem(
            code=problem.code,
            message=problem.message,
            path=flow.source.path,
            span=flow.source.locate((*problem.path, "handler")).value,
            help=problem.help,
            flow=flow.name,
        )
        for problem in problems
    ]


class Unbindable(Exception):
    """The function does not fit; code, text and advice make a BindingProblem."""

    def __init__(self, code: str, message: str, advice: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.advice = advice


def bind(method: Method, function: object) -> BoundHandler:
    """The handler, its call planned. Raises Unbindable."""
    name = method.handler.name
    plain = _demand_function(name, function)
    parameters = _positional_parameters(name, plain)
    annotations = [_resolve(plain, parameter) for parameter in parameters]
    takes_context = bool(parameters) and _is_context(parameters[0], annotations[0])
    inputs = list(zip(parameters, annotations, strict=True))[1 if takes_context else 0 :]
    is_async = inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(_code_of(plain))
    return BoundHandler(
        method,
        plain,
        takes_context=takes_context,
        convert=_plan(method, inputs),
        is_async=is_async,
        hides_coroutine=not is_async and inspect.iscoroutinefunction(inspect.unwrap(_code_of(plain))),
    )


def _demand_function(name: str, function: object) -> Callable[..., Any]:
    if isinstance(function, type):
        raise Unbindable(MISFIT, f"`{name}` is a class", f"write a function: {_SHAPES}")
    if not callable(function):
        kind = type(function).__name__
        raise Unbindable(MISFIT, f"`{name}` is of type {kind}", f"write a function: {_SHAPES}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise Unbindable(MISFIT, f"`{name}` is a generator", "return the result; do not yield")
    return function


def _positional_parameters(name: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        text = f"the parameters of `{name}` are unknown"
        raise Unbindable(MISFIT, text, f"write a function: {_SHAPES}") from None
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            continue
        raise Unbindable(
            MISFIT,
            f"`{name}` has the parameter `{str(parameter).split(':')[0].split('=')[0]}`; "
            "a handler is called with positional arguments",
            f"write {_SHAPES}",
        )
    return parameters


def _plan(method: Method, inputs: list[tuple[inspect.Parameter, Any]]) -> Converter | None:
    name = method.handler.name
    if len(inputs) > 1:
        raise _too_many(name, [parameter.name for parameter, _ in inputs])
    if not inputs:
        return None
    parameter, annotation = inputs[0]
    if method.input is None:
        if parameter.default is not _EMPTY:
            return None
        raise Unbindable(
            MISFIT,
            f"`{name}` takes the input `{parameter.name}`, but {method.owner} declares none",
            f"declare `input:` on {method.name}, or drop the parameter",
        )
    if annotation is _EMPTY:
        return copy_json
    if isinstance(annotation, str):
        raise Unbindable(
            MISFIT,
            f"`{name}` takes `{parameter.name}: {annotation}`, which names nothing when it is called",
            "import it outside of `if TYPE_CHECKING:`: the input is converted to it",
        )
    try:
        return plan_input(annotation)
    except NotConvertible as error:
        raise Unbindable(
            MISFIT,
            f"`{name}` takes `{parameter.name}` of a type that no JSON becomes: {error}",
            "annotate a dataclass, TypedDict, msgspec Struct, pydantic model, or plain types",
        ) from error


def _too_many(name: str, parameters: list[str]) -> Unbindable:
    extra = ", ".join(f"`{parameter}`" for parameter in parameters)
    advice = f"write {_SHAPES}; the first one is the context if it is named `ctx` or annotated `Context`"
    if parameters[0] == "self":
        advice = f"a method is bound by an object: `service = Service()` and `service.{name.split('.')[-1]}`"
    text = f"`{name}` takes {extra}; a handler takes one input, after the context if it wants one"
    return Unbindable(MISFIT, text, advice)


def _code_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, that of a partial, or the `__call__` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def context_name(function: Callable[..., Any]) -> str:
    """What a handler that takes the context calls it."""
    return next(iter(inspect.signature(function).parameters))


def annotations_of(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Types of the input and of the result of a handler; `inspect.Parameter.empty` or text where unknown."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    types_found = [_resolve(function, parameter) for parameter in parameters]
    if parameters and _is_context(parameters[0], types_found[0]):
        del types_found[0]
    returned = inspect.Parameter(
        "returned", inspect.Parameter.POSITIONAL_ONLY, annotation=signature.return_annotation
    )
    return next(iter(types_found), _EMPTY), _resolve(function, returned)


def _is_context(parameter: inspect.Parameter, annotation: Any) -> bool:
    if isinstance(annotation, str):
        return parameter.name == "ctx" or annotation.rpartition(".")[2].strip("'\" ") == "Context"
    return parameter.name == "ctx" or annotation is Context


def _resolve(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """The annotation as a type; as text where its name is not there at run time (`if TYPE_CHECKING`)."""
    annotation = parameter.annotation
    if annotation is _EMPTY or isinstance(annotation, type):
        return annotation
    scope = getattr(inspect.unwrap(_code_of(function)), "__globals__", {})
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, globalns=dict(scope), include_extras=True)["it"]
    except Exception:
        return annotation
