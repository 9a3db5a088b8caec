"""The typed, immutable flow definition: what a `*.flow.yaml` says, nothing more.

Each part keeps its `path` in the document (`("steps", "Charge", "go_to")`); `Source.locate(path)` gives
the line and column of its key and value. Paths never count in comparisons nor in the definition's hash.
Effects written beside `decide:` are already part of each decision, before its own (language.md, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from orchestrator.definition.expressions import Expression, Value
    from orchestrator.definition.source import Source
    from orchestrator.definition.types import Type

Json: TypeAlias = Any
"""null, bool, int, float, str, list, or dict with string keys."""
Path: TypeAlias = tuple[str | int, ...]


def _path() -> Any:
    return field(default=(), compare=False, repr=False)


# --- Handlers and their options ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Rule 146. `maximum_attempts` 0 is unlimited; the first attempt counts."""

    initial_interval: timedelta = timedelta(seconds=1)
    backoff_coefficient: float = 2.0
    maximum_interval: timedelta = timedelta(seconds=100)
    maximum_attempts: int = 0
    total_duration: timedelta | None = timedelta(hours=4)
    non_retryable: tuple[str, ...] = ()
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class MayRange:
    """How many times one successful call may do a declared thing; `maximum` None is any number."""

    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class May:
    """What a handler may do through its context, by name (language.md, "Handler-made effects")."""

    publish: Mapping[str, MayRange] = field(default_factory=dict)
    set: Mapping[str, MayRange] = field(default_factory=dict)
    cancel: Mapping[str, MayRange] = field(default_factory=dict)
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class Lock:
    """One attribute, or one entry of an attribute map, held during one call of a method."""

    attribute: str
    key: Value | None = None
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class Load:
    """What a handler wants besides plain attributes: a map (entry) or a channel's unread messages."""

    attribute: str | None = None
    channel: str | None = None
    key: Value | None = None
    path: Path = _path()


class Durability(StrEnum):
    SYNC = "sync"
    ASYNC = "async"


DEFAULT_TIMEOUT = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Handler:
    """A Python function bound by name, with the options of its calls."""

    name: str
    may: May | None = None
    timeout: timedelta = DEFAULT_TIMEOUT
    retry: RetryPolicy = RetryPolicy()
    heartbeat: timedelta | None = None
    locks: tuple[Lock, ...] = ()
    loads: tuple[Load, ...] = ()
    durability: Durability | None = None
    transactional: bool = False
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class MethodOverride:
    """Options of one method that a movement or route replaces; None leaves the step's own."""

    retry: RetryPolicy | None = None
    timeout: timedelta | None = None
    on_failure: str | None = None
    """`wait_for` only: "fail" or "proceed"."""
    heartbeat: timedelta | None = None
    locks: tuple[Lock, ...] | None = None
    loads: tuple[Load, ...] | None = None
    durability: Durability | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """`options:` of a movement or failure route (rule 118)."""

    wait_for: MethodOverride | None = None
    execute: MethodOverride | None = None
    on_failure: Route | None = None
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class Route:
    """Failure route of Execute: the recovery step (rule 151)."""

    step: str
    options: Options | None = None
    path: Path = _path()


# --- Waits -------------------------------------------------------------------------------------------------


class Combinator(StrEnum):
    UNTIL = "until"
    ANY_OF = "any_of"
    ALL_OF = "all_of"
    ANY_COMBINATION_OF = "any_combination_of"
    HANDLER = "handler"
    """A handler builds the wait out of the declared conditions."""
    NONE = "none"
    """No conditions: the effects are committed and the wait holds at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What all conditions share. `id` is unique in the wait."""

    id: str
    when: Expression | None = None
    for_each: Value | None = None
    as_name: str = "item"
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCondition(Condition):
    """At most one of `exactly` (`for: N`) and the pair `at_least`/`at_most`; none of them means `for: 1`."""

    channel: str
    key: Value | None = None
    exactly: Value | None = None
    at_least: Value | None = None
    at_most: Value | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerCondition(Condition):
    """Exactly one of `after` (`timer:`) and `at` (`timer_at:`)."""

    after: Value | None = None
    at: Value | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubflowCondition(Condition):
    flow: str
    input: Value | None = None
    flow_id: Value | None = None
    reuse: str = "restart_if_previous_exits_abnormally"
    timeout: Value | None = None
    config: Mapping[str, Json] | None = None
    if_abandoned: str = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinCondition(Condition):
    join: str
    need: Value | str = "all"
    """"all", "active", "first", or a Value giving the number of reports."""


