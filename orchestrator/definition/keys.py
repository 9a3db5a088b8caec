"""Which keys each mapping of the language may have, and what stands under them.

One table drives the refusal of unknown keys, "did you mean", and the canonical form that is hashed.
Beside these every mapping takes `x-…` keys, the author's own.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Form(NamedTuple):
    """What stands under a key, where it is not a mapping of this table."""

    word: str


DATA = Form("data")
"""Values and expressions: taken as they are."""
LABEL = Form("label")
"""For people only: no part of the definition's hash."""
SCHEMA = Form("schema")
"""A type."""
EFFECTS = Form("effects")
"""`set` and `publish`: a mapping of names, or a list of entries."""


class Named(NamedTuple):
    """A mapping from names that the author chooses."""

    of: Shape
    is_ordered: bool = False


Shape: TypeAlias = "Form | Named | str"

_EFFECT_KEYS: dict[str, Shape] = {
    "set": EFFECTS,
    "publish": EFFECTS,
    "report": DATA,
    "cancel": DATA,
    "cancel_siblings": DATA,
    "cancel_round": DATA,
}
_OUTCOME_KEYS: dict[str, Shape] = {
    "go_to": "target",
    "go_to_many": "movement",
    "join": DATA,
    "otherwise": "otherwise",
    "graceful_complete": DATA,
    "force_complete": DATA,
    "force_fail": DATA,
    "dead_end": DATA,
    "force_complete_if_channels_empty": "completion",
}
_DECISION_KEYS: dict[str, Shape] = {"when": DATA, "choice": DATA, **_EFFECT_KEYS, **_OUTCOME_KEYS}
_RPC_DECISION_KEYS: dict[str, Shape] = {
    "when": DATA,
    "choice": DATA,
    "set": EFFECTS,
    "publish": EFFECTS,
    "cancel": DATA,
    "go_to": "target",
    "go_to_many": "movement",
    "otherwise": "rpc_otherwise",
    "returns": DATA,
    "reject": DATA,
}
_METHOD_KEYS: dict[str, Shape] = {"retry": "retry", "timeout": DATA, "locks": DATA, "loads": DATA}
_REPEATED_KEYS: dict[str, Shape] = {"when": DATA, "for_each": DATA, "as": DATA}
_CONDITION_KEYS: dict[str, Shape] = {"id": DATA, **_REPEATED_KEYS}

OUTCOMES = (
    "go_to",
    "go_to_many",
    "graceful_complete",
    "force_complete",
    "force_fail",
    "dead_end",
    "force_complete_if_channels_empty",
)
RPC_REFUSED = frozenset(_DECISION_KEYS) - frozenset(_RPC_DECISION_KEYS)
CONDITION_KINDS = ("channel", "timer", "timer_at", "subflow", "join")

