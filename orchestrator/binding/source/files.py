"""Python files and the functions in them: each file is read and parsed once."""

from __future__ import annotations

import ast
import enum
import functools
import tokenize
import types
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from orchestrator.binding.importing import shown_path
from orchestrator.definition.problem import LabelledSpan, Span

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
UNKNOWN = object()
"""What an expression is that nobody can tell without running it."""
_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_CLAUSES = ast.ExceptHandler | ast.match_case
_INNER = _NAMED | ast.Lambda


@dataclass(frozen=True, eq=False)
class PythonFile:
    path: str
    tree: ast.Module
    lines: tuple[str, ...]
    functions: Mapping[tuple[int, str], FunctionNode]
    """By first line, decorators counted, and name."""

    def span(self, node: ast.AST) -> Span:
        """Of a definition only its name's line; columns count characters, not bytes as `ast` does."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        if isinstance(node, _NAMED):
            return Span(line, self._column(line, column), line, len(self.lines[line - 1].rstrip()) + 1)
        end, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return Span(line, self._column(line, column), end, self._column(end, end_column))

    def label(self, node: ast.AST, text: str) -> LabelledSpan:
        return LabelledSpan(self.path, self.span(node), text)

    def place(self, node: ast.AST) -> str:
        """`handlers/shop.py:12`"""
        return f"{self.path}:{node.lineno}"  # type: ignore[attr-defined]

    def _column(self, line: int, offset: int) -> int:
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function with its text, and what its names stand for."""

    file: PythonFile
    node: FunctionNode
    function: types.FunctionType

    @functools.cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Of all nodes below the function, by child."""
        found: dict[ast.AST, ast.AST] = {}
        pending: deque[ast.AST] = deque([self.node])
        while pending:
            node = pending.popleft()
            for child in ast.iter_child_nodes(node):
                found[child] = node
                pending.append(child)
        return found

    @property
    def nodes(self) -> Collection[ast.AST]:
        """All below the function, those of inner functions too; of one depth in the order of the text."""
        return self.parents.keys()

    @functools.cached_property
    def own_nodes(self) -> tuple[ast.AST, ...]:
        """Of the body, those of inner functions and classes left out."""
        return tuple(nodes_within(self.node.body))

    @functools.cached_property
    def _bound_names(self) -> tuple[str, ...]:
        return tuple(_names_bound_in(self.node, self.nodes))

    @functools.cached_property
    def _local_names(self) -> frozenset[str]:
        return frozenset(self._bound_names)

    def assigned_once(self, name: str) -> ast.expr | None:
        """The value of a local variable that is bound in one place, by `name = value`."""
        return self._single_assignments.get(name)

    @functools.cached_property
    def _single_assignments(self) -> Mapping[str, ast.expr]:
        counts = Counter(self._bound_names)
        return {
            node.targets[0].id: node.value
            for node in self.nodes
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and counts[node.targets[0].id] == 1
        }

    def resolve(self, node: ast.expr) -> object:
        """What a name, or an attribute of a module or enum, is at run time; UNKNOWN for anything else."""
        if isinstance(node, ast.Name):
            if node.id in self._local_names or node.id in self.function.__code__.co_freevars:
                return UNKNOWN
            scope = self.function.__globals__
            builtins = scope.get("__builtins__", {})
            names = builtins if isinstance(builtins, dict) else vars(builtins)
            return scope.get(node.id, names.get(node.id, UNKNOWN))
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, types.ModuleType | enum.EnumMeta):
                return vars(owner).get(node.attr, UNKNOWN) if _is_module(owner) else _member(owner, node.attr)
        return UNKNOWN

    def literal(self, node: ast.expr | None) -> str | None:
        """Text that an expression always is: written out, or a constant of the module."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        value = self.resolve(node) if node is not None else None
        return str.__str__(value) if isinstance(value, str) else None


def _is_module(owner: object) -> bool:
    return isinstance(owner, types.ModuleType)


def _member(owner: Any, name: str) -> object:
    return owner.__members__.get(name, UNKNOWN)


def nodes_within(body: Sequence[ast.AST]) -> list[ast.AST]:
    """All nodes of these and below, in their order; those inside inner functions and classes left out."""
    found: list[ast.AST] = []
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, _INNER):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def _names_bound_in(node: FunctionNode, nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Parameters, targets, imports and definitions, those of inner functions too; one item a binding."""
    for each in nodes:
        if isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        elif isinstance(each, _NAMED) and each is not node:
            yield each.name
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).partition(".")[0]
        elif isinstance(each, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and each.name is not None:
            yield each.name
        elif isinstance(each, ast.MatchMapping) and each.rest is not None:
            yield each.rest


def innermost(function: object) -> types.FunctionType | None:
    """The `def` behind partials, methods, objects with `__call__` and decorators that keep `__wrapped__`."""
    *_, last = None, *_layers(function)
    return last if isinstance(last, types.FunctionType) else None


def is_wrapped(function: object) -> bool:
    """Something stands around the `def` that may give another result, and do more."""
    return any("__wrapped__" in _dict_of(layer) for layer in _layers(function))


def _layers(function: object) -> Iterator[object]:
    """What is called, and what that calls in turn, as far as it shows."""
    seen: set[int] = set()
    inner: object | None = function
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        yield inner
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif isinstance(inner, types.MethodType):
            inner = inner.__func__
        elif "__wrapped__" in _dict_of(inner):
            inner = _dict_of(inner)["__wrapped__"]
        elif isinstance(inner, types.FunctionType | type):
            return
        else:
            inner = getattr(type(inner), "__call__", None)  # noqa: B004


def _dict_of(function: object) -> Mapping[str, object]:
    try:
        found = object.__getattribute__(function, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, Mapping) else {}


@dataclass
class PythonFiles:
    """Of one run of the linter: what is on the disk is taken to be what was imported."""

    _files: dict[str, PythonFile | None] = field(default_factory=dict)
    _functions: dict[types.CodeType, FunctionSource | None] = field(default_factory=dict)

    def source_of(self, function: object) -> FunctionSource | None:
        """None where there is no text: built in, made at run time, or written in another language."""
        plain = innermost(function)
        if plain is None:
            return None
        code = plain.__code__
        if code not in self._functions:
            file = self.file(code.co_filename)
            node = file.functions.get((code.co_firstlineno, code.co_name)) if file is not None else None
            is_found = file is not None and node is not None
            self._functions[code] = FunctionSource(file, node, plain) if is_found else None  # type: ignore[arg-type]
        return self._functions[code]

    def file(self, path: str) -> PythonFile | None:
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]


def _read(path: str) -> PythonFile | None:
    try:
        with tokenize.open(path) as file:
            text = file.read()
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    functions = {}
    for node in _statements(tree.body):
        if isinstance(node, FunctionNode):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            functions[first, node.name] = node
    return PythonFile(shown_path(path), tree, tuple(text.split("\n")), functions)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All of them, at any depth; functions are nowhere else."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, name, ())
            for part in inner:
                yield from _statements(part.body if isinstance(part, _CLAUSES) else [part])
