"""Whether a handler that takes long would notice that its result is no longer wanted (rules 112, 162)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from orchestrator.binding.source.files import FunctionSource, nodes_within

_EVERYTHING = (BaseException, Exception)


def stubborn_loops(source: FunctionSource) -> Iterator[ast.While]:
    """`while` loops around a `try` that takes every exception for nothing."""
    for node in source.own_nodes:
        if isinstance(node, ast.While):
            tries = [each for each in nodes_within(node.body) if isinstance(each, ast.Try)]
            if any(_is_swallowed(handler, source) for each in tries for handler in each.handlers):
                yield node


def waiting_loops(source: FunctionSource) -> Iterator[ast.While | ast.For]:
    """Loops that sleep: they take as long as something else makes them."""
    for node in source.own_nodes:
        if isinstance(node, ast.While | ast.For) and any(
            _is_sleep(each, source) for each in nodes_within(node.body)
        ):
            yield node


def swallowed_cancels(source: FunctionSource) -> Iterator[ast.ExceptHandler]:
    """In an `async def`, clauses that keep the `CancelledError` which is to end an `await`."""
    if not isinstance(source.node, ast.AsyncFunctionDef):
        return
    for node in source.own_nodes:
        if isinstance(node, ast.Try) and any(isinstance(each, ast.Await) for each in nodes_within(node.body)):
            taking = next((each for each in node.handlers if _takes_cancel(each, source)), None)
            if taking is not None and not _ends(taking):
                yield taking


def _is_swallowed(handler: ast.ExceptHandler, source: FunctionSource) -> bool:
    """`except Exception: pass` and the like."""
    is_broad = handler.type is None or source.resolve(handler.type) in _EVERYTHING
    return is_broad and all(isinstance(each, ast.Pass | ast.Continue) for each in handler.body)


def _takes_cancel(handler: ast.ExceptHandler, source: FunctionSource) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {getattr(source.resolve(each), "__name__", "") for each in types}
    return bool(names & {"BaseException", "CancelledError"})


def _ends(handler: ast.ExceptHandler) -> bool:
    """It raises or returns, on some way at least."""
    return any(isinstance(each, ast.Raise | ast.Return) for each in nodes_within(handler.body))


def _is_sleep(node: ast.AST, source: FunctionSource) -> bool:
    return isinstance(node, ast.Call) and getattr(source.resolve(node.func), "__name__", "") == "sleep"
