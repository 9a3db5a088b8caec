"""Values as written in a flow: literals, expressions, and texts, mappings and lists that hold expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.definition.cel import EvaluationFailed, Program
from orchestrator.definition.cel_library import text_of
from orchestrator.definition.cel_tree import Call, Const, Entry, ListNode, MapNode, Node, reads_in
from orchestrator.definition.kinds import STRING, Kind, join_all, kind_of_value, schema_of
from orchestrator.definition.lifting import Typed, lift, node_of
from orchestrator.definition.model import Json, Path
from orchestrator.definition.type_text import compact
from orchestrator.definition.types import Type, make_type

ReadPath = tuple[str, ...]


class ExpressionFailed(Exception):
    """An expression gave no value; the text names the expression."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Value:
    """What stands where the language takes a value. Immutable; the path does not count in comparisons."""

    __slots__ = ("_names", "_type", "path", "text")

    path: Path
    text: str
    """As written, on one line."""

    def __init__(self, text: str, path: Path, names: Mapping[str, Json]) -> None:
        self.text = text
        self.path = path
        self._names = names
        self._type: Type | None = None

    @property
    def type(self) -> Type:
        """What is known of every value that this can give; `any` where nothing is."""
        if self._type is None:
            self._type = make_type(schema_of(self.kind), self._names)
        return self._type

    @property
    def kind(self) -> Kind:
        raise NotImplementedError

    @property
    def tree(self) -> Typed:
        """As part of a larger expression."""
        raise NotImplementedError

    @property
    def is_literal(self) -> bool:
        """No expression inside."""
        return not self.expressions

    @property
    def expressions(self) -> tuple[Expression, ...]:
        raise NotImplementedError

    @property
    def reads(self) -> frozenset[ReadPath]:
        """Static paths into the scope, as far as they are known, `let` names resolved."""
        return frozenset(path for expression in self.expressions for path in expression.reads)

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def _content(self) -> Any:
        return self.text


class Literal(Value):
    """A value without expressions."""

    __slots__ = ("value",)

    def __init__(self, value: Json, path: Path, names: Mapping[str, Json], text: str | None = None) -> None:
        shown = value if isinstance(value, str) else compact(value)
        super().__init__(shown if text is None else text, path, names)
        self.value = value

    @property
    def kind(self) -> Kind:
        return kind_of_value(self.value)

    @property
    def tree(self) -> Typed:
        return node_of(self.value), self.kind

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        return self.value

    def _content(self) -> Any:
        return repr(self.value)


class Expression(Value):
    """One CEL expression; as a guard it must give a boolean."""

    __slots__ = ("_is_guard", "_kind", "_made", "_node", "_reads", "source")

    def __init__(
        self,
        source: str,
        typed: Typed,
        path: Path,
        names: Mapping[str, Json],
        *,
        text: str,
        is_guard: bool = False,
    ) -> None:
        super().__init__(text, path, names)
        self.source = source
        """The expression alone, without `${…}`."""
        self._node, self._kind = typed
        self._is_guard = is_guard
        self._made: Program | None = None
        self._reads: frozenset[ReadPath] | None = None

    @property
    def kind(self) -> Kind:
        return self._kind

    @property
    def tree(self) -> Typed:
        return self._node, self._kind

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self,)

    @property
    def reads(self) -> frozenset[ReadPath]:
        if self._reads is None:
            self._reads = frozenset(_static(read.path, read.member) for read in reads_in(self._node))
        return self._reads

    @property
    def names(self) -> frozenset[str]:
        """Top-level names that the scope must have."""
        return frozenset(path[0] for path in self.reads)

    @property
    def _program(self) -> Program:
        """Made when it is needed first: whoever only looks at a flow never runs it."""
        if self._made is None:
            node, _ = (self._node, self._kind) if _is_path(self._node) else lift(self._node, self._kind)
            self._made = Program(node, is_time=self._kind.name == "timestamp")
        return self._made

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        try:
            value = self._program.evaluate(scope)
        except EvaluationFailed as failure:
            raise self._failed(str(failure)) from None
        if self._is_guard and value is not True and value is not False:
            shown = "null" if value is None else compact(value)
            raise self._failed(f"a guard must give true or false, not {shown}")
        return value

    def evaluate_text(self, scope: Mapping[str, Any]) -> str:
        """As part of a longer text."""
        try:
            return text_of(self._program.run(scope))
        except (EvaluationFailed, ValueError) as failure:
            raise self._failed(str(failure)) from None

    def _failed(self, reason: str) -> ExpressionFailed:
        shown = f"`{self.source.strip()}`: "
        return ExpressionFailed(reason if reason.startswith(shown) else shown + reason)

    def _content(self) -> Any:
        return (self.source.strip(), self._is_guard)


