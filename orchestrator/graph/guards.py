"""Which guards of a list can hold together, which never, and whether some always does.

Each guard becomes a truth table over the regions of what it compares (subjects.py); a subexpression that is
understood no further is either true or false. The table may have rows that never happen, never too few: what
it shows to be impossible is impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from orchestrator.definition.cel_tree import Call, Const, Fold, Ident, ListNode, MapNode, Node, Read, Select
from orchestrator.definition.model import Json
from orchestrator.definition.type_text import compact
from orchestrator.definition.values import Expression
from orchestrator.graph.subjects import (
    BOOLEAN,
    COUNT,
    NO_WINNER,
    OTHER,
    UNKNOWN,
    WAIT,
    Domain,
    Interval,
    Other,
    Subjects,
    regions,
)

ROW_LIMIT = 4096
"""Larger tables are not built: nothing is known of their guards."""
Rows: TypeAlias = int
"""A set of rows: bit n is row n."""


@dataclass(frozen=True, slots=True)
class _Test:
    """Holds in those regions of the subject of which `accepts` is true."""

    subject: str
    accepts: Callable[[Any], bool]
    constants: tuple[Json, ...] = ()
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class _Not:
    part: _Formula


@dataclass(frozen=True, slots=True)
class _Junction:
    is_all: bool
    parts: tuple[_Formula, ...]


_Formula: TypeAlias = bool | _Test | _Not | _Junction
_FLIPPED = {"_<_": "_>_", "_>_": "_<_", "_<=_": "_>=_", "_>=_": "_<=_"}


class GuardTable:
    """The guards by index; None always holds."""

    def __init__(self, guards: Sequence[Expression | None], subjects: Subjects) -> None:
        self._reader = _Reader(subjects)
        self._formulas = [True if each is None else self._reader.formula(each.tree[0]) for each in guards]
        self._tests = [tuple(tests_of(formula)) for formula in self._formulas]
        self._axes = self._reader.axes([test for tests in self._tests for test in tests])
        self._numbers = {name: number for number, (name, _) in enumerate(self._axes)}
        row_count = 1
        for _, values in self._axes:
            row_count *= len(values)
        self.is_known = row_count <= ROW_LIMIT
        self._all: Rows = (1 << row_count) - 1 if self.is_known else 0
        if self.is_known:
            self._strides = _strides([len(values) for _, values in self._axes])
            self._possible = self._rows_that_agree()
            self._rows = [self._rows_of(formula) for formula in self._formulas]

    def constant(self, index: int) -> bool | None:
        """True or False where the guard is always that, whatever is read."""
        formula = self._formulas[index]
        if isinstance(formula, bool):
            return formula
        if not self.is_known:
            return None
        rows = self._rows[index] & self._possible
        return True if rows == self._possible else False if rows == 0 else None

    def can(self, holds: Sequence[int] = (), fails: Sequence[int] = ()) -> bool:
        """Whether all of `holds` can hold while none of `fails` does."""
        return not self.is_known or self._where(holds, fails) != 0

    def case(self, holds: Sequence[int] = (), fails: Sequence[int] = ()) -> str | None:
        """Such a case in words; None where there is none or the table is not known."""
        rows = self._where(holds, fails) if self.is_known else 0
        if not rows:
            return None
        row = (rows & -rows).bit_length() - 1
        kept = list(range(len(self._axes)))
        for number in list(kept):
            rest = [each for each in kept if each != number]
            if not self._alike(rest, row) & ~rows:
                kept = rest
        return " and ".join(self._says(number, row) for number in kept) or "it is reached"

    def subjects(self, index: int) -> frozenset[str]:
        """What the guard compares with constants, and what it reads as true or false."""
        return frozenset(test.subject for test in self._tests[index])

    def is_comparison(self, subject: str) -> bool:
        """Its regions come from constants or an enumeration; it is neither a flag nor the wait."""
        values = self._axes[self._numbers[subject]][1]
        return subject != WAIT and not any(isinstance(value, bool) for value in values)

    def _where(self, holds: Sequence[int], fails: Sequence[int]) -> Rows:
        rows = self._possible
        for index in holds:
            rows &= self._rows[index]
        for index in fails:
            rows &= ~self._rows[index]
        return rows

    def _rows_of(self, formula: _Formula) -> Rows:
        match formula:
            case bool():
                return self._all if formula else 0
            case _Not(part=part):
                return self._all & ~self._rows_of(part)
            case _Junction(is_all=is_all, parts=parts):
                rows = self._all if is_all else 0
                for part in parts:
                    rows = rows & self._rows_of(part) if is_all else rows | self._rows_of(part)
                return rows
            case _Test():
                return self._rows_where(formula.subject, formula.accepts)

    def _rows_where(self, subject: str, accepts: Callable[[Any], bool]) -> Rows:
        number = self._numbers[subject]
        rows = 0
        for index, value in enumerate(self._axes[number][1]):
            if accepts(value):
                rows |= self._plane(number, index)
        return rows

    def _plane(self, number: int, index: int) -> Rows:
        """The rows in which axis `number` has its value `index`."""
        stride, size = self._strides[number], len(self._axes[number][1])
        block = ((1 << stride) - 1) << (stride * index)
        period = stride * size
        count = self._all.bit_length() // period
        return block * (((1 << (period * count)) - 1) // ((1 << period) - 1))

    def _alike(self, numbers: Sequence[int], row: int) -> Rows:
        """The possible rows that have the same values as `row` in these axes."""
        rows = self._possible
        for number in numbers:
            rows &= self._plane(number, row // self._strides[number] % len(self._axes[number][1]))
        return rows

    def _rows_that_agree(self) -> Rows:
        """A condition that did not win has no message, and one that won has one."""
        rows = self._all
        for name, condition_id in self._reader.messages.items():
            if name not in self._numbers:
                continue
            absent = self._rows_where(name, lambda value: value is None)
            won = self._rows_where(WAIT, lambda state, id=condition_id: id in state)  # type: ignore[misc]
            rows &= ~(absent & won) & (absent | won)
        return rows

    def _says(self, number: int, row: int) -> str:
        subject, values = self._axes[number]
        value = values[row // self._strides[number] % len(values)]
        return _in_words(subject, value, values)


def _strides(sizes: Sequence[int]) -> list[int]:
    strides, stride = [], 1
    for size in sizes:
        strides.append(stride)
        stride *= size
    return strides


def _in_words(subject: str, value: Any, values: Sequence[Any]) -> str:
    if subject == WAIT:
        winners = " and ".join(f"`{each}`" for each in sorted(value))
        return f"{winners} ended the wait" if value else "no condition ended the wait"
    subject = subject if FOLD not in subject else "its macro"
    if isinstance(value, Interval):
        return f"`{subject}` is {_span_in_words(value)}"
    if value is OTHER:
        named = [_value_text(each) for each in values if not isinstance(each, Interval | Other)]
        return f"`{subject}` is none of {', '.join(named)}" if named else f"`{subject}` is anything else"
    return f"`{subject}` is {_value_text(value)}"


def _value_text(value: Json) -> str:
    return f"'{value}'" if isinstance(value, str) else compact(value)


def _span_in_words(interval: Interval) -> str:
    low, high = (f"{each:g}" for each in (interval.low, interval.high))
    if interval.low == float("-inf"):
        return "any number" if interval.high == float("inf") else f"less than {high}"
    return f"more than {low}" if interval.high == float("inf") else f"between {low} and {high}"


def tests_of(formula: _Formula) -> Iterator[_Test]:
    match formula:
        case _Test():
            yield formula
        case _Not(part=part):
            yield from tests_of(part)
        case _Junction(parts=parts):
            for part in parts:
                yield from tests_of(part)


# --- From expressions to tests ------------------------------------------------------------------------------


class _Reader:
    def __init__(self, subjects: Subjects) -> None:
        self._subjects = subjects
        self._domains: dict[str, Domain] = {}
        self.messages: dict[str, str] = {}
        """Subjects that are the message of a condition: subject to condition id."""

    def axes(self, tests: Sequence[_Test]) -> list[tuple[str, list[Any]]]:
        """Each subject with the regions that the tests tell apart."""
        constants: dict[str, list[Json]] = {}
        ordered: set[str] = set()
        for test in tests:
            constants.setdefault(test.subject, []).extend(test.constants)
            if test.is_ordered:
                ordered.add(test.subject)
        for name in self.messages:
            if name in constants:
                constants[name].append(None)
                constants.setdefault(WAIT, [])
        axes = []
        for subject, values in constants.items():
            if subject == WAIT:
                axes.append((subject, list(self._subjects.wait_states() or [NO_WINNER])))
            else:
                domain = self._domains[subject]
                axes.append((subject, regions(domain, values, is_ordered=subject in ordered)))
        return axes

    def formula(self, node: Node) -> _Formula:
        match node:
            case Const(value=bool(value)):
                return value
            case Call(function="!_", args=[part]):
                inner = self.formula(part)
                return not inner if isinstance(inner, bool) else _Not(inner)
            case Call(function="_&&_" | "_||_" as function, args=parts):
                return _joined(function == "_&&_", [self.formula(part) for part in parts])
            case Call(function="_?_:_", args=[test, then, other]):
                condition = self.formula(test)
                yes = _joined(True, [condition, self.formula(then)])
                no = _joined(True, [_negated(condition), self.formula(other)])
                return _joined(False, [yes, no])
            case Call(function="_==_" | "_!=_" as function, args=[left, right]):
                found = self._equal(left, right)
                return found if function == "_==_" else _negated(found)
            case Call(function="_<_" | "_<=_" | "_>_" | "_>=_" as function, args=[left, right]):
                return self._order(function, left, right)
            case Call(function="@in", args=[left, ListNode(elements=elements, optional=())]):
                return _joined(False, [self._equal(left, each) for each in elements])
            case Read(path=path, member=None):
                return self._flag_or_wait(node, path)
            case _:
                return self._flag(node)

    def _flag_or_wait(self, node: Read, path: tuple[str | int, ...]) -> _Formula:
        if len(path) == 3 and path[0] == "wait" and path[2] in ("satisfied", "fired"):
            states = self._subjects.wait_states()
            id = path[1]
            if states is not None and any(id in state for state in states):
                won = _Test(WAIT, lambda state: id in state)
                return won if path[2] == "satisfied" else _joined(False, [won, self._flag(node)])
        if path == ("wait_for_failed",) and not self._subjects.proceeds():
            return False
        if path == ("wait_for_failed",) and self._subjects.fails_exactly_without_winner():
            return _Test(WAIT, lambda state: not state)
        return self._flag(node)

    def _flag(self, node: Node) -> _Formula:
        """True or false, and nothing more is known."""
        subject = text_of(node)
        self._domains.setdefault(subject, BOOLEAN)
        return _Test(subject, lambda value: value is True, (True,))

    def _equal(self, left: Node, right: Node) -> _Formula:
        if isinstance(left, Const) and isinstance(right, Const):
            return _is_same(left.value, right.value)
        if isinstance(left, Const):
            left, right = right, left
        if not isinstance(right, Const):
            pair = sorted((text_of(left), text_of(right)))
            return self._flag_named(f"{pair[0]} == {pair[1]}")
        value = right.value
        if isinstance(value, bool) and not isinstance(left, Read):
            inner = self.formula(left)
            return inner if value else _negated(inner)
        subject = self._subject(left)
        return _Test(subject, lambda region: _is_same(region, value), (value,))

    def _order(self, function: str, left: Node, right: Node) -> _Formula:
        if isinstance(left, Const):
            left, right, function = right, left, _FLIPPED[function]
        if not isinstance(right, Const) or isinstance(right.value, bool | str) or right.value is None:
            first, second = (left, right) if function in ("_<_", "_>=_") else (right, left)
            found = self._flag_named(f"{text_of(first)} < {text_of(second)}")
            return found if function in ("_<_", "_>_") else _negated(found)
        bound = right.value
        accepts: Callable[[Any], bool] = {
            "_<_": lambda region: _is_below(region, bound),
            "_>_": lambda region: _is_above(region, bound),
            "_<=_": lambda region: _is_below(region, bound) or _is_same(region, bound),
            "_>=_": lambda region: _is_above(region, bound) or _is_same(region, bound),
        }[function]
        if isinstance(left, Const):
            return accepts(left.value)
        return _Test(self._subject(left), accepts, (bound,), is_ordered=True)

    def _flag_named(self, subject: str) -> _Formula:
        self._domains.setdefault(subject, BOOLEAN)
        return _Test(subject, lambda value: value is True, (True,))

    def _subject(self, node: Node) -> str:
        subject = text_of(node)
        if self._domains.get(subject, BOOLEAN) is not BOOLEAN:
            return subject
        domain = UNKNOWN
        if isinstance(node, Call) and node.function == "size":
            domain = COUNT
        elif isinstance(node, Read) and node.member is None:
            path = tuple(part for part in node.path if isinstance(part, str))
            domain = self._subjects.domain(path) if len(path) == len(node.path) else UNKNOWN
            if len(path) == 3 and path[0] == "wait" and path[2] == "message":
                self._note_message(subject, path[1])
        self._domains[subject] = domain
        return subject

    def _note_message(self, subject: str, condition_id: str) -> None:
        if self._subjects.is_null_exactly_without_message(condition_id):
            self.messages[subject] = condition_id


def _joined(is_all: bool, parts: Sequence[_Formula]) -> _Formula:
    """Constants are folded."""
    rest = tuple(part for part in parts if not isinstance(part, bool))
    if any(isinstance(part, bool) and part is not is_all for part in parts):
        return not is_all
    if not rest:
        return is_all
    return rest[0] if len(rest) == 1 else _Junction(is_all, rest)


def _negated(formula: _Formula) -> _Formula:
    return not formula if isinstance(formula, bool) else _Not(formula)


def _is_same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _is_below(region: Any, bound: float) -> bool:
    if isinstance(region, Interval):
        return region.high <= bound
    return isinstance(region, int | float) and not isinstance(region, bool) and region < bound


def _is_above(region: Any, bound: float) -> bool:
    if isinstance(region, Interval):
        return region.low >= bound
    return isinstance(region, int | float) and not isinstance(region, bool) and region > bound


FOLD = "@fold"
_INFIX = {"_+_", "_-_", "_*_", "_/_", "_%_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_"}
_BOTH_WAYS = ("size", "matches")
"""`size(list)` is `list.size()`."""


def text_of(node: Node) -> str:
    """A subexpression as text; equal where the trees are, wherever they stand."""
    match node:
        case Const(value=value):
            return _value_text(value) if not isinstance(value, bytes) else repr(value)
        case Read():
            return node.name.removeprefix("$.").removesuffix("#")
        case Select(operand=operand, field=field, is_test=is_test):
            return f"has({text_of(operand)}.{field})" if is_test else f"{text_of(operand)}.{field}"
        case Call(function="_[_]", args=[operand, index]):
            return f"{text_of(operand)}[{text_of(index)}]"
        case Call(function="!_" | "-_" as sign, args=[operand]):
            return f"{sign[0]}({text_of(operand)})"
        case Call(function=function, args=[left, right], target=None) if function in _INFIX:
            return f"({text_of(left)} {function.strip('_')} {text_of(right)})"
        case Call(function="_?._", args=[operand, Const(value=str(field))]):
            return f"{text_of(operand).removesuffix(f'.?{field}')}.?{field}"
        case Call(function="_[?_]", args=[operand, index]):
            return f"{text_of(operand)}[?{text_of(index)}]"
        case Call(function="@in", args=[left, right]):
            return f"({text_of(left)} in {text_of(right)})"
        case Call(function="_?_:_", args=[condition, left, right]):
            return f"({text_of(condition)} ? {text_of(left)} : {text_of(right)})"
        case Call(function=function, args=args, target=target) if target is None or function in _BOTH_WAYS:
            parts = args if target is None else [target, *args]
            return f"{function}({', '.join(text_of(part) for part in parts)})"
        case Call(function=function, args=args, target=target):
            assert target is not None
            return f"{text_of(target)}.{function}({', '.join(text_of(part) for part in args)})"
        case ListNode(elements=elements):
            return f"[{', '.join(text_of(each) for each in elements)}]"
        case MapNode(entries=entries):
            return "{" + ", ".join(f"{text_of(each.key)}: {text_of(each.value)}" for each in entries) + "}"
        case Fold():
            inner = (node.over, node.start, node.condition, node.step, node.result)
            return f"{FOLD}({node.variable}, {', '.join(text_of(part) for part in inner)})"
        case Ident(name=name):
            return name
