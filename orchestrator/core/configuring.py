"""Run-time configuration of a run (rules 22, 23, 180): what it was started with, merged with later updates.

`durability` is the only key. ASYNC is accepted and treated as SYNC, which is stronger (section 4, choice 5).
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core import changes as c
from orchestrator.core.draft import Draft
from orchestrator.core.events import ConfigUpdated
from orchestrator.core.state import Run
from orchestrator.definition.model import Durability, Flow, Json
from orchestrator.errors import InvalidValue, NotFound

_WORDS = {"durability": [word.value for word in Durability]}


def effective_config(flow: Flow, run: Run) -> dict[str, Json]:
    """The flow's own, as the run overrides it; every key has a value."""
    return {"durability": flow.durability.value, **run.config}


def update_config(draft: Draft, event: ConfigUpdated) -> None:
    """Only the keys given change, and only for work that begins later. Raises NotFound, InvalidValue."""
    configure(draft, event.config)


def configure(draft: Draft, config: Mapping[str, Json]) -> None:
    for key, value in config.items():
        if key not in _WORDS:
            raise NotFound(f"there is no configuration {key}; there is: {', '.join(_WORDS)}", name=key)
        if value not in _WORDS[key]:
            raise InvalidValue(f"{key} is one of {', '.join(_WORDS[key])}; not {value!r}", name=key)
    if config:
        draft.changes.append(c.ConfigSet({**draft.run.config, **config}))
