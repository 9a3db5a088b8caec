"""Naming a version of a flow: a path, `git:REV:PATH`, or the hash of a stored definition."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from orchestrator.errors import DefinitionInvalid, NotFound, UsageError

if TYPE_CHECKING:
    from orchestrator.core.migration.comparison import Comparison
    from orchestrator.definition.model import Flow
    from orchestrator.engine.client import Client

HASH = "sha256:"
GIT = "git:"


def find_version(named: str, client: Client | None) -> Flow:
    """Raises UsageError, NotFound, DefinitionInvalid."""
    if named.startswith(HASH):
        if client is None:
            raise UsageError(f"{named[:20]}… is the hash of a stored definition: name the database with --db")
        return _stored(named, client)
    if named.startswith(GIT):
        return _committed(named)
    from orchestrator.cli.flow_files import load_named

    return load_named(named)


def compare_versions(old: str, new: str, mapping: list[str] | None, client: Client | None) -> Comparison:
    """Two versions of one flow type. Raises what `find_version` does."""
    from orchestrator.core.migration.comparison import Comparison
    from orchestrator.core.migration.renaming import parse_renaming

    before, after = find_version(old, client), find_version(new, client)
    if before.name != after.name:
        raise UsageError(
            f"OLD is flow {before.name}, NEW is flow {after.name}: these are not two versions of one"
        )
    return Comparison(before, after, parse_renaming(mapping or (), before, after))


def _stored(named: str, client: Client) -> Flow:
    """A hash may be cut where it is still the only one."""
    with client.engine.store.reading() as reading:
        found = [hash for _, hash in reading.definition_names() if hash.startswith(named)]
        if len(found) != 1:
            what = "no stored definition" if not found else f"{len(found)} stored definitions"
            raise NotFound(f"{what} begins with {named}; `describe` shows the definition of a run")
        return client.engine.definitions.of(found[0], reading)


def _committed(named: str) -> Flow:
    from orchestrator.definition.parse import parse

    _, _, rest = named.partition(":")
    revision, colon, path = rest.partition(":")
    if not revision or not colon or not path or revision.startswith("-"):
        raise UsageError(f"`{named}` is not git:REV:PATH, as in git:main:flows/order.flow.yaml")
    asked = ["git", "show", f"{revision}:./{path}"]
    try:
        shown = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8", check=False)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{named}: git cannot be asked: {error}") from None
    if shown.returncode:
        raise NotFound(f"{named}: {shown.stderr.strip().removeprefix('fatal: ')}")
    flow, problems = parse(shown.stdout, path)
    if flow is None:
        raise DefinitionInvalid(f"{named} has problems", tuple(problems))
    return flow
