"""Our own type pass over a CEL tree: finds mistakes, and says what to read and what to convert.

The result is another tree, in which names became `Read`s of static paths, numbers of the definition's types
are doubles, times are timestamps, and `let` names are replaced by what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orchestrator.definition.cel_library import GLOBAL, MACROS, MEMBER, Signature
from orchestrator.definition.cel_tree import (
    Call,
    Const,
    Entry,
    Fold,
    Ident,
    ListNode,
    MapNode,
    Node,
    Read,
    Select,
)
from orchestrator.definition.kinds import (
    ANY_KIND,
    BOOL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    join,
    join_all,
    kind_of_value,
    list_of,
    member_kind,
    members_of,
    optional_of,
)
from orchestrator.definition.model import Json
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.operators import (
    Mismatch,
    arithmetic_kind,
    check_equality,
    check_membership,
    check_order,
)

Typed = tuple[Node, Kind]
_NAMESPACES = ("math", "optional", "strings", "cel")
_NOTHING = Const(0, None)


class ExpressionProblem(Exception):
    """Something is wrong with an expression; offsets count from 0 in the text that was given.

    `at` is where that text stands inside the node that was parsed.
    """

    def __init__(self, message: str, offset: int = 0, end_offset: int = 0, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.end_offset = end_offset
        self.help = help
        self.at: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression may see."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    lets: Mapping[str, Typed] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Names that exist elsewhere, and why they cannot be read here."""


def infer(root: Node, names: Names, text: str) -> Typed:
    """The tree to run and the kind of its result; raises ExpressionProblem for the first mistake."""
    return _Inference(names, text).infer(root, {})


def lift(node: Node, kind: Kind) -> Typed:
    """JSON as CEL needs it: numbers as doubles, times as timestamps."""
    if not kind.is_raw:
        return node, kind
    if kind.name == "double":
        if isinstance(node, Read):
            return replace(node, is_lifted=True), kind.native()
        return _unless_null(node, "double"), kind.native()
    if kind.name == "timestamp":
        return _unless_null(node, "timestamp"), kind.native()
    if kind.name == "list" and kind.element is not None and kind.element.name == "timestamp":
        return _each_time(node), list_of(TIMESTAMP)
    return node, kind


def _each_time(node: Node) -> Node:
    """`node.map(each, timestamp(each))`, or null."""
    element, total = Ident(node.at, "@each"), Ident(node.at, "@times")
    step = Call(node.at, "_+_", [total, ListNode(node.at, [_unless_null(element, "timestamp")])])
    bound = Ident(node.at, "@list")
    times = Fold(node.at, "@each", bound, "@times", ListNode(node.at, []), Const(node.at, True), step, total)
    return _bind("@list", node, _conditional(Call(node.at, "_==_", [bound, _NOTHING]), _NOTHING, times))


def _unless_null(node: Node, function: str) -> Node:
    if isinstance(node, Read | Ident):
        return _conditional(
            Call(node.at, "_==_", [node, _NOTHING]), _NOTHING, Call(node.at, function, [node])
        )
    bound = Ident(node.at, "@value")
    return _bind("@value", node, _unless_null(bound, function))


def _conditional(condition: Node, one: Node, other: Node) -> Node:
    return Call(condition.at, "_?_:_", [condition, one, other])


def _bind(name: str, value: Node, result: Node) -> Node:
    start, empty = value, ListNode(value.at, [])
    return Fold(
        value.at, "#unused", empty, name, start, Const(value.at, False), Ident(value.at, name), result
    )


