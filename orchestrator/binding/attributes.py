"""`ctx.attributes`: the run's attributes as the handler was given them, plus what this call has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from orchestrator.binding.convert import copy_json
from orchestrator.binding.mistakes import HandlerMistake, NotLoaded, declared_as, written_by_item
from orchestrator.binding.staging import Staging, as_declared, as_key
from orchestrator.core.events import Write
from orchestrator.definition.model import Attribute, Json

if TYPE_CHECKING:
    from orchestrator.core.snapshot import Snapshot


class Attributes:
    """Read with `[name]` (null where unset), write with `[name] = value`, delete with `= None` or `del`.

    What is read is a copy: change it and assign it back. A map gives its entries: `["progress"]["payment"]`.
    """

    __slots__ = ("_declared", "_maps", "_snapshot", "_staging", "_written")

    def __init__(self, declared: Mapping[str, Attribute], snapshot: Snapshot, staging: Staging) -> None:
        self._declared = declared
        self._snapshot = snapshot
        self._staging = staging
        self._written: dict[str, Json] = {}
        self._maps: dict[str, AttributeMap] = {}

    def __getitem__(self, name: str) -> Any:
        if self._attribute(name).is_map:
            return self._map(name)
        if name in self._written:
            return copy_json(self._written[name])
        return copy_json(self._snapshot.attributes.get(name))

    def __setitem__(self, name: str, value: Any) -> None:
        attribute = self._attribute(name)
        if attribute.is_map:
            if value is not None:
                raise HandlerMistake(
                    f"`{name}` is a map: write its entries, ctx.attributes[{name!r}][key] = value, "
                    "or None to delete them all"
                )
            self._map(name).clear()
            return
        plain = None if value is None else as_declared(value, attribute.type, f"the attribute `{name}`")
        self._staging.write(Write(attribute.name, plain))
        self._written[name] = copy_json(plain)

    def __delitem__(self, name: str) -> None:
        self[name] = None

    def __contains__(self, name: str) -> bool:
        if self._attribute(name).is_map:
            return len(self._map(name)) > 0
        return self[name] is not None

    def __iter__(self) -> Iterator[str]:
        """Names of the attributes that are not maps, set or not."""
        return (name for name, attribute in self._declared.items() if not attribute.is_map)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"attributes are read and written by item: ctx.attributes[{name!r}]")

        __setattr__ = written_by_item("attributes are written by item: ctx.attributes[{name!r}] = …")

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or `default` where it is unset."""
        value = self[name]
        return default if value is None else value

    def _map(self, name: str) -> AttributeMap:
        view = self._maps.get(name)
        if view is None:
            loaded = self._snapshot.attribute_maps.get(name)
            is_whole = name not in self._snapshot.partly_loaded
            view = self._maps[name] = AttributeMap(self._declared[name], loaded, is_whole, self._staging)
        return view

    def _attribute(self, name: str) -> Attribute:
        return declared_as("attribute", name, self._declared)


class AttributeMap:
    """The entries of an attribute map. Reading asks for `loads` on the method; writing does not."""

    __slots__ = ("_attribute", "_is_cleared", "_is_whole", "_loaded", "_staging", "_written")

    def __init__(
        self, attribute: Attribute, loaded: Mapping[str, Json] | None, is_whole: bool, staging: Staging
    ) -> None:
        self._attribute = attribute
        self._loaded = loaded or {}
        self._is_whole = is_whole and loaded is not None
        """False: only the entries in `loaded` may be read, null where there is none."""
        self._staging = staging
        self._written: dict[str, Json] = {}
        self._is_cleared = False

    def __getitem__(self, key: str | int) -> Any:
        """The entry, null where there is none."""
        entry = self._key(key)
        if entry in self._written:
            return copy_json(self._written[entry])
        if not self._is_cleared and not self._is_whole and entry not in self._loaded:
            raise self._not_loaded(f"{{{self._attribute.name}: {entry}}}")
        return None if self._is_cleared else copy_json(self._loaded.get(entry))

    def __setitem__(self, key: str | int, value: Any) -> None:
        entry, name = self._key(key), self._attribute.name
        what = f"the attribute `{name}[{entry!r}]`"
        plain = None if value is None else as_declared(value, self._attribute.type, what)
        self._staging.write(Write(name, plain, entry))
        self._written[entry] = copy_json(plain)

    def __delitem__(self, key: str | int) -> None:
        self[key] = None

    def __contains__(self, key: str | int) -> bool:
        return self[key] is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"entries of a map are read by item, with [{name!r}], or by `get`")

        __setattr__ = written_by_item("entries of a map are written by item, with [{name!r}] = …")

    def get(self, key: str | int, default: Any = None) -> Any:
        value = self[key]
        return default if value is None else value

    def keys(self) -> list[str]:
        return list(self._entries())

    def values(self) -> list[Any]:
        return list(copy_json(self._entries()).values())

    def items(self) -> list[tuple[str, Any]]:
        return list(copy_json(self._entries()).items())

    def clear(self) -> None:
        """Delete all entries, loaded or not."""
        self._staging.write(Write(self._attribute.name, None))
        self._is_cleared = True
        self._written.clear()

    def _entries(self) -> dict[str, Json]:
        if not self._is_cleared and not self._is_whole:
            raise self._not_loaded(self._attribute.name)
        entries = self._written if self._is_cleared else {**self._loaded, **self._written}
        return {key: value for key, value in entries.items() if value is not None}

    def _not_loaded(self, load: str) -> NotLoaded:
        name = self._attribute.name
        return NotLoaded(f"entries of `{name}` are not loaded: declare `loads: [{load}]` beside the handler")

    def _key(self, key: object) -> str:
        return as_key(key, f"the map `{self._attribute.name}`")