@dataclass(frozen=True, slots=True)
class WaitFor:
    combinator: Combinator
    conditions: tuple[Condition, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    """`any_combination_of`: condition ids, in declared order."""
    handler: Handler | None = None
    effects: tuple[Effect, ...] = ()
    locals: tuple[tuple[str, Value], ...] = ()
    proceeds_on_failure: bool = False
    path: Path = _path()


# --- Decisions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAttribute:
    """One write; with `key` one entry of a map; a null value deletes (a map without key: all entries)."""

    attribute: str
    key: Value | None = None
    value: Value
    when: Expression | None = None
    for_each: Value | None = None
    as_name: str = "item"
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    channel: str
    key: Value | None = None
    value: Value
    when: Expression | None = None
    for_each: Value | None = None
    as_name: str = "item"
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    join: str
    value: Value
    path: Path = _path()


Effect: TypeAlias = SetAttribute | Publish | Report


@dataclass(frozen=True, slots=True)
class Movement:
    """`input` None: section 5's default (the element of `for_each`, else the step's own input)."""

    step: str
    input: Value | None = None
    options: Options | None = None
    when: Expression | None = None
    for_each: Value | None = None
    as_name: str = "item"
    branch: bool = True
    path: Path = _path()


@dataclass(frozen=True, slots=True)
class GoTo:
    movement: Movement


@dataclass(frozen=True, slots=True)
class GoToMany:
    movements: tuple[Movement, ...]
    join: str | None = None
    otherwise: Decision | None = None


@dataclass(frozen=True, slots=True)
class GracefulComplete:
    output: Value | None = None
    """None: completes without output."""


@dataclass(frozen=True, slots=True)
class ForceComplete:
    output: Value | None = None


@dataclass(frozen=True, slots=True)
class ForceFail:
    reason: Value


@dataclass(frozen=True, slots=True)
class DeadEnd:
    pass


@dataclass(frozen=True, slots=True)
class ForceCompleteIfChannelsEmpty:
    channels: tuple[str, ...]
    otherwise: Decision
    output: Value | None = None


Outcome: TypeAlias = (
    GoTo | GoToMany | GracefulComplete | ForceComplete | ForceFail | DeadEnd | ForceCompleteIfChannelsEmpty
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One entry of `decide:`; also an `otherwise` (then without selectors)."""

    when: Expression | None = None
    choice: str | None = None
    effects: tuple[Effect, ...] = ()
    cancel: tuple[str, ...] = ()
    cancel_siblings: tuple[str, ...] = ()
    cancel_round: str | None = None
    outcome: Outcome | None = None
    """None only for an RPC's decision that starts nothing."""
    returns: Value | None = None
    """RPC only."""
    reject: Value | None = None
    """RPC only: instead of everything else."""
    path: Path = _path()


# --- Steps, RPCs, flow -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    name: str = "result"
    type: Type | None = None
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    description: str = ""
    input: Type | None = None
    """None: the step takes no input. The start step's is resolved to the flow's when it declares none."""
    wait_for: WaitFor | None = None
    execute: Handler | None = None
    result: Result = Result()
    let: tuple[tuple[str, Value], ...] = ()
    on_failure: Route | None = None
    decisions: tuple[Decision, ...] = ()
    is_listed: bool = False
    """True: written with `decide:`; False: one decision's keys written on the step."""
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rpc:
    name: str
    description: str = ""
    input: Type | None = None
    output: Type | None = None
    handler: Handler | None = None
    locks: tuple[Lock, ...] = ()
    """Also without a handler; the handler's own `locks` are these."""
    result: Result = Result()
    let: tuple[tuple[str, Value], ...] = ()
    decisions: tuple[Decision, ...] = ()
    is_listed: bool = False
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    name: str
    type: Type
    is_map: bool = False
    initial: Json = None
    index: str | None = None
    index_key: str | None = None
    sync: bool = False
    description: str = ""
    path: Path = _path()


class Delivery(StrEnum):
    QUEUED = "queued"
    TRANSIENT = "transient"
    LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    name: str
    type: Type
    is_external: bool = False
    is_map: bool = False
    delivery: Delivery = Delivery.QUEUED
    capacity: int | None = None
    leftover: bool = False
    description: str = ""
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    name: str
    type: Type
    description: str = ""
    path: Path = _path()


class TimeoutPolicy(StrEnum):
    FAIL = "fail"
    CANCEL = "cancel"
    HANDLER = "handler"


@dataclass(frozen=True, slots=True)
class FlowTimeout:
    after: timedelta
    policy: TimeoutPolicy
    path: Path = _path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A whole definition. Mappings keep the order written."""

    name: str
    description: str = ""
    handlers: tuple[str, ...] = ()
    types: Mapping[str, Json] = field(default_factory=dict)
    """As written: JSON Schema by name."""
    input: Type | None = None
    output: Type | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    channels: Mapping[str, Channel] = field(default_factory=dict)
    joins: Mapping[str, Join] = field(default_factory=dict)
    start: str | None = None
    steps: Mapping[str, Step] = field(default_factory=dict)
    rpcs: Mapping[str, Rpc] = field(default_factory=dict)
    timeout: FlowTimeout | None = None
    on_timeout: Step | None = None
    durability: Durability = Durability.SYNC
    verify: Mapping[str, Json] = field(default_factory=dict)
    version: str | None = None
    hash: str = field(default="", compare=False)
    """`sha256:…` of the canonical definition: descriptions, comments and layout do not count."""
    source: Source | None = field(default=None, compare=False, repr=False)
