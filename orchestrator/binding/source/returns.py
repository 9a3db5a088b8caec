"""What a handler can return, as far as its source tells: words, waits, plain values."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orchestrator.binding.source.deeds import callee_of
from orchestrator.binding.source.files import FunctionSource, PythonFile, PythonFiles
from orchestrator.binding.waits import Choice, all_of, any_combination_of, any_of, choose, skip, until
from orchestrator.core.events import HandlerWait

_PLAIN = (
    ast.Constant | ast.Dict | ast.List | ast.Tuple | ast.Set | ast.JoinedStr | ast.Compare | ast.BinOp
    | ast.ListComp | ast.DictComp | ast.SetComp | ast.UnaryOp
)  # fmt: skip
_WAITS = (until, all_of, any_of, any_combination_of, skip)
_INNER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_DEPTH = 6


@dataclass(frozen=True)
class Place:
    file: PythonFile
    node: ast.AST


@dataclass
class Returns:
    words: list[tuple[str | None, Place]] = field(default_factory=list)
    """Of `choose(word)`; None: known only when it runs."""
    waits: list[tuple[str | None, Place]] = field(default_factory=list)
    """Ids that a wait is built of; a wait of none has the entry None."""
    plain: list[Place] = field(default_factory=list)
    """Values that are neither a choice nor a wait, for certain."""
    end: Place | None = None
    """It can come to its end without `return`, and so return None."""
    is_whole: bool = True
    """False: it may return something else."""

    def certain(self) -> Returns:
        """What is left when something around the function may replace what it returns."""
        return Returns(words=self.words, waits=self.waits, is_whole=False)


def returns_of(source: FunctionSource, files: PythonFiles) -> Returns:
    returns = Returns()
    _Reader(source, files, returns, (source,)).read()
    return returns


class _Reader:
    """Of one function."""

    def __init__(
        self,
        source: FunctionSource,
        files: PythonFiles,
        returns: Returns,
        callers: tuple[FunctionSource, ...],
    ) -> None:
        self._source = source
        self._files = files
        self._returns = returns
        self._callers = callers

    def read(self) -> None:
        body = self._source.node.body
        for statement in self._source.own_nodes:
            if isinstance(statement, ast.Return):
                self._read_value(statement.value, statement)
        if can_end(body, self._source):
            self._returns.end = self._returns.end or self._place(self._source.node)

    def _read_value(self, value: ast.expr | None, at: ast.AST) -> None:
        if value is None:
            self._returns.plain.append(self._place(at))
        elif isinstance(value, ast.IfExp):
            self._read_value(value.body, value.body)
            self._read_value(value.orelse, value.orelse)
        elif isinstance(value, ast.Await):
            self._read_call(value.value, is_awaited=True)
        elif isinstance(value, ast.Call):
            self._read_call(value, is_awaited=False)
        elif isinstance(value, ast.Name):
            assigned = self._source.assigned_once(value.id)
            if assigned is None or isinstance(assigned, ast.Name):
                self._returns.is_whole = False
            else:
                self._read_value(assigned, value)
        elif isinstance(value, _PLAIN):
            self._returns.plain.append(self._place(value))
        else:
            self._returns.is_whole = False

    def _read_call(self, value: ast.expr, *, is_awaited: bool) -> None:
        called = self._source.resolve(value.func) if isinstance(value, ast.Call) else None
        if not isinstance(value, ast.Call):
            self._returns.is_whole = False
        elif called is choose or called is Choice:
            word = value.args[0] if value.args else _keyword(value, "word")
            self._returns.words.append((self._source.literal(word), self._place(value)))
        elif called in _WAITS:
            self._read_wait(value)
        elif isinstance(called, type) and not is_awaited:
            if issubclass(called, Choice | HandlerWait):
                self._returns.is_whole = False
            else:
                self._returns.plain.append(self._place(value))
        else:
            self._follow(value, is_awaited=is_awaited)

    def _read_wait(self, call: ast.Call) -> None:
        ids = [*call.args, *(each.value for each in call.keywords)]
        nodes = [
            node for each in ids for node in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each])
        ]
        if not nodes:
            self._returns.waits.append((None, self._place(call)))
        for node in nodes:
            self._returns.waits.append((self._source.literal(node), self._place(node)))

    def _follow(self, call: ast.Call, *, is_awaited: bool) -> None:
        callee = callee_of(self._source, call, self._files)
        is_async = callee is not None and isinstance(callee.node, ast.AsyncFunctionDef)
        if callee is None or is_async != is_awaited or callee in self._callers or len(self._callers) > _DEPTH:
            self._returns.is_whole = False
        else:
            _Reader(callee, self._files, self._returns, (*self._callers, callee)).read()

    def _place(self, node: ast.AST) -> Place:
        return Place(self._source.file, node)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def can_end(body: Sequence[ast.stmt], source: FunctionSource) -> bool:
    """Whether what comes after these statements can be reached. In doubt not: what is said must be true."""
    return all(_can_pass(statement, source) for statement in body)


def _can_pass(node: ast.stmt, source: FunctionSource) -> bool:
    match node:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return False
        case ast.If():
            return can_end(node.body, source) or not node.orelse or can_end(node.orelse, source)
        case ast.While(test=ast.Constant(value=value)) if value:
            return any(isinstance(each, ast.Break) for each in _own_breaks(node.body))
        case ast.With() | ast.AsyncWith():
            return can_end(node.body, source)
        case ast.Try() | ast.TryStar():
            return _can_pass_try(node, source)
        case ast.Match():
            return any(can_end(case.body, source) for case in node.cases)
        case ast.Assert(test=ast.Constant(value=False)):
            return False
        case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
            return not _never_returns(call, source)
        case _:
            return True


def _can_pass_try(node: ast.Try | ast.TryStar, source: FunctionSource) -> bool:
    if not can_end(node.finalbody, source):
        return False
    passes = can_end(node.body, source) and can_end(node.orelse, source)
    return passes or any(can_end(handler.body, source) for handler in node.handlers)


def _own_breaks(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Statements of this loop, those of inner loops left out (their `else` is rare enough)."""
    for node in body:
        yield node
        if not isinstance(node, ast.For | ast.AsyncFor | ast.While | _INNER):
            yield from _own_breaks(list(_blocks(node)))


def _blocks(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _never_returns(call: ast.Call, source: FunctionSource) -> bool:
    """By its annotation, or because nobody knows what it is: `self.fail(…)` may be made to raise."""
    called = source.resolve(call.func)
    annotation = getattr(called, "__annotations__", {}).get("return")
    if annotation in (typing.NoReturn, typing.Never, "NoReturn", "Never", "typing.NoReturn", "typing.Never"):
        return True
    return getattr(called, "__name__", "") in ("exit", "_exit", "abort") and callable(called)
