"""The functions that expressions may call, and ours in Python (language.md 6.1, "Library")."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from orchestrator.definition.durations import format_duration, format_time, parse_duration
from orchestrator.definition.kinds import ANY_KIND, Kind, join, list_of, optional_of
from orchestrator.definition.model import Json

RANGE_LIMIT = 10_000
"""As many rounds as one evaluation may take."""

_GLOBAL = """
size string|bytes|list|map > int
int int|double|string|timestamp > int
double int|double|string > double
string int|double|string|bool|timestamp|duration|bytes > string
bool bool|string > bool
bytes string > bytes
timestamp string|int|timestamp > timestamp
duration string|duration > duration
type any > type
dyn any > any
matches string string > bool
math.@max int|double|list int|double* > highest
math.@min int|double|list int|double* > highest
math.ceil double > double
math.floor double > double
math.round double > double
math.trunc double > double
math.abs int|double > same
math.sign int|double > same
math.sqrt int|double > double
math.isNaN double > bool
math.isInf double > bool
math.isFinite double > bool
math.bitOr int int > int
math.bitAnd int int > int
math.bitXor int int > int
math.bitNot int > int
math.bitShiftLeft int int > int
math.bitShiftRight int int > int
strings.quote string > string
optional.of any > optional
optional.ofNonZeroValue any > optional
optional.none > nothing
range int > ints
sum list > element
min list > element
max list > element
seconds int|double > duration
millis timestamp > int
coalesce any any > either
merge map map > map
"""

_MEMBER = """
size string|bytes|list|map > int
contains string string > bool
startsWith string string > bool
endsWith string string > bool
matches string string > bool
charAt string int > string
indexOf string string int? > int
lastIndexOf string string int? > int
join list string? > string
lowerAscii string > string
upperAscii string > string
replace string string string int? > string
split string string int? > strings
substring string int int? > string
trim string > string
reverse string > string
format string list > string
getFullYear timestamp string? > int
getMonth timestamp string? > int
getDate timestamp string? > int
getDayOfMonth timestamp string? > int
getDayOfWeek timestamp string? > int
getDayOfYear timestamp string? > int
getHours timestamp|duration string? > int
getMinutes timestamp|duration string? > int
getSeconds timestamp|duration string? > int
getMilliseconds timestamp|duration string? > int
hasValue optional > bool
value optional > element
or optional optional > or
orValue optional any > or_value
"""

MACROS = (
    "has",
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
    "cel.bind",
    "optMap",
    "optFlatMap",
    "math.greatest",
    "math.least",
)


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    params: tuple[frozenset[str], ...]
    required_count: int
    is_open: bool
    """The last parameter may be repeated, or left out."""
    result: str

    def accepts_count(self, count: int) -> bool:
        return count >= self.required_count and (self.is_open or count <= len(self.params))

    def param(self, index: int) -> frozenset[str]:
        return self.params[min(index, len(self.params) - 1)]

    def result_kind(self, args: list[Kind]) -> Kind:
        rule = _RESULTS.get(self.result)
        return Kind(self.result) if rule is None else rule(args)


def _read(table: str) -> dict[str, Signature]:
    found = {}
    for line in table.strip().splitlines():
        left, _, result = line.partition(" > ")
        name, *params = left.split()
        names = tuple(frozenset(param.rstrip("?*").split("|")) for param in params)
        required = sum(1 for param in params if param[-1] not in "?*")
        found[name] = Signature(name, names, required, left.endswith("*"), result)
    return found


GLOBAL = _read(_GLOBAL)
MEMBER = _read(_MEMBER)


def _element(args: list[Kind]) -> Kind:
    return args[0].element or ANY_KIND


def _highest(args: list[Kind]) -> Kind:
    if args[0].name == "list":
        return _element(args)
    names = {arg.name for arg in args}
    return Kind(args[0].name) if len(names) == 1 else ANY_KIND


_RESULTS: Mapping[str, Callable[[list[Kind]], Kind]] = {
    "same": lambda args: Kind(args[0].name),
    "element": _element,
    "highest": _highest,
    "optional": lambda args: optional_of(args[0]),
    "nothing": lambda args: optional_of(None),
    "or": lambda args: join(args[0], args[1]) or ANY_KIND,
    "or_value": lambda args: join(args[0].element, args[1]) or ANY_KIND,
    "either": lambda args: join(args[0], args[1]) or ANY_KIND,
    "ints": lambda args: list_of(Kind("int")),
    "strings": lambda args: list_of(Kind("string")),
}


# --- Ours --------------------------------------------------------------------------------------------------


def _range(count: int) -> list[int]:
    if not 0 <= count <= RANGE_LIMIT:
        raise ValueError(f"range({count}): a range has 0 to {RANGE_LIMIT} elements")
    return list(range(count))


def _sum(elements: list[Any]) -> Any:
    if not elements:
        return 0
    kinds = {type(element) for element in elements}
    if not (kinds <= {int, float} or kinds == {timedelta}):
        raise ValueError("sum: the list must hold numbers only, or durations only")
    total = sum(elements[1:], elements[0])
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise ValueError("sum: the total does not fit into 64 bits")
    return total


def _choose(name: str, choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def chosen(elements: list[Any]) -> Any:
        if not elements:
            raise ValueError(f"{name}: the list is empty")
        kinds = {float if isinstance(e, int) and not isinstance(e, bool) else type(e) for e in elements}
        if len(kinds) > 1 or not kinds <= {float, str, datetime, timedelta}:
            raise ValueError(f"{name}: the list must hold numbers only, or one other kind that has an order")
        return choose(elements)

    return chosen


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = {**one, **other}
    return {key: value for key, value in merged.items() if value is not None}


def _seconds(count: float) -> timedelta:
    try:
        return timedelta(seconds=count)
    except (OverflowError, ValueError):
        raise ValueError(f"seconds({count}) is longer than any time can be") from None


def _millis(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=at.tzinfo)) // timedelta(milliseconds=1)


def _duration(text: str) -> timedelta:
    stripped = text.strip()
    return -parse_duration(stripped[1:]) if stripped.startswith("-") else parse_duration(stripped)


def text_of(value: Any) -> str:
    """A value inside longer text (language.md 6.1); ValueError where it has no text."""
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError("null has no text")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return repr(value).removesuffix(".0")
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=text_of)


def make_functions(cel: Any) -> list[Any]:
    """Our functions for a CEL environment. Overloads are by kind: one over DYN would never match."""
    kinds = cel.Type
    scalar = (kinds.STRING, kinds.BOOL, kinds.INT, kinds.DOUBLE, kinds.TIMESTAMP, kinds.DURATION)
    table: list[tuple[str, Any, list[tuple[Any, ...]], Callable[..., Any]]] = [
        ("range", kinds.LIST, [(kinds.INT,)], _range),
        ("sum", kinds.DYN, [(kinds.LIST,)], _sum),
        ("min", kinds.DYN, [(kinds.LIST,)], _choose("min", min)),
        ("max", kinds.DYN, [(kinds.LIST,)], _choose("max", max)),
        ("merge", kinds.MAP, [(kinds.MAP, kinds.MAP)], _merge),
        ("seconds", kinds.DURATION, [(kinds.INT,), (kinds.DOUBLE,)], _seconds),
        ("millis", kinds.INT, [(kinds.TIMESTAMP,)], _millis),
        ("@duration", kinds.DURATION, [(kinds.STRING,)], _duration),
        ("@duration", kinds.DURATION, [(kinds.DURATION,)], lambda span: span),
        *(
            (f"{name}@{kind}", result, [(kinds.LIST,)], function)
            for name, function in (("sum", _sum), ("min", _choose("min", min)), ("max", _choose("max", max)))
            for kind, result in (("timestamp", kinds.TIMESTAMP), ("duration", kinds.DURATION))
        ),
        ("@keys", kinds.LIST, [(kinds.MAP,)], sorted),
        ("@text", kinds.STRING, [(kind,) for kind in (*scalar, kinds.LIST, kinds.MAP, kinds.NULL)], text_of),
    ]
    overloads: dict[str, list[Any]] = {}
    for name, result, params, function in table:
        made = overloads.setdefault(name, [])
        for each in params:
            made.append(cel.Overload(f"{name}_{len(made)}", result, list(each), False, function))
    return [cel.FunctionDecl(name, each) for name, each in overloads.items()]


def is_json(value: Json) -> bool:
    """Nothing inside but what JSON has."""
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_json(member) for key, member in value.items())
    return value is None or isinstance(value, str | int | float)
