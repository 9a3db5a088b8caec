"""Rules about tokens."""

from __future__ import annotations

from orchestrator.lint.rules import Rule

RULES: list[Rule] = []
