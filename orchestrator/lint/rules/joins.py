"""Rules about joins."""

from __future__ import annotations

from orchestrator.lint.rules import Rule

RULES: list[Rule] = []