KEYS: dict[str, dict[str, Shape]] = {
    "flow": {
        "flow": DATA,
        "description": LABEL,
        "handlers": DATA,
        "types": Named(SCHEMA),
        "input": SCHEMA,
        "output": SCHEMA,
        "attributes": Named("attribute"),
        "channels": Named("channel"),
        "joins": Named("join"),
        "start": DATA,
        "steps": Named("step"),
        "rpcs": Named("rpc"),
        "timeout": "timeout",
        "on_timeout": "on_timeout",
        "config": "config",
        "verify": "verify",
        "language": DATA,
        "version": LABEL,
        "$schema": LABEL,
    },
    "attribute": {
        "type": SCHEMA,
        "map": DATA,
        "initial": DATA,
        "index": "index",
        "sync": DATA,
        "description": LABEL,
    },
    "index": {"type": DATA, "key": DATA},
    "channel": {
        "type": SCHEMA,
        "external": DATA,
        "map": DATA,
        "delivery": DATA,
        "capacity": DATA,
        "leftover": DATA,
        "description": LABEL,
    },
    "join": {"type": SCHEMA, "description": LABEL},
    "result": {"name": DATA, "type": SCHEMA},
    "step": {
        "description": LABEL,
        "input": SCHEMA,
        "wait_for": "wait_for",
        "execute": "execute",
        "result": "result",
        "let": Named(DATA, is_ordered=True),
        "on_failure": "route",
        "decide": "decision",
        **_DECISION_KEYS,
    },
    "on_timeout": {
        "description": LABEL,
        "execute": "execute",
        "result": "result",
        "let": Named(DATA, is_ordered=True),
        "on_failure": "route",
        "decide": "decision",
        **_DECISION_KEYS,
    },
    "rpc": {
        "description": LABEL,
        "input": SCHEMA,
        "output": SCHEMA,
        "handler": DATA,
        "timeout": DATA,
        "locks": DATA,
        "loads": DATA,
        "transactional": DATA,
        "may": "may",
        "result": "result",
        "let": Named(DATA, is_ordered=True),
        "decide": "rpc_decision",
        **_RPC_DECISION_KEYS,
    },
    "execute": {
        "handler": DATA,
        "may": "may",
        **_METHOD_KEYS,
        "heartbeat": DATA,
        "durability": DATA,
        "transactional": DATA,
    },
    "retry": {
        "initial_interval": DATA,
        "backoff_coefficient": DATA,
        "maximum_interval": DATA,
        "maximum_attempts": DATA,
        "total_duration": DATA,
        "non_retryable": DATA,
    },
    "may": {"publish": Named("range"), "set": Named("range"), "cancel": Named("range")},
    "range": {"min": DATA, "max": DATA},
    "options": {"wait_for": "wait_options", "execute": "execute_options", "on_failure": "route"},
    "wait_options": {"retry": "retry", "timeout": DATA, "on_failure": DATA, "locks": DATA},
    "execute_options": {**_METHOD_KEYS, "heartbeat": DATA, "durability": DATA},
    "route": {"step": DATA, "options": "options"},
    "wait_for": {
        "until": "condition",
        "any_of": "condition",
        "all_of": "condition",
        "any_combination_of": DATA,
        "handler": DATA,
        "conditions": Named("condition", is_ordered=True),
        "set": EFFECTS,
        "publish": EFFECTS,
        "local": DATA,
        **_METHOD_KEYS,
        "may": "may",
        "on_failure": DATA,
    },
    "channel condition": {
        "channel": DATA,
        "key": DATA,
        "for": DATA,
        "at_least": DATA,
        "at_most": DATA,
        **_CONDITION_KEYS,
    },
    "timer condition": {"timer": DATA, **_CONDITION_KEYS},
    "timer_at condition": {"timer_at": DATA, **_CONDITION_KEYS},
    "subflow condition": {
        "subflow": DATA,
        "input": DATA,
        "flow_id": DATA,
        "reuse": DATA,
        "timeout": DATA,
        "config": "config",
        "if_abandoned": DATA,
        **_CONDITION_KEYS,
    },
    "join condition": {"join": DATA, "need": DATA, **_CONDITION_KEYS},
    "decision": _DECISION_KEYS,
    "rpc_decision": _RPC_DECISION_KEYS,
    "otherwise": {**_EFFECT_KEYS, **_OUTCOME_KEYS},
    "rpc_otherwise": {
        "set": EFFECTS,
        "publish": EFFECTS,
        "cancel": DATA,
        "go_to": "target",
        "go_to_many": "movement",
        "otherwise": "rpc_otherwise",
    },
    "set": {"attribute": DATA, "key": DATA, "value": DATA, **_REPEATED_KEYS},
    "publish": {"channel": DATA, "key": DATA, "value": DATA, **_REPEATED_KEYS},
    "target": {"step": DATA, "input": DATA, "options": "options"},
    "movement": {"step": DATA, "input": DATA, "options": "options", **_REPEATED_KEYS, "branch": DATA},
    "completion": {"channels": DATA, "output": DATA, "otherwise": "otherwise"},
    "timeout": {"after": DATA, "policy": DATA},
    "config": {"durability": DATA},
    "verify": {
        "fan_out": DATA,
        "depth": DATA,
        "external": DATA,
        "open_ended": DATA,
        "properties": "property",
    },
    "property": {"mutual_exclusion": DATA, "conserved": DATA, "always_closes": DATA, "never": "never"},
    "never": {"step": DATA, "with": DATA},
}
KEYS["condition"] = {
    key: shape for kind in CONDITION_KINDS for key, shape in KEYS[f"{kind} condition"].items()
}
