"""Ids like one that no run has: looked for only when a command has failed because of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import NotFound, OrchestratorError

if TYPE_CHECKING:
    from orchestrator.store.contract import Head, Store

_LOOK_COUNT = 300
"""The newest runs; a mistyped id is mostly that of one of them."""
_TOLD_COUNT = 3
_LENGTH = 100
"""Characters that are compared."""


@contextmanager
def nearby_runs_told(store: Store) -> Iterator[None]:
    """`there is no run k-2; did you mean k-1?`"""
    try:
        yield
    except NotFound as error:
        flow_id = error.data.get("flow_id")
        if not isinstance(flow_id, str) or error.message != f"there is no run {flow_id}":
            raise
        raise NotFound(error.message + _advice(store, flow_id), **error.data) from None


def _advice(store: Store, flow_id: str) -> str:
    try:
        with store.reading() as reading:
            heads = list(islice(reading.heads(), _LOOK_COUNT))
    except OrchestratorError:
        return ""
    of_run_id = [head.flow_id for head in heads if head.run_id == flow_id]
    if of_run_id:
        return f": this is a run id, of `{of_run_id[0]}`"
    *others, last = [f"`{each}`" for each in _near(flow_id, heads)] or [""]
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if last else ""


def _near(flow_id: str, heads: list[Head]) -> list[str]:
    from difflib import get_close_matches

    known = [head.flow_id for head in heads if len(head.flow_id) <= _LENGTH]
    begun = [each for each in known if flow_id and each.startswith(flow_id)]
    same = [each for each in known if each.lower() == flow_id.lower()]
    near = get_close_matches(flow_id[:_LENGTH], known, n=_TOLD_COUNT, cutoff=0.6)
    return list(dict.fromkeys([*same, *begun, *near]))[:_TOLD_COUNT]
