"""Expressions over values that are partly unknown: a value where it is certain, an Unknown elsewhere.

A guard must come out true or false: each of its parts that is unknown is guessed, and the guess is remembered
by the values that it speaks of, so that `g` and `!g` of one step never both hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.definition.cel_tree import Call, Const, Fold, Ident, ListNode, MapNode, Node, Read, Select
from orchestrator.definition.model import Json, Path
from orchestrator.verify.oracle import Oracle
from orchestrator.verify.spelling import spell
from orchestrator.verify.unknown import Unknown, is_unknown, known

_VOLATILE = frozenset(["now", "step", "run"])
"""What no search can know; of `run` the start input alone is looked at."""


class Interpreter:
    """Evaluates the expressions of one event; forgets nothing until `reset`."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._derived: dict[tuple[object, ...], Unknown] = {}
        self._kept: list[object] = []
        """Values whose ids are keys: they must not be given away."""

    def reset(self) -> None:
        self._derived.clear()
        self._kept.clear()

    def value(self, node: Node, scope: Mapping[str, Any], path: Path | None = None) -> Json:
        """With a path, unknown lengths are guessed."""
        return known(_Evaluation(self, scope, path).evaluate(node))

    def holds(self, node: Node, scope: Mapping[str, Any], path: Path) -> bool:
        return _Evaluation(self, scope, path, is_guard=True).decide(node)

    def elements(self, node: Node, scope: Mapping[str, Any], path: Path) -> list[Json]:
        """A list: as it is, or with a guessed number of unknown elements."""
        value = self.value(node, scope, path)
        if isinstance(value, list):
            return value
        unknown = value if isinstance(value, Unknown) else Unknown()
        return unknown.become_list(self._oracle.length(path, f"size({spell(node)})"))

    def count(self, node: Node, scope: Mapping[str, Any], path: Path) -> int:
        value = self.value(node, scope, path)
        if isinstance(value, int) and not isinstance(value, bool):
            return max(value, 0)
        guessed = self._oracle.length(path, spell(node))
        if isinstance(value, Unknown):
            value.become(guessed)
        return guessed

    def derive(self, function: str, *operands: Json) -> Unknown:
        """The same operation on the same values is the same unknown."""
        key = (function, *(self._key(operand) for operand in operands))
        if key not in self._derived:
            self._derived[key] = Unknown()
        return self._derived[key]

    def _key(self, value: Json) -> object:
        value = known(value)
        if isinstance(value, bool | int | float | str | None):
            return (type(value).__name__, value)
        self._kept.append(value)
        return id(value)

    def guess(self, truth: Unknown, path: Path, text: str) -> bool:
        holds = self._oracle.choose((True, False), path, text)
        truth.become(holds)
        return holds

    def guess_length(self, unknown: Unknown, path: Path, text: str) -> int:
        return len(unknown.become_list(self._oracle.length(path, text)))


