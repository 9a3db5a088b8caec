"""When a failed attempt is tried again (rules 145-149)."""

from __future__ import annotations

from datetime import datetime, timedelta

from orchestrator.core.events import Failure
from orchestrator.definition.durations import LONGEST
from orchestrator.definition.model import RetryPolicy


def next_attempt_at(
    policy: RetryPolicy, failure: Failure, attempt: int, first_attempt_at: datetime, at: datetime
) -> datetime | None:
    """When attempt `attempt` + 1 is due; None: the failure is final. The first limit reached decides."""
    if not failure.is_retryable or _is_listed(policy, failure):
        return None
    if policy.maximum_attempts and attempt >= policy.maximum_attempts:
        return None
    if policy.total_duration is not None and at - first_attempt_at >= policy.total_duration:
        return None
    delay = interval(policy, attempt) if failure.retry_after is None else failure.retry_after
    return at + min(max(delay, timedelta(0)), LONGEST)


def interval(policy: RetryPolicy, attempt: int) -> timedelta:
    """Pause after failed attempt `attempt` (from 1): min(maximum, initial x coefficient^(attempt-1))."""
    limit = policy.maximum_interval.total_seconds()
    try:
        seconds = policy.initial_interval.total_seconds() * policy.backoff_coefficient ** (attempt - 1)
    except OverflowError:
        seconds = limit
    return timedelta(seconds=min(seconds, limit))


def _is_listed(policy: RetryPolicy, failure: Failure) -> bool:
    names = {failure.type, *failure.bases}
    return any(listed in names for listed in policy.non_retryable)
