"""Real handlers in a rehearsal leave heartbeats for their next attempt (rule 162)."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.support.rehearsing import differences_of

FLOW = """
flow: Beats
handlers: rehearsed_beats
output: string
start: Work
steps:
  Work:
    execute: {handler: work, heartbeat: 10s, retry: {initial_interval: 1s}}
    graceful_complete: "${result}"
"""
HANDLERS = """
def work(ctx):
    if ctx.attempt == 1:
        ctx.heartbeat(3)
        raise ConnectionError("lost")
    return f"from {ctx.last_heartbeat}"
"""


@pytest.mark.rule(162)
def test_a_checkpoint_reaches_the_next_attempt(tmp_path: Path) -> None:
    (tmp_path / "rehearsed_beats.py").write_text(textwrap.dedent(HANDLERS))
    rehearsals = """
    rehearsals:
      - name: goes on
        expect: {status: COMPLETED, output: from 3, took: 1s}
    """
    assert differences_of(tmp_path, FLOW, rehearsals) == []
