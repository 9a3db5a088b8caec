"""Small values of a type, the plainest first: data with which expressions come out one way or another.

What is tried is read off the flow: the words and numbers that stand in its expressions, and the fields that
its guards look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations, islice, product
from typing import Any

from orchestrator.definition.cel_tree import Const, Entry
from orchestrator.definition.fitting import alternatives, resolve
from orchestrator.definition.model import Flow, Json
from orchestrator.definition.types import Type
from orchestrator.definition.values import Value
from orchestrator.errors import InvalidValue
from orchestrator.graph.query import iterate_values

LIMIT = 400
"""Values of one type."""
_PART_LIMIT = 24
"""Values of a part of one."""
_LARGE = 100
"""More than loops count to."""
_BREADTH = (_PART_LIMIT, 6, 1)
"""Values of a member, by how much the flow cares for it."""
_DEPTH = 6
_LONGEST = 8
_GUARDS = frozenset(["when", "for_each", "exactly", "at_least", "at_most", "need"])
_FEEDING = frozenset(["input", "value", "let"])
"""What a guard of another step may see."""
_PLAIN: Mapping[str, Json] = {
    "date-time": "2030-01-01T00:00:00Z",
    "date": "2030-01-01",
    "time": "00:00:00Z",
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "duration": "PT1H",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


class Samples:
    """`sizes`: lengths and numbers that are likely to be needed, the likeliest first."""

    def __init__(self, flow: Flow, sizes: Sequence[int] = ()) -> None:
        guards = list(_values_of(_owners(flow), _GUARDS))
        feeding = list(_values_of(_owners(flow), _FEEDING))
        self._constants = list(_constants([*guards, *feeding]))
        self._looked_at = {name for path in _paths(guards) for name in path}
        self._mentioned = {name for path in _paths(feeding) for name in path}
        self._letter = "a"
        """The plainest text; elements of a list differ in it."""
        self._sizes = list(dict.fromkeys([*sizes, 1, 2, 0, 3]))

    def of(self, type: Type | None, reads: Sequence[tuple[str, ...]] | None = None) -> Iterator[Json]:
        """At most LIMIT values that the type takes.

        `reads`: what is read of a value whose type says nothing; None: that is not known.
        """
        if type is None or not resolve(type.schema, type.names):
            untyped = self._anything() if reads is None else self._of_reads(list(reads))
            yield from iter([None]) if reads == [] else islice(untyped, LIMIT)
            return
        seen: list[Json] = []
        for value in islice(self._values(type.schema, type.names, 0, LIMIT), LIMIT):
            try:
                type.check(value)
            except InvalidValue:
                continue
            if value not in seen:
                seen.append(value)
                yield value

    def plainest(self, type: Type | None) -> Json:
        """Null where nothing is known."""
        return next(iter(self.of(type)), None)

    # --- Of a schema ---

    def _values(
        self, schema: Json, names: Mapping[str, Json], depth: int, limit: int = _PART_LIMIT
    ) -> Iterator[Json]:
        schema = resolve(schema, names)
        parts = alternatives(schema, names)
        if depth > _DEPTH or not isinstance(schema, dict):
            yield from self._anything()
        elif "const" in schema:
            yield schema["const"]
        elif "enum" in schema:
            yield from schema["enum"]
        elif parts is not None:
            ordered = sorted(parts, key=lambda part: _type_of(resolve(part, names)) == "null")
            for part in ordered:
                yield from islice(self._values(part, names, depth + 1), limit)
        else:
            yield from islice(self._of_kind(schema, names, depth, limit), limit)

    def _of_kind(
        self, schema: Mapping[str, Json], names: Mapping[str, Json], depth: int, limit: int
    ) -> Iterator[Json]:
        match _type_of(schema):
            case "boolean":
                yield from (False, True)
            case "integer" | "number":
                yield from self._numbers(schema)
            case "string":
                yield from self._texts(schema)
            case "null":
                yield None
            case "array":
                yield from self._lists(schema, names, depth, limit)
            case "object":
                yield from self._objects(schema, names, depth, limit)
            case _:
                yield from self._anything()

    def _numbers(self, schema: Mapping[str, Json]) -> Iterator[Json]:
        is_whole = _type_of(schema) == "integer"
        known = [each for each in self._constants if _is_number(each)]
        tried = [*self._sizes[:1], 1, 0, *(n + step for n in known for step in (0, 1, -1)), *self._sizes]
        bounds = [schema[key] for key in ("minimum", "maximum") if _is_number(schema.get(key))]
        if "default" in schema:
            tried = [schema["default"], *tried]
        for value in dict.fromkeys([*tried, *bounds, _LARGE]):
            if not is_whole:
                yield float(value)
            elif float(value).is_integer():
                yield int(value)

    def _texts(self, schema: Mapping[str, Json]) -> Iterator[Json]:
        if "default" in schema:
            yield schema["default"]
        plain = _PLAIN.get(str(schema.get("format")))
        if plain is not None:
            yield plain
        least = schema.get("minLength", 0)
        length = 1 if not _is_number(least) or least <= 1 else min(int(least), 1000)
        plain_text = self._letter * length
        yield plain_text
        yield from (each for each in self._constants if isinstance(each, str) and each != plain_text)
        yield from ("", "b")

    def _lists(
        self, schema: Mapping[str, Json], names: Mapping[str, Json], depth: int, limit: int
    ) -> Iterator[Json]:
        sizes = [size for size in self._sizes if size <= _LONGEST]
        element, options = schema.get("items", True), list[list[Json]]()
        outer = self._letter
        for position in range(max(sizes, default=0)):
            self._letter = chr(ord("a") + position)
            options.append(list(islice(self._values(element, names, depth + 1), _PART_LIMIT)))
        self._letter = outer
        by_size = [map(list, by_deviation(options[:size], limit)) for size in sizes]
        yield from _in_turns(by_size, first=max(limit // 2, 1))

    def _objects(
        self, schema: Mapping[str, Json], names: Mapping[str, Json], depth: int, limit: int
    ) -> Iterator[Json]:
        properties = schema.get("properties") or {}
        required = [name for name in schema.get("required") or () if name not in properties]
        keys = [name for name in properties if self._rank(name) < 2 or name in schema.get("required", ())]
        keys = sorted(keys, key=self._rank)
        slots = []
        for name in keys:
            values = list(
                islice(self._values(properties[name], names, depth + 1), _BREADTH[self._rank(name)])
            )
            slots.append(values if name in schema.get("required", ()) else [_ABSENT, *values])
        order = [name for name in properties if name in keys]
        for chosen in by_deviation(slots, limit):
            found = dict(zip(keys, chosen, strict=True))
            value = {name: found[name] for name in order if found[name] is not _ABSENT}
            yield {**value, **dict.fromkeys(required, "a")}

    def _rank(self, name: str) -> int:
        """0: a guard looks at it; 1: what feeds a guard may."""
        return 0 if name in self._looked_at else 1 if name in self._mentioned else 2

    # --- Of what is read ---

    def _of_reads(self, reads: list[tuple[str, ...]]) -> Iterator[Json]:
        members: dict[str, list[tuple[str, ...]]] = {}
        for path in sorted(reads):
            if path:
                members.setdefault(path[0], []).append(path[1:])
        if not members:
            yield from self._anything()
            return
        slots = [list(islice(self._of_reads(paths), _PART_LIMIT)) for paths in members.values()]
        for chosen in by_deviation(slots, LIMIT):
            yield dict(zip(members, chosen, strict=True))

    def _anything(self) -> Iterator[Json]:
        yield from (False, True)
        yield from self._constants
        yield from (number + step for number in self._constants if _is_number(number) for step in (1, -1))
        yield from ("a", *self._sizes, None, [])
        yield from ([["a"] * size for size in self._sizes if size])


_ABSENT: Any = object()


def by_deviation(slots: Sequence[Sequence[Any]], limit: int) -> Iterator[tuple[Any, ...]]:
    """One of each slot: all the first ones, then with one other, then two, and so on."""
    if any(not slot for slot in slots):
        return
    count = 0
    for deviation_count in range(len(slots) + 1):
        for places in combinations(range(len(slots)), deviation_count):
            for others in product(*(slots[place][1:] for place in places)):
                chosen = [slot[0] for slot in slots]
                for place, other in zip(places, others, strict=True):
                    chosen[place] = other
                yield tuple(chosen)
                count += 1
                if count >= limit:
                    return


def _in_turns(sources: Sequence[Iterator[Json]], first: int) -> Iterator[Json]:
    """`first` of the first source, then one of each in turn."""
    yield from islice(sources[0], first) if sources else ()
    left = list(sources)
    while left:
        for source in list(left):
            found = next(source, _ABSENT)
            if found is _ABSENT:
                left.remove(source)
            else:
                yield found


def _type_of(schema: Json) -> str:
    if not isinstance(schema, dict):
        return ""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else ""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- What the flow says -------------------------------------------------------------------------------------


def _owners(flow: Flow) -> tuple[Any, ...]:
    timeout = () if flow.on_timeout is None else (flow.on_timeout,)
    return (*flow.steps.values(), *flow.rpcs.values(), *timeout)


def _constants(values: Iterable[Value]) -> Iterator[Json]:
    """Words and numbers in them, each once."""
    found: dict[tuple[type, Json], None] = {}
    for value in values:
        for constant in _constants_in(value.tree[0]):
            if isinstance(constant, str) or _is_number(constant):
                found.setdefault((type(constant), constant))
    return (constant for _, constant in found)


def _constants_in(node: Any) -> Iterator[Json]:
    if isinstance(node, Const):
        yield node.value
    elif isinstance(node, Entry):
        yield from _constants_in(node.value)
    elif isinstance(node, list | tuple):
        for part in node:
            yield from _constants_in(part)
    elif is_dataclass(node):
        for each in fields(node):
            yield from _constants_in(getattr(node, each.name))


def _values_of(part: Any, names: frozenset[str]) -> Iterator[Value]:
    """Those that stand under one of these names in the model."""
    if isinstance(part, tuple):
        for item in part:
            yield from _values_of(item, names)
    elif is_dataclass(part) and not isinstance(part, Value):
        for each in fields(part):
            found = getattr(part, each.name)
            if each.name in names:
                yield from iterate_values(found)
            elif each.name not in ("path", "type"):
                yield from _values_of(found, names)


def _paths(values: Iterable[Value]) -> Iterator[tuple[str, ...]]:
    for value in values:
        yield from sorted(value.reads)
