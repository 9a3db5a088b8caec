"""Our own type pass over a CEL tree: finds mistakes, and says what to read and what to convert.

The result is another tree, in which names became `Read`s of static paths, numbers of the definition's types
are doubles, times are timestamps, and `let` names are replaced by what they stand for.
"""

from __future__ import annotations

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
from orchestrator.definition.expression_problem import (
    USES,
    ExpressionProblem,
    boolean_help,
    conversion_help,
    no_field,
    span_of,
)
from orchestrator.definition.kinds import (
    ANY_KIND,
    BOOL,
    STRING,
    Kind,
    join,
    join_all,
    kind_of_value,
    member_kind,
    members_of,
    optional_of,
)
from orchestrator.definition.lifting import NOTHING, Typed, bind, conditional, in_order, lift
from orchestrator.definition.nearness import did_you_mean, only_near
from orchestrator.definition.operators import (
    Mismatch,
    arithmetic_kind,
    check_equality,
    check_membership,
    check_order,
)

_NAMESPACES = ("math", "optional", "strings", "cel")


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
            raise self._problem(node, "JSON has no unsigned numbers", f"write `{node.value!r}`")
        return node, kind_of_value(node.value)

    def _name(self, node: Ident, variables: Mapping[str, Kind]) -> Typed:
        name = node.name
        if name in variables:
            return node, variables[name]
        if name in self._names.lets:
            return self._names.lets[name]
        if name in self._names.kinds:
            return Read(node.at, (name,)), self._names.kinds[name].at((name,))
        if name in _TYPE_NAMES:
            return node, Kind("type")
        if name in self._names.hidden:
            raise self._problem(node, self._names.hidden[name])
        known = [*variables, *self._names.lets, *self._names.kinds]
        known = [each for each in known if each[0] not in "@#"]
        help = did_you_mean(name, known) or "in scope are " + ", ".join(known)
        raise self._problem(node, f"there is no name `{name}` here", help, only_near(name, known))

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
            return Read(node.at, path), member.at((*kind.place, node.field))
        return Select(node.at, operand, node.field), member

    def _member(self, node: Node, name: str, kind: Kind) -> Kind:
        """The kind of a field, which must be known where the type lists its fields."""
        if kind.name == "any":
            return Kind("any", is_raw=kind.is_raw)
        shown = f"`{'.'.join(kind.place)}`" if kind.place else "this"
        if kind.name != "map":
            raise self._problem(node, *no_field(shown, name, kind))
        known, is_open = members_of(kind)
        if name in known or is_open:
            return member_kind(kind, name)
        help = did_you_mean(name, known) or ("it has " + ", ".join(known) if known else "")
        raise self._problem(node, f"{shown} has no field `{name}`", help, only_near(name, known))

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
        return bind("@value", args[0], conditional(Call(node.at, "_==_", [bound, NOTHING]), args[1], bound))

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
                node, f"`{shown}` takes {words}, not {kind.word}", conversion_help(kind, asked)
            )

    def _unknown_function(self, node: Call, name: str, is_method: bool = False) -> ExpressionProblem:
        if is_method and name in GLOBAL:
            return self._problem(node, f"`{name}` is no method", f"write `{name}(…)`")
        if not is_method and name in MEMBER:
            return self._problem(node, f"`{name}` is a method", f"write `value.{name}(…)`")
        known = [*MEMBER, *MACROS] if is_method else [*GLOBAL, *MACROS]
        named = [each for each in known if "@" not in each]
        if name in MACROS:
            return self._problem(node, f"`{name}` has the wrong number of arguments", f"write {USES[name]}")
        help, instead = did_you_mean(name, named), only_near(name, named)
        return self._problem(node, f"there is no function `{name}`", help, instead)

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
                raise self._problem(arg, f"`{operator}` takes boolean, not {kind.word}", boolean_help(kind))
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
            raise self._problem(node.args[0], f"`?` takes boolean, not {asked.word}", boolean_help(asked))
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
        step = _static_step(key)
        if isinstance(operand, Read) and operand.member is None and step is not None:
            return Read(node.at, (*operand.path, step)), replace(result, place=(*kind.place, str(step)))
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
        raise self._problem(node, f"{kind.word} has no elements", boolean_help(kind))

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
        made = replace(node, over=in_order(over, over_kind), start=start, condition=condition, step=step)
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

    def _problem(
        self, node: Node, message: str, help: str = "", instead: str | None = None
    ) -> ExpressionProblem:
        return ExpressionProblem(message, *span_of(node, self._text), help, instead)


_TYPE_NAMES = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type"})
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


def _static_step(key: Node) -> str | int | None:
    if not isinstance(key, Const):
        return None
    is_index = type(key.value) is int and key.value >= 0
    return key.value if is_index or isinstance(key.value, str) else None


def _by_element(name: str, kinds: list[Kind]) -> str:
    """The overload to call: what a function of ours returns must be declared."""
    if name == "duration":
        return "@duration"
    element = kinds[0].element if kinds else None
    if name in ("sum", "min", "max") and element is not None and element.name in ("timestamp", "duration"):
        return f"{name}@{element.name}"
    return name
