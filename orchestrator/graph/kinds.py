"""Kinds of nodes and edges, as `graph -o json` spells them."""

from __future__ import annotations

from enum import StrEnum


class NodeKind(StrEnum):
    STEP = "step"
    WAIT = "wait"
    CHANNEL = "channel"
    DECISION = "decision"
    ATTRIBUTE = "attribute"
    RPC = "rpc"
    SUBFLOW = "subflow"
    JOIN = "join"
    TIMEOUT_HANDLER = "timeout_handler"


class EdgeKind(StrEnum):
    GO_TO = "go_to"
    FAN_OUT = "fan_out"
    RPC_START = "rpc_start"
    """A movement of an RPC."""
    TIMEOUT = "timeout"
    """A movement of the timeout handler."""
    EXECUTE_FAILURE = "execute_failure"
    STEP_TO_WAIT = "step_to_wait"
    STEP_TO_DECISION = "step_to_decision"
    PUBLISH = "publish"
    WAIT_CONDITION = "wait_condition"
    RESULTS = "results"
    """The step's expressions read what its wait took."""
    READ = "read"
    WRITE = "write"
    LOCK = "lock"
    CANCEL = "cancel"
    SUBFLOW = "subflow"
    OPENS = "opens"
    """A fan-out opens a round of the join."""
    REPORT = "report"
    CANCEL_ROUND = "cancel_round"
