"""Annotated types of a handler against the types that the definition declares for its input and result."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from orchestrator.binding.annotations import type_of
from orchestrator.binding.check import MISFIT, annotations_of
from orchestrator.binding.findings import PythonPlace, find_problem
from orchestrator.binding.method import Method, MethodKind
from orchestrator.binding.misfits import find_misfit
from orchestrator.binding.source.files import FunctionSource, is_wrapped
from orchestrator.binding.waits import Choice
from orchestrator.core.events import HandlerWait
from orchestrator.definition.model import Path, Rpc, Step
from orchestrator.definition.problem import Problem
from orchestrator.definition.types import Type


class _Declared(NamedTuple):
    type: Type
    path: Path


def check_annotations(
    method: Method, function: Callable[..., Any], source: FunctionSource | None, *, takes_input: bool
) -> Iterator[Problem]:
    given, returned = annotations_of(function)
    if takes_input:
        yield from _check_input(method, given, source)
    if is_wrapped(function) or any(_is_kind(each, Choice) for each in _parts(returned)):
        return
    if len(_parts(returned)) > 1 and any(_is_kind(each, HandlerWait) for each in _parts(returned)):
        return
    if _is_kind(returned, HandlerWait) != method.is_wait_for:
        if returned is not inspect.Parameter.empty and isinstance(returned, type) and returned is not object:
            yield _wrong_kind(method, source)
    elif not method.is_wait_for:
        yield from _check_result(method, returned, source)


def _check_input(method: Method, annotation: Any, source: FunctionSource | None) -> Iterator[Problem]:
    asked = type_of(annotation, is_result=False)
    if method.input is None or asked is None:
        return
    misfit = find_misfit(method.input, asked)
    if misfit is None:
        return
    shown = _shown(annotation, source)
    calls = "every call fails" if misfit.is_certain else "some calls fail"
    given = f"{method.name} gives it {method.input.text}"
    yield find_problem(
        method,
        MISFIT,
        f"`{method.handler.name}` takes `{shown}`, but {given}: {misfit.reason}",
        place=_place(source, f"takes {shown}"),
        also=[(_input_path(method), f"{method.input.text} is given")],
        help=f"{calls}: make the annotation as wide as the type, or the type as narrow",
        severity=None if misfit.is_certain else "warning",
    )


def _check_result(method: Method, annotation: Any, source: FunctionSource | None) -> Iterator[Problem]:
    declared = _result(method)
    given = type_of(annotation, is_result=True)
    if declared is None or given is None:
        return
    misfit = find_misfit(given, declared.type)
    if misfit is None:
        return
    shown = _shown(annotation, source)
    returns = "returns" if misfit.is_certain else "may return"
    name = method.handler.name
    yield find_problem(
        method,
        MISFIT,
        f"`{name}` {returns} `{shown}`, but {method.name} asks for {declared.type.text}: {misfit.reason}",
        place=_place(source, f"returns {shown}"),
        also=[(declared.path, f"{declared.type.text} is asked")],
        help="correct the annotation, or the type that the definition declares",
        severity=None if misfit.is_certain else "warning",
    )


def _wrong_kind(method: Method, source: FunctionSource | None) -> Problem:
    name = method.handler.name
    if method.is_wait_for:
        text, help = (
            f"`{name}` is annotated to return no wait, but it is a wait_for handler",
            "return a `Wait`",
        )
    else:
        text = f"`{name}` is annotated to return a wait, but it is the {method.kind} of {method.name}"
        help = "bind it under `wait_for`, or return a value"
    return find_problem(method, MISFIT, text, place=_place(source, "annotated here"), help=help)


def _result(method: Method) -> _Declared | None:
    """What the handler's value must be; of an RPC without `returns` that is its output."""
    owner = _owner(method)
    if owner is None:
        return None
    if owner.result.type is not None:
        return _Declared(owner.result.type, owner.result.path)
    if isinstance(owner, Rpc) and owner.output is not None:
        hands_on = [each for each in owner.decisions if each.reject is None and each.returns is None]
        if hands_on and not any(each.choice for each in owner.decisions):
            return _Declared(owner.output, (*owner.path, "output"))
    return None


def _owner(method: Method) -> Step | Rpc | None:
    if method.kind is MethodKind.RPC:
        return method.flow.rpcs[method.name]
    return method.flow.on_timeout if method.kind is MethodKind.ON_TIMEOUT else method.flow.steps[method.name]


def _input_path(method: Method) -> Path:
    """Where the type is declared: a start step has the flow's when it declares none."""
    owner, source = _owner(method), method.flow.source
    assert owner is not None and source is not None
    return (*owner.path, "input") if "input" in source.parts(owner.path) else ("input",)


def _place(source: FunctionSource | None, label: str) -> PythonPlace | None:
    return PythonPlace(source.file, source.node, label) if source is not None else None


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Of `A | B`; of anything else that itself."""
    return typing.get_args(annotation) if _is_union(annotation) else (annotation,)


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _is_kind(annotation: Any, kind: type) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, kind)


def _shown(annotation: Any, source: FunctionSource | None) -> str:
    """As it is written, more or less: classes of the handler's own module without its name."""
    if annotation is None:
        return "None"
    text = inspect.formatannotation(annotation)
    return text if source is None else text.replace(f"{source.function.__module__}.", "")