class _Inference:
    def __init__(self, names: Names, text: str) -> None:
        self._names = names
        self._text = text

    def infer(self, node: Node, variables: Mapping[str, Kind]) -> Typed:
        match node:
            case Const():
                return self._const(node)
            case Ident():
                return self._name(node, variables)
            case Select():
                return self._select(node, variables)
            case Call():
                return self._call(node, variables)
            case ListNode():
                return self._list(node, variables)
            case MapNode():
                return self._map(node, variables)
            case Fold():
                return self._fold(node, variables)
            case Read():
                return node, ANY_KIND

    def value(self, node: Node, variables: Mapping[str, Kind]) -> Typed:
        return lift(*self.infer(node, variables))

    # --- Leaves and fields

    def _const(self, node: Const) -> Typed:
        if node.is_unsigned:
            raise self._problem(node, "JSON has no unsigned numbers", f"write `{node.value}`")
        return node, kind_of_value(node.value)

    def _name(self, node: Ident, variables: Mapping[str, Kind]) -> Typed:
        name = node.name
        if name in variables:
            return node, variables[name]
        if name in self._names.lets:
            return self._names.lets[name]
        if name in self._names.kinds:
            return Read(node.at, (name,)), replace(self._names.kinds[name], place=(name,))
        if name in self._names.hidden:
            raise self._problem(node, self._names.hidden[name])
        known = [*variables, *self._names.lets, *self._names.kinds]
        known = [each for each in known if each[0] not in "@#"]
        help = did_you_mean(name, known) or "in scope are " + ", ".join(known)
        raise self._problem(node, f"there is no name `{name}` here", help)

    def _select(self, node: Select, variables: Mapping[str, Kind]) -> Typed:
        operand, kind = self.infer(node.operand, variables)
        if kind.name == "optional":
            element = kind.element or ANY_KIND
            made = Select(node.at, operand, node.field, node.is_test)
            return made, BOOL if node.is_test else optional_of(self._member(node, node.field, element))
        member = self._member(node, node.field, kind)
        if node.is_test:
            if isinstance(operand, Read) and operand.member is None:
                operand = replace(operand, member=node.field)
            return Select(node.at, operand, node.field, is_test=True), BOOL
        if isinstance(operand, Read) and operand.member is None:
            path = (*operand.path, node.field)
            return Read(node.at, path), replace(member, place=(*kind.place, node.field))
        return Select(node.at, operand, node.field), member

    def _member(self, node: Node, name: str, kind: Kind) -> Kind:
        """The kind of a field, which must be known where the type lists its fields."""
        if kind.name == "any":
            return Kind("any", is_raw=kind.is_raw)
        shown = f"`{'.'.join(kind.place)}`" if kind.place else "this"
        if kind.name != "map":
            raise self._problem(node, *_no_field(shown, name, kind))
        known, is_open = members_of(kind)
        if name in known or is_open:
            return member_kind(kind, name)
        help = did_you_mean(name, known) or ("it has " + ", ".join(known) if known else "")
        raise self._problem(node, f"{shown} has no field `{name}`", help)

    # --- Calls

    def _call(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        special = _SPECIAL.get(node.function)
        if special is not None and node.target is None:
            return special(self, node, variables)
        name, target = node.function, node.target
        if (
            isinstance(target, Ident)
            and target.name in _NAMESPACES
            and not self._is_known(target.name, variables)
        ):
            name, target = f"{target.name}.{name}", None
        if target is None:
            return self._function(node, name, variables)
        return self._method(node, target, variables)

    def _is_known(self, name: str, variables: Mapping[str, Kind]) -> bool:
        return name in variables or name in self._names.kinds or name in self._names.lets

    def _function(self, node: Call, name: str, variables: Mapping[str, Kind]) -> Typed:
        signature = GLOBAL.get(name)
        if signature is None:
            raise self._unknown_function(node, name)
        typed = [self.value(arg, variables) for arg in node.args]
        kinds = [kind for _, kind in typed]
        self._check_args(node, signature, kinds)
        args = [arg for arg, _ in typed]
        result = signature.result_kind(kinds)
        if name == "coalesce":
            return self._coalesce(node, args), replace(result, is_raw=False)
        return Call(node.at, _by_element(name, kinds), args), result

    def _coalesce(self, node: Call, args: list[Node]) -> Node:
        bound = Ident(node.at, "@value")
        return _bind(
            "@value", args[0], _conditional(Call(node.at, "_==_", [bound, _NOTHING]), args[1], bound)
        )

    def _method(self, node: Call, target: Node, variables: Mapping[str, Kind]) -> Typed:
        signature = MEMBER.get(node.function)
        if signature is None:
            raise self._unknown_function(node, node.function, is_method=True)
        typed = [self.value(arg, variables) for arg in (target, *node.args)]
        kinds = [kind for _, kind in typed]
        self._check_args(node, signature, kinds)
        (made, _), *args = typed
        return Call(node.at, node.function, [arg for arg, _ in args], made), signature.result_kind(kinds)

    def _check_args(self, node: Call, signature: Signature, kinds: list[Kind]) -> None:
        is_method = node.target is not None and signature is MEMBER.get(node.function)
        shown = signature.name.replace("@", "") + ("(…)" if not is_method else "")
        count = len(kinds) - is_method
        if not signature.accepts_count(len(kinds)):
            help = "write `max([a, b])`" if signature.name in ("min", "max") and count > 1 else ""
            help = help.replace("max", signature.name)
            raise self._problem(node, f"`{shown}` does not take {count} argument{'s' * (count != 1)}", help)
        for index, kind in enumerate(kinds):
            asked = signature.param(index)
            if kind.name == "any" or "any" in asked or kind.name in asked:
                continue
            words = " or ".join(sorted(Kind(name).word for name in asked))
            raise self._problem(
                node, f"`{shown}` takes {words}, not {kind.word}", _conversion_help(kind, asked)
            )

    def _unknown_function(self, node: Call, name: str, is_method: bool = False) -> ExpressionProblem:
        if is_method and name in GLOBAL:
            return self._problem(node, f"`{name}` is no method", f"write `{name}(…)`")
        if not is_method and name in MEMBER:
            return self._problem(node, f"`{name}` is a method", f"write `value.{name}(…)`")
        known = [*MEMBER, *MACROS] if is_method else [*GLOBAL, *MACROS]
        named = [each for each in known if "@" not in each]
        if name in MACROS:
            return self._problem(node, f"`{name}` has the wrong number of arguments", f"write {_USES[name]}")
        return self._problem(node, f"there is no function `{name}`", did_you_mean(name, named))

    # --- Operators

    def _binary(self, node: Call, variables: Mapping[str, Kind]) -> tuple[list[Node], tuple[Kind, Kind]]:
        (left, left_kind), (right, right_kind) = (self.value(arg, variables) for arg in node.args)
        return [left, right], (left_kind, right_kind)

    def _operator(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        operator = node.function.strip("_@")
        args, kinds = self._binary(node, variables)
        nodes = (args[0], args[1])
        try:
            if operator in ("==", "!="):
                check_equality(operator, kinds, nodes)
                result = BOOL
            elif operator in ("<", "<=", ">", ">="):
                check_order(operator, *kinds)
                result = BOOL
            elif operator == "in":
                result = check_membership(*kinds)
            else:
                result = arithmetic_kind(operator, kinds, nodes)
        except Mismatch as mismatch:
            raise self._problem(node, mismatch.message, mismatch.help) from None
        return Call(node.at, node.function, args), result

    def _logic(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        args = []
        for arg in node.args:
            made, kind = self.value(arg, variables)
            if kind.name not in ("bool", "any"):
                operator = node.function.strip("_").replace("@not_strictly_false", "this")
                raise self._problem(arg, f"`{operator}` takes boolean, not {kind.word}", _boolean_help(kind))
            args.append(made)
        return Call(node.at, node.function, args), BOOL

    def _negative(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        made, kind = self.value(node.args[0], variables)
        if kind.name not in ("int", "double", "any"):
            raise self._problem(node, f"`-` does not take {kind.word}")
        return Call(node.at, node.function, [made]), kind.native() if kind.name == "any" else Kind(kind.name)

    def _choice(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        (condition, asked), (one, kind), (other, other_kind) = (
            self.value(arg, variables) for arg in node.args
        )
        if asked.name not in ("bool", "any"):
            raise self._problem(node.args[0], f"`?` takes boolean, not {asked.word}", _boolean_help(asked))
        names = {kind.name, other_kind.name} - {"any", "null"}
        if len(names) > 1:
            help = (
                "write `double(…)` around the integer"
                if names == {"int", "double"}
                else "`dyn(…)` lifts that"
            )
            raise self._problem(
                node, f"`? :` gives {kind.word} or {other_kind.word}; it must be one type", help
            )
        result = ANY_KIND if "any" in (kind.name, other_kind.name) else join(kind, other_kind) or ANY_KIND
        return Call(node.at, node.function, [condition, one, other]), result

    def _index(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        operand, kind = self.infer(node.args[0], variables)
        key, key_kind = self.value(node.args[1], variables)
        is_optional = node.function == "_[?_]" or kind.name == "optional"
        inner = kind.element or ANY_KIND if kind.name == "optional" else kind
        result = self._element_kind(node, inner, key, key_kind)
        if is_optional:
            return Call(node.at, node.function, [operand, key]), optional_of(result)
        if isinstance(operand, Read) and operand.member is None and isinstance(key, Const):
            if isinstance(key.value, str) or (type(key.value) is int and key.value >= 0):
                path = (*operand.path, key.value)
                return Read(node.at, path), replace(result, place=(*kind.place, str(key.value)))
        return Call(node.at, node.function, [operand, key]), result

    def _element_kind(self, node: Call, kind: Kind, key: Node, key_kind: Kind) -> Kind:
        if kind.name == "any":
            return Kind("any", is_raw=kind.is_raw)
        if kind.name == "list":
            if key_kind.name not in ("int", "any"):
                raise self._problem(node, f"a list is indexed by integer, not by {key_kind.word}")
            return kind.element or ANY_KIND
        if kind.name == "map":
            if isinstance(key, Const) and isinstance(key.value, str):
                return self._member(node, key.value, kind)
            if key_kind.name not in ("string", "any") and kind.schema is not None:
                raise self._problem(node, f"an object is indexed by string, not by {key_kind.word}")
            return kind.element or Kind("any", is_raw=kind.is_raw)
        raise self._problem(node, f"{kind.word} has no elements", _boolean_help(kind))

    def _optional_field(self, node: Call, variables: Mapping[str, Kind]) -> Typed:
        operand, kind = self.infer(node.args[0], variables)
        key = node.args[1]
        name = str(key.value) if isinstance(key, Const) else ""
        inner = kind.element or ANY_KIND if kind.name == "optional" else kind
        member = self._member(node, name, inner)
        if isinstance(operand, Read) and operand.member is None and kind.name != "optional":
            operand = replace(operand, member=name)
        return Call(node.at, node.function, [operand, key]), optional_of(member)

    # --- Structures and macros

    def _list(self, node: ListNode, variables: Mapping[str, Kind]) -> Typed:
        elements, kinds = [], []
        for index, element in enumerate(node.elements):
            made, kind = self.value(element, variables)
            elements.append(made)
            kinds.append(self._given(element, kind) if index in node.optional else kind)
        return ListNode(node.at, elements, node.optional), Kind("list", join_all(kinds))

    def _given(self, node: Node, kind: Kind) -> Kind:
        if kind.name not in ("optional", "any"):
            raise self._problem(node, f"`?` takes an optional, not {kind.word}", "leave the `?` out")
        return kind.element or ANY_KIND

    def _map(self, node: MapNode, variables: Mapping[str, Kind]) -> Typed:
        if node.message_name:
            raise self._problem(node, f"there are no messages like `{node.message_name}{{…}}`", "write `{…}`")
        entries, members, is_exact = [], {}, True
        kinds = []
        for entry in node.entries:
            key, key_kind = self.value(entry.key, variables)
            if key_kind.name not in ("string", "int", "bool", "any"):
                raise self._problem(entry.key, f"a key is text, not {key_kind.word}")
            made, kind = self.value(entry.value, variables)
            kind = self._given(entry.value, kind) if entry.is_optional else kind
            entries.append(Entry(key, made, entry.is_optional))
            kinds.append(kind)
            if isinstance(key, Const) and isinstance(key.value, str) and not entry.is_optional:
                members[key.value] = kind
            else:
                is_exact = False
        found = Kind("map", members=members) if is_exact and members else Kind("map", join_all(kinds))
        return MapNode(node.at, entries), found

    def _fold(self, node: Fold, variables: Mapping[str, Kind]) -> Typed:
        start, kind = self.value(node.start, variables)
        if node.variable == "#unused":
            result, result_kind = self.value(node.result, {**variables, node.accumulator: kind})
            return replace(node, start=start, result=result), result_kind
        over, over_kind = self.value(node.over, variables)
        element = self._element_of(node, over_kind)
        inner = {**variables, node.variable: element, node.accumulator: kind}
        condition, _ = self.value(node.condition, inner)
        step, step_kind = self.value(node.step, inner)
        total = join(kind, step_kind) or ANY_KIND
        result, result_kind = self.value(node.result, {**variables, node.accumulator: total})
        made = replace(node, over=_in_order(over, over_kind), start=start, condition=condition, step=step)
        return replace(made, result=result), result_kind

    def _element_of(self, node: Fold, kind: Kind) -> Kind:
        if kind.name == "map":
            return STRING
        if kind.name == "list":
            return replace(kind.element or ANY_KIND, place=(node.variable,))
        if kind.name == "any":
            return Kind("any", is_raw=kind.is_raw)
        raise self._problem(node, f"this goes over lists and objects, not over {kind.word}")

    # --- Problems

    def _problem(self, node: Node, message: str, help: str = "") -> ExpressionProblem:
        return ExpressionProblem(message, *span_of(node, self._text), help)


def _by_element(name: str, kinds: list[Kind]) -> str:
    """The overload to call: what a function of ours returns must be declared."""
    if name == "duration":
        return "@duration"
    element = kinds[0].element if kinds else None
    if name in ("sum", "min", "max") and element is not None and element.name in ("timestamp", "duration"):
        return f"{name}@{element.name}"
    return name


def _in_order(over: Node, kind: Kind) -> Node:
    """CEL goes over a map in an order that differs from process to process; we go by key."""
    if kind.name == "map":
        return Call(over.at, "@keys", [over])
    if kind.name == "any":
        bound = Ident(over.at, "@over")
        is_map = Call(over.at, "_==_", [Call(over.at, "type", [bound]), Ident(over.at, "map")])
        return _bind("@over", over, _conditional(is_map, Call(over.at, "@keys", [bound]), bound))
    return over


_OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=")
_SPECIAL = {
    **{f"_{operator}_": _Inference._operator for operator in _OPERATORS},
    "@in": _Inference._operator,
    "_&&_": _Inference._logic,
    "_||_": _Inference._logic,
    "!_": _Inference._logic,
    "@not_strictly_false": _Inference._logic,
    "-_": _Inference._negative,
    "_?_:_": _Inference._choice,
    "_[_]": _Inference._index,
    "_[?_]": _Inference._index,
    "_?._": _Inference._optional_field,
}
_USES = {
    "has": "`has(a.b)`", "all": "`list.all(x, condition)`", "exists": "`list.exists(x, condition)`",
    "exists_one": "`list.exists_one(x, condition)`", "map": "`list.map(x, value)`",
    "filter": "`list.filter(x, condition)`", "cel.bind": "`cel.bind(name, value, result)`",
    "optMap": "`optional.optMap(x, value)`", "optFlatMap": "`optional.optFlatMap(x, optional)`",
    "math.greatest": "`math.greatest(a, b)`", "math.least": "`math.least(a, b)`",
}  # fmt: skip


def _no_field(shown: str, name: str, kind: Kind) -> tuple[str, str]:
    if kind.name == "list":
        return (
            f"{shown} is a list, it has no field `{name}`",
            f"read one element, `[0].{name}`, or all, `.map(x, x.{name})`",
        )
    if kind.name == "null":
        return f"{shown} is always null here, it has no field `{name}`", ""
    if kind.name == "timestamp":
        return f"{shown} is a time, it has no field `{name}`", "parts of a time are methods: `.getFullYear()`"
    return f"{shown} is {kind.word}, it has no field `{name}`", ""


def _boolean_help(kind: Kind) -> str:
    if kind.name == "optional":
        return "write `.hasValue()` or `.orValue(…)`"
    if kind.name in ("int", "double"):
        return "compare it: `!= 0`"
    if kind.name == "string":
        return 'compare it: `!= ""`'
    if kind.name in ("list", "map"):
        return "compare its size: `size(…) > 0`"
    return ""


def _conversion_help(kind: Kind, asked: frozenset[str]) -> str:
    if kind.name == "optional":
        return "give it a value: `.orValue(…)`"
    if kind.name == "int" and "double" in asked:
        return "write `double(…)` around it"
    if kind.name == "double" and "int" in asked:
        return "write `int(…)` around it"
    if kind.name == "string" and "timestamp" in asked:
        return "write `timestamp(…)` around it"
    return (
        "write `string(…)` around it" if "string" in asked and kind.name in ("int", "double", "bool") else ""
    )


def span_of(node: Node, text: str) -> tuple[int, int]:
    """Where a node's own token stands: the name, the operator, the function's name."""
    at = min(node.at, max(len(text) - 1, 0))
    if text[at : at + 1] == "(":
        before = re.search(r"[A-Za-z_]\w*\s*$", text[:at])
        if before is not None:
            return before.start(), before.start() + len(before[0].rstrip())
    if text[at : at + 1] == "." and (after := re.match(r"\.\s*\??\s*(\w+)", text[at:])) is not None:
        return at + after.start(1), at + after.end(1)
    token = re.match(r"\w+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|[=!<>&|]+|.", text[at:], re.DOTALL)
    return at, at + (len(token[0]) if token is not None else 1)


def node_of(value: Json) -> Node:
    """A constant as a tree."""
    if isinstance(value, list):
        return ListNode(0, [node_of(element) for element in value])
    if isinstance(value, dict):
        return MapNode(0, [Entry(Const(0, key), node_of(member)) for key, member in value.items()])
    return Const(0, value)


__all__ = ["DOUBLE", "INT", "ExpressionProblem", "Names", "Typed", "infer", "lift", "node_of", "span_of"]
