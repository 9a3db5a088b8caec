"""What a run remembers of an exception."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator import NonRetryable, RetryAfter
from orchestrator.binding.failures import failure_of
from orchestrator.core.events import Failure
from orchestrator.errors import UsageError
from tests.support.calls import call


class CardRefused(ValueError):
    pass


def failure_from(error: BaseException) -> Failure:
    def charge() -> Any:
        raise error

    try:
        call(charge)
    except BaseException as caught:
        return failure_of(caught)
    raise AssertionError("the handler did not raise")


def test_a_failure_names_the_exception_and_what_it_is_one_of() -> None:
    failure = failure_from(CardRefused("no money"))
    assert (failure.type, failure.message) == ("CardRefused", "no money")
    assert failure.bases == ("CardRefused", "ValueError", "Exception")
    assert failure.is_retryable
    assert failure.retry_after is None


def test_the_traceback_begins_in_the_handler() -> None:
    trace = failure_from(CardRefused("x")).traceback
    assert trace is not None
    assert "in charge" in trace
    assert "invoke.py" not in trace
    assert "calls.py" not in trace


@pytest.mark.rule(148)
@pytest.mark.parametrize("delay", [2.5, timedelta(seconds=2.5)])
def test_retry_after_carries_its_delay(delay: Any) -> None:
    failure = failure_from(RetryAfter(delay, "busy"))
    assert (failure.retry_after, failure.message) == (timedelta(seconds=2.5), "busy")
    assert failure.is_retryable


@pytest.mark.parametrize("delay", ["5s", None, True, [1], float("nan"), float("inf"), 1e300])
def test_retry_after_says_what_is_no_delay(delay: Any) -> None:
    with pytest.raises(UsageError, match="RetryAfter takes a timedelta or a number of seconds, not "):
        RetryAfter(delay)


@pytest.mark.rule(149)
def test_non_retryable_is_final_also_for_subclasses() -> None:
    class Refused(NonRetryable):
        pass

    assert not failure_from(NonRetryable("no")).is_retryable
    assert not failure_from(Refused("no")).is_retryable


def test_a_mistake_through_the_context_shows_the_line_of_the_handler() -> None:
    def charge(ctx: Any) -> Any:
        ctx.publish("tokn", "a")

    with pytest.raises(LookupError) as caught:
        call(charge)
    failure = failure_of(caught.value)
    assert failure.type == "UnknownName"
    assert failure.traceback is not None
    assert 'ctx.publish("tokn", "a")' in failure.traceback
    assert "context.py" not in failure.traceback


def test_text_that_cannot_be_made_or_stored_is_still_a_failure() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert failure_from(Odd()).message == "(its text cannot be made: RuntimeError)"
    assert failure_from(ValueError("\ud800")).message == "\\ud800"
    assert len(failure_from(ValueError("x" * 100_000)).message) == 4_000