class _Evaluation:
    """One expression in one scope. With a path, lengths are guessed; in a guard, truths too."""

    def __init__(
        self, interpreter: Interpreter, scope: Mapping[str, Any], path: Path | None, *, is_guard: bool = False
    ) -> None:
        self._interpreter = interpreter
        self._scope = scope
        self._path = path
        self._is_guard = is_guard

    def decide(self, node: Node) -> bool:
        """The truth of a guard or of a part of one."""
        match node:
            case Call(function="!_", args=[inner]):
                return not self.decide(inner)
            case Call(function="_&&_", args=[left, right]):
                return self.decide(left) and self.decide(right)
            case Call(function="_||_", args=[left, right]):
                return self.decide(left) or self.decide(right)
            case Call(function="_!=_", args=[left, right]):
                return not self.decide(Call(node.at, "_==_", [left, right]))
            case Call(function="_?_:_", args=[condition, then, otherwise]):
                return self.decide(then) if self.decide(condition) else self.decide(otherwise)
        value = known(self.evaluate(node))
        if isinstance(value, bool):
            return value
        assert self._path is not None
        if isinstance(node, Call) and node.function == "_==_":
            return self._decide_equality(node, value)
        truth = value if isinstance(value, Unknown) else Unknown()
        return self._interpreter.guess(truth, self._path, spell(node))

    def _decide_equality(self, node: Call, truth: Json) -> bool:
        assert self._path is not None and isinstance(truth, Unknown)
        left, right = (known(self.evaluate(argument)) for argument in node.args)
        if isinstance(right, Unknown) and not isinstance(left, Unknown):
            left, right = right, left
        options = left.options() if isinstance(left, Unknown) and not is_unknown(right) else None
        if options is not None and right not in options:
            truth.become(False)
            return False
        if options == [right]:
            truth.become(True)
        holds = True if options == [right] else self._interpreter.guess(truth, self._path, spell(node))
        if isinstance(left, Unknown) and not is_unknown(right):
            if holds:
                left.become(right)
            else:
                left.excluded.append(right)
        return holds

    def evaluate(self, node: Node) -> Json:
        match node:
            case Const(value=value):
                return value
            case Read():
                return self._read(node)
            case Call():
                return self._call(node)
            case Select(operand=operand, field=field):
                return self._select(known(self.evaluate(operand)), field, node.is_test)
            case ListNode(elements=elements, optional=()):
                return [self.evaluate(element) for element in elements]
            case MapNode(entries=entries):
                return self._map(entries)
            case Fold():
                return self._fold(node)
            case Ident() | ListNode():
                return Unknown()

    def _read(self, read: Read) -> Json:
        root = read.path[0]
        if root in _VOLATILE and read.path[:2] != ("run", "input"):
            return self._interpreter.derive("read", read.name)
        value = self._scope[str(root)]
        if root == "failure":
            return None if value is None else self._failure(read)
        for step in read.path[1:]:
            value = self._step(value, step)
        return value

    def _failure(self, read: Read) -> Json:
        truth = self._interpreter.derive("read", read.name)
        truth.is_never_null = True
        return truth

    def _step(self, value: Json, step: str | int) -> Json:
        value = known(value)
        if isinstance(value, Unknown):
            return value.field(step) if isinstance(step, str) else self._interpreter.derive("[]", value, step)
        if isinstance(value, Mapping) and isinstance(step, str) and step in value:
            return value[step]
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            return value[step]
        return self._interpreter.derive("[]", value, step)

    def _select(self, value: Json, field: str, is_test: bool) -> Json:
        if is_test:
            if isinstance(value, Mapping):
                return field in value
            return self._interpreter.derive("has", value, field)
        return self._step(value, field)

    def _map(self, entries: list[Any]) -> Json:
        made: dict[str, Json] = {}
        for entry in entries:
            key = known(self.evaluate(entry.key))
            if entry.is_optional or not isinstance(key, str):
                return Unknown(is_never_null=True)
            made[key] = self.evaluate(entry.value)
        return made

    def _fold(self, fold: Fold) -> Json:
        """`list.map(x, f)` has as many elements as its list; other macros are unknown."""
        over = known(self.evaluate(fold.over))
        makes_one_each = (
            isinstance(fold.step, Call)
            and fold.step.function == "_+_"
            and len(fold.step.args) == 2
            and isinstance(fold.step.args[1], ListNode)
            and len(fold.step.args[1].elements) == 1
        )
        if isinstance(over, list) and isinstance(fold.start, ListNode) and makes_one_each:
            return [Unknown() for _ in over]
        return Unknown(is_never_null=True)

    def _call(self, call: Call) -> Json:
        function = call.function
        if function == "_?_:_":
            return self._choose(call.args)
        operands = [known(self.evaluate(argument)) for argument in _operands(call)]
        if function == "size":
            return self._size(operands[0], call)
        if function == "_==_" and None in operands and not self._may_be_null(operands):
            return False
        exact = _EXACT.get(function)
        if exact is None or any(_has_unknown(operand) for operand in operands):
            return self._partial(call, operands)
        try:
            return exact(*operands)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return self._interpreter.derive(function, *operands)

    def _choose(self, args: list[Node]) -> Json:
        condition = known(self.evaluate(args[0]))
        if isinstance(condition, bool):
            return self.evaluate(args[1] if condition else args[2])
        if self._is_guard:
            return self.evaluate(args[1] if self.decide(args[0]) else args[2])
        return Unknown()

    def _size(self, value: Json, call: Call) -> Json:
        if isinstance(value, list | str | Mapping):
            return len(value)
        if isinstance(value, Unknown) and self._path is not None:
            return self._interpreter.guess_length(value, self._path, spell(call))
        return self._interpreter.derive("size", value)

    @staticmethod
    def _may_be_null(operands: list[Json]) -> bool:
        other = next((operand for operand in operands if operand is not None), None)
        return other is None or (isinstance(other, Unknown) and other.may_be_null)

    def _partial(self, call: Call, operands: list[Json]) -> Json:
        """Three-valued logic, and comparisons that are one another's opposites."""
        function = call.function
        if function == "_&&_" and any(operand is False for operand in operands):
            return False
        if function == "_||_" and any(operand is True for operand in operands):
            return True
        if function == "range" and isinstance(operands[0], Unknown):
            return self._interpreter.derive("range", operands[0])
        if function == "orValue":
            return Unknown()
        if function in _MIRRORED:
            is_swapped, is_negated = _MIRRORED[function]
            left, right = reversed(operands) if is_swapped else operands
            found = self._interpreter.derive("_<_", left, right)
            nodes = reversed(call.args) if is_swapped else call.args
            return self._negated(found, " < ".join(map(spell, nodes))) if is_negated else found
        if function == "!_":
            return self._negated(operands[0], spell(call.args[0]))
        return self._interpreter.derive(function, *operands)

    def _negated(self, truth: Json, text: str) -> Json:
        value = known(truth)
        if isinstance(value, bool):
            return not value
        if self._is_guard and self._path is not None and isinstance(value, Unknown):
            return not self._interpreter.guess(value, self._path, text)
        return self._interpreter.derive("!_", truth)


def _operands(call: Call) -> list[Node]:
    return call.args if call.target is None else [call.target, *call.args]


def _has_unknown(value: Json) -> bool:
    value = known(value)
    if isinstance(value, Unknown):
        return True
    if isinstance(value, list):
        return any(_has_unknown(element) for element in value)
    return isinstance(value, Mapping) and any(_has_unknown(element) for element in value.values())


_MIRRORED = {"_>_": (True, False), "_<=_": (True, True), "_>=_": (False, True)}
"""Each as `_<_`: (operands swapped, negated)."""
_EXACT: dict[str, Callable[..., Json]] = {
    "!_": operator.not_,
    "_&&_": lambda left, right: left and right,
    "_||_": lambda left, right: left or right,
    "_==_": lambda left, right: left == right,
    "_!=_": lambda left, right: left != right,
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
    "_+_": operator.add,
    "_-_": operator.sub,
    "_*_": operator.mul,
    "-_": operator.neg,
    "@in": lambda element, whole: element in whole,
    "_[_]": operator.getitem,
    "range": lambda number: list(range(number)),
    "coalesce": lambda first, second: second if first is None else first,
    "sum": sum,
    "int": int,
}
