"""May a flow id that has a run start another? Rules 24-34."""

from __future__ import annotations

from enum import StrEnum

from orchestrator.core.state import Status


class ReusePolicy(StrEnum):
    DISALLOW = "disallow"
    ALLOW_IF_NO_RUNNING = "allow_if_no_running"
    ALLOW_IF_PREVIOUS_EXITS_ABNORMALLY = "allow_if_previous_exits_abnormally"
    ALLOW_TERMINATE_IF_RUNNING = "allow_terminate_if_running"


class Answer(StrEnum):
    START = "start"
    TERMINATE_FIRST = "terminate_first"
    REJECT = "reject"


_ABNORMAL = {Status.FAILED, Status.CANCELED, Status.TERMINATED}


def may_start(policy: ReusePolicy, latest: Status, *, is_repeated: bool = False) -> Answer:
    """`latest`: how the latest run of the flow id stands. `is_repeated`: it came of the very same request.

    A repeated request never makes a second run, whatever the policy (rule 34).
    """
    if is_repeated:
        return Answer.REJECT
    if policy is ReusePolicy.ALLOW_TERMINATE_IF_RUNNING:
        return Answer.TERMINATE_FIRST if latest is Status.RUNNING else Answer.START
    if policy is ReusePolicy.ALLOW_IF_NO_RUNNING and latest is not Status.RUNNING:
        return Answer.START
    if policy is ReusePolicy.ALLOW_IF_PREVIOUS_EXITS_ABNORMALLY and latest in _ABNORMAL:
        return Answer.START
    return Answer.REJECT


def refusal(flow_id: str, latest: Status, policy: ReusePolicy | str, *, is_repeated: bool) -> str:
    """Why a start makes no run."""
    if is_repeated:
        return f"{flow_id} was started by this very request before, and is {latest}"
    return f"{flow_id} was started before and is {latest}; reuse policy {policy} does not allow another run"