def _is_path(node: Node) -> bool:
    return type(node).__name__ == "Read"


def _static(path: tuple[str | int, ...], member: str | None) -> ReadPath:
    found: list[str] = []
    for step in path:
        if not isinstance(step, str):
            return tuple(found)
        found.append(step)
    return tuple(found) if member is None else (*found, member)


class Interpolation(Value):
    """Text with expressions inside; gives text."""

    __slots__ = ("parts",)

    def __init__(
        self, text: str, parts: tuple[str | Expression, ...], path: Path, names: Mapping[str, Json]
    ) -> None:
        super().__init__(text, path, names)
        self.parts = parts

    @property
    def kind(self) -> Kind:
        return STRING

    @property
    def tree(self) -> Typed:
        nodes = [Const(0, part) if isinstance(part, str) else _as_text(part) for part in self.parts]
        whole = nodes[0]
        for node in nodes[1:]:
            whole = Call(0, "_+_", [whole, node])
        return whole, STRING

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(part for part in self.parts if isinstance(part, Expression))

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        return "".join(part if isinstance(part, str) else part.evaluate_text(scope) for part in self.parts)


def _as_text(expression: Expression) -> Node:
    node, _ = lift(*expression.tree)
    return Call(0, "@text", [node])


class MappingValue(Value):
    """A mapping, some leaf of which is an expression; of two equal keys the later wins."""

    __slots__ = ("entries",)

    def __init__(
        self, entries: tuple[tuple[str | Value, Value], ...], path: Path, names: Mapping[str, Json]
    ) -> None:
        shown = ((compact(key) if isinstance(key, str) else key.text, value) for key, value in entries)
        super().__init__("{" + ", ".join(f"{key}: {value.text}" for key, value in shown) + "}", path, names)
        self.entries = entries

    @property
    def kind(self) -> Kind:
        if all(isinstance(key, str) for key, _ in self.entries):
            return Kind("map", members={str(key): value.kind for key, value in self.entries})
        return Kind("map", join_all([value.kind for _, value in self.entries]))

    @property
    def tree(self) -> Typed:
        entries = []
        for key, value in self.entries:
            key_node = Const(0, key) if isinstance(key, str) else lift(*key.tree)[0]
            entries.append(Entry(key_node, lift(*value.tree)[0]))
        return MapNode(0, entries), _native(self.kind)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        keys = (key for key, _ in self.entries if isinstance(key, Value))
        values = [*keys, *(value for _, value in self.entries)]
        return tuple(expression for value in values for expression in value.expressions)

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        return {
            key if isinstance(key, str) else evaluate_key(key, scope): value.evaluate(scope)
            for key, value in self.entries
        }

    def _content(self) -> Any:
        return self.entries


def evaluate_key(key: Value, scope: Mapping[str, Any]) -> str:
    """The key of a map: text, or an integer as text."""
    found = key.evaluate(scope)
    if isinstance(found, str) and found:
        return found
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    shown = "empty text" if found == "" else "null" if found is None else compact(found)
    raise ExpressionFailed(f"`{key.text}`: a key is text or an integer, not {shown}")


class ListValue(Value):
    """A list, some leaf of which is an expression."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Value, ...], path: Path, names: Mapping[str, Json]) -> None:
        super().__init__("[" + ", ".join(element.text for element in elements) + "]", path, names)
        self.elements = elements

    @property
    def kind(self) -> Kind:
        return Kind("list", join_all([element.kind for element in self.elements]))

    @property
    def tree(self) -> Typed:
        return ListNode(0, [lift(*element.tree)[0] for element in self.elements]), _native(self.kind)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for element in self.elements for expression in element.expressions)

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        return [element.evaluate(scope) for element in self.elements]

    def _content(self) -> Any:
        return self.elements


def _native(kind: Kind) -> Kind:
    """The kind of a structure whose leaves have been lifted."""
    if kind.members is not None:
        return Kind("map", members={name: _native(member) for name, member in kind.members.items()})
    if kind.name == "list" and kind.element is not None:
        return Kind("list", _native(kind.element))
    return kind.native() if kind.name in ("double", "timestamp") else kind
