"""The rules of reuse, as the engine's modules know them."""

from __future__ import annotations

from orchestrator.core.reuse import Answer as Answer
from orchestrator.core.reuse import ReusePolicy as ReusePolicy
from orchestrator.core.reuse import may_start as may_start
