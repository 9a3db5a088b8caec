"""Direct attribute writes of clients (rule 194), beside those of RPCs."""

from __future__ import annotations

from orchestrator.core.draft import Draft
from orchestrator.core.events import AttributesWritten, Write
from orchestrator.definition.json_kinds import Misfit, check_name
from orchestrator.definition.model import Json
from orchestrator.errors import InvalidValue, NotFound


def write_from_client(draft: Draft, event: AttributesWritten) -> None:
    """All or none, in the order given; null deletes. Raises NotFound, InvalidValue.

    Locks do not hold it up: they exclude only methods that declare them (rule 106).
    """
    writes = [(write, _checked(draft, write)) for write in event.writes]
    for write, value in writes:
        draft.write(write.attribute, write.key, value)


def _checked(draft: Draft, write: Write) -> Json:
    attribute = draft.flow.attributes.get(write.attribute)
    if attribute is None:
        known = ", ".join(sorted(draft.flow.attributes)) or "none"
        raise NotFound(f"flow {draft.flow.name} has no attribute {write.attribute}; it has: {known}")
    name = attribute.name
    if write.key is not None and (not attribute.is_map or not write.key):
        kind = "has an empty key" if attribute.is_map else "is not a map: it takes no key"
        raise InvalidValue(f"attribute {name} {kind}", name=name)
    if write.value is None:
        return None
    if not attribute.is_map or write.key is not None:
        return _of_type(draft, name, write.value)
    if not isinstance(write.value, dict):
        raise InvalidValue(f"attribute {name} is a map: give its entries by key", name=name)
    demand_keys(name, write.value)
    return {
        key: entry if entry is None else _of_type(draft, name, entry) for key, entry in write.value.items()
    }


def demand_keys(name: str, entries: dict[str, Json]) -> None:
    """Of an attribute map. Raises InvalidValue."""
    for key in entries:
        if not isinstance(key, str) or not key:
            raise InvalidValue(
                f"attribute {name} is a map: give its entries by key, text that is not empty, not {key!r}",
                name=name,
            )
        try:
            check_name(key)
        except Misfit as problem:
            raise InvalidValue(f"attribute {name}: the key {key!r}: {problem.message}", name=name) from None


def _of_type(draft: Draft, name: str, value: Json) -> Json:
    try:
        return draft.flow.attributes[name].type.check(value)
    except InvalidValue as error:
        raise InvalidValue(f"attribute {name}: {error.message}", name=name) from None
