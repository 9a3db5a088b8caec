"""May a flow id that has a run start another? (rules 24-28, 34)"""

from __future__ import annotations

import pytest

from orchestrator.core.reuse import Answer, ReusePolicy, may_start, refusal
from orchestrator.core.state import Status

ALLOWED = {
    ReusePolicy.DISALLOW: set[Status](),
    ReusePolicy.ALLOW_IF_NO_RUNNING: set(Status) - {Status.RUNNING},
    ReusePolicy.ALLOW_IF_PREVIOUS_EXITS_ABNORMALLY: {Status.FAILED, Status.CANCELED, Status.TERMINATED},
    ReusePolicy.ALLOW_TERMINATE_IF_RUNNING: set(Status),
}


@pytest.mark.rule(25)
@pytest.mark.rule(26)
@pytest.mark.rule(27)
@pytest.mark.rule(28)
@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("policy", list(ReusePolicy))
def test_the_policy_decides_over_an_earlier_run(policy: ReusePolicy, status: Status) -> None:
    answer = may_start(policy, status)
    assert (answer is not Answer.REJECT) == (status in ALLOWED[policy])
    assert (answer is Answer.TERMINATE_FIRST) == (
        policy is ReusePolicy.ALLOW_TERMINATE_IF_RUNNING and status is Status.RUNNING
    )


@pytest.mark.rule(34)
@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("policy", list(ReusePolicy))
def test_a_repeated_request_never_makes_a_second_run(policy: ReusePolicy, status: Status) -> None:
    assert may_start(policy, status, is_repeated=True) is Answer.REJECT


@pytest.mark.rule(34)
def test_a_repeated_request_is_not_blamed_on_the_policy() -> None:
    policy = ReusePolicy.ALLOW_TERMINATE_IF_RUNNING
    assert "by this very request" in refusal("f", Status.RUNNING, policy, is_repeated=True)
    assert "reuse policy disallow" in refusal("f", Status.FAILED, ReusePolicy.DISALLOW, is_repeated=False)
