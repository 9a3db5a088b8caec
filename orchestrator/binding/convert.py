"""JSON to annotated Python types and back. Planned once per handler, cheap for plain JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import msgspec.structs

from orchestrator.definition.model import Json

Converter: TypeAlias = Callable[[Json], Any]

_WRITTEN_NAMES: dict[type[msgspec.Struct], list[tuple[str, str]]] = {}
_SCALARS = frozenset({str, int, float, bool, type(None)})
_INT64_MINIMUM = -(2**63)
_INT64_MAXIMUM = 2**63 - 1


class NotJson(Exception):
    """A value that JSON cannot carry; `path` leads to it, outermost first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str | int] = []

    def __str__(self) -> str:
        where = "".join(f"[{step!r}]" for step in self.path)
        return f"{self.reason} (at {where})" if where else self.reason


class NotConvertible(Exception):
    """An annotation that no JSON value can become."""


def copy_json(value: Json) -> Json:
    """A deep copy of what is known to be JSON: handlers must not share objects with the engine."""
    kind = type(value)
    if kind is dict:
        return {key: item if type(item) in _SCALARS else copy_json(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in _SCALARS else copy_json(item) for item in value]
    return value


def to_json(value: Any) -> Json:
    """Fresh JSON out of plain values, dataclasses, Structs, models, enums, times. Raises NotJson."""
    try:
        return _to_json(value)
    except RecursionError:
        raise NotJson("the value is nested too deeply, or contains itself") from None


def _to_json(value: Any) -> Json:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _unicode(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        if _INT64_MINIMUM <= value <= _INT64_MAXIMUM:
            return value
        raise NotJson(f"{_short(value)} is beyond 64 bits")
    if kind is float:
        if math.isfinite(value):
            return value
        raise NotJson(f"{value} is no JSON number")
    if kind is dict:
        return _mapping(value)
    if kind is list or kind is tuple:
        return _sequence(value)
    fields = _fields(value)
    return _mapping(fields) if fields is not None else _to_json(_builtins(value))


def _mapping(value: dict[Any, Any]) -> Json:
    copied = {}
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            key = _key(key)
        if item is None or type(item) is bool:
            copied[key] = item
            continue
        try:
            copied[key] = _to_json(item)
        except NotJson as problem:
            problem.path.insert(0, key)
            raise
    return copied


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJson(f"the key {_short(key)} is {_kind(key)}; keys of JSON objects are text")
    return _unicode(str.__str__(key))


def _sequence(value: list[Any] | tuple[Any, ...]) -> Json:
    copied: list[Json] = []
    for item in value:
        try:
            copied.append(_to_json(item))
        except NotJson as problem:
            problem.path.insert(0, len(copied))
            raise
    return copied


def _unicode(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson(f"{_short(text)} contains a lone surrogate, which is no valid Unicode text") from None
    return text


def _fields(value: Any) -> dict[str, Any] | None:
    """Of a dataclass or Struct; msgspec 0.23 would leave out defaults of dataclasses that it made."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        names = [(each.name, each.name) for each in dataclasses.fields(kind)]
    elif isinstance(value, msgspec.Struct) and _is_plain(value.__struct_config__):
        names = _written_names(kind)
    else:
        return None
    found = {written: getattr(value, name, msgspec.UNSET) for written, name in names}
    return {name: item for name, item in found.items() if item is not msgspec.UNSET}


def _written_names(kind: type[msgspec.Struct]) -> list[tuple[str, str]]:
    """Of each field, as JSON has it and as Python does; msgspec reads the annotations each time."""
    if kind not in _WRITTEN_NAMES:
        _WRITTEN_NAMES[kind] = [(each.encode_name, each.name) for each in msgspec.structs.fields(kind)]
    return _WRITTEN_NAMES[kind]


def _is_plain(config: msgspec.structs.StructConfig) -> bool:
    return not config.array_like and config.tag is None and not config.omit_defaults


def _builtins(value: Any) -> Any:
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_dump)
    except (TypeError, ValueError, NotImplementedError, OverflowError) as error:
        raise NotJson(str(error)) from error


def _dump(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    import inspect

    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError(f"{_kind(value)} is no value yet: declare the handler `async def` and await it")
    raise TypeError(f"{_kind(value)} is not JSON; return plain values, a dataclass, or a model")


def _load(kind: type, value: Any) -> Any:
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise TypeError(f"`{kind.__name__}` cannot be made from JSON")
    return validate(value)


def plan_input(annotation: Any) -> Converter:
    """How to make the annotated type from JSON. Raises NotConvertible if nothing could."""
    if annotation is Any or annotation is object:
        return copy_json
    _demand_convertible(annotation)

    def convert(value: Json) -> Any:
        if type(value) is annotation and annotation in _SCALARS:
            return value
        return msgspec.convert(copy_json(value), annotation, dec_hook=_load, str_keys=True)

    return convert


def _demand_convertible(annotation: Any) -> None:
    from msgspec import inspect as shapes

    try:
        shape = shapes.type_info(annotation)
    except (TypeError, ValueError) as error:
        raise NotConvertible(str(error)) from error
    for custom in _custom_types(shape, shapes, set()):
        if not hasattr(custom, "model_validate"):
            raise NotConvertible(f"`{getattr(custom, '__name__', custom)}` cannot be made from JSON")


def _custom_types(node: Any, shapes: Any, seen: set[int]) -> list[Any]:
    """Classes in the shape of a type that msgspec itself cannot build; a shape may contain itself."""
    if id(node) in seen:
        return []
    seen.add(id(node))
    if isinstance(node, shapes.CustomType):
        return [node.cls]
    if isinstance(node, tuple):
        return [custom for part in node for custom in _custom_types(part, shapes, seen)]
    if not isinstance(node, shapes.Type | shapes.Field):
        return []
    parts = tuple(getattr(node, name) for name in node.__struct_fields__)
    return _custom_types(parts, shapes, seen)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
