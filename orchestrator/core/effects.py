"""Effects: of handlers (checked against `may`) and of decisions, waits (declared in the definition)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from orchestrator.core.draft import Draft
from orchestrator.core.evaluation import checked, elements, evaluate, map_key
from orchestrator.core.events import NO_EFFECTS, HandlerEffects, Message, Write
from orchestrator.core.failing import expression_failed, invalid_result, undeclared_effect
from orchestrator.core.frame import Frame
from orchestrator.core.rounds import innermost
from orchestrator.core.state import BranchReport, Execution
from orchestrator.definition.json_kinds import describe
from orchestrator.definition.model import Effect, Flow, Handler, Json, May, MayRange, Report, SetAttribute
from orchestrator.errors import ChannelFull, InvalidValue

_NOTHING = May()
_VERBS = {"publish": "published to", "set": "set", "cancel": "cancelled"}


# --- Handlers' effects --------------------------------------------------------------------------------------


def apply_handler_effects(draft: Draft, handler: Handler | None, effects: HandlerEffects) -> None:
    """Check what a handler did and do it; its cancels are the caller's to add to the decision's.

    Raises MethodFails: the attempt fails.
    """
    if effects is NO_EFFECTS and (handler is None or handler.may is None):
        return
    check_may(handler.may if handler else None, effects)
    for write in effects.writes:
        draft.write(write.attribute, write.key, _write_value(draft.flow, write))
    for message in effects.publishes:
        value = _message_value(draft.flow, message)
        try:
            draft.publish(message.channel, message.key, value)
        except ChannelFull as error:
            raise expression_failed(error.message) from None


def check_may(may: May | None, effects: HandlerEffects) -> None:
    """What the handler did must be what its `may` declares (language.md, "Handler-made effects")."""
    if may is None and not (effects.publishes or effects.writes or effects.cancels):
        return
    may = may or _NOTHING
    _check_counts("publish", may.publish, (message.channel for message in effects.publishes))
    _check_counts("set", may.set, (write.attribute for write in effects.writes))
    _check_counts("cancel", may.cancel, effects.cancels)


def _check_counts(verb: str, declared: Mapping[str, MayRange], names: Iterable[str]) -> None:
    counts = Counter(names)
    for name in counts:
        if name not in declared:
            raise undeclared_effect(
                f"the handler {_VERBS[verb]} {name}, which its `may: {{{verb}: …}}` does not list"
            )
    for name, allowed in declared.items():
        number = counts[name]
        if number < allowed.minimum or (allowed.maximum is not None and number > allowed.maximum):
            raise undeclared_effect(
                f"the handler {_VERBS[verb]} {name} {number} times; declared is {_spelled(allowed)}"
            )


def _spelled(allowed: MayRange) -> str:
    if allowed.maximum is None:
        return f"at least {allowed.minimum}"
    if allowed.minimum == allowed.maximum:
        return f"exactly {allowed.minimum}"
    return f"{allowed.minimum} to {allowed.maximum}"


def _write_value(flow: Flow, write: Write) -> Json:
    attribute = flow.attributes[write.attribute]
    if attribute.is_map and write.key is None and write.value is not None:
        raise invalid_result(f"attribute map {write.attribute} is written entry by entry")
    if write.value is None:
        return None
    try:
        return attribute.type.check(write.value)
    except InvalidValue as error:
        raise invalid_result(f"attribute {write.attribute}: {error.message}") from None


def _message_value(flow: Flow, message: Message) -> Json:
    try:
        return flow.channels[message.channel].type.check(message.value)
    except InvalidValue as error:
        raise invalid_result(f"message to {message.channel}: {error.message}") from None


# --- Declared effects ---------------------------------------------------------------------------------------


class PlannedWrite(Struct, frozen=True, gc=False):
    attribute: str
    key: str | None
    value: Json


class PlannedMessage(Struct, frozen=True, gc=False):
    channel: str
    key: str | None
    value: Json


class PlannedReport(Struct, frozen=True, gc=False):
    execution: Execution
    position: int
    """Of the round on the execution's line."""
    value: Json


PlannedEffect: TypeAlias = PlannedWrite | PlannedMessage | PlannedReport


def plan_effects(
    draft: Draft, execution: Execution, effects: tuple[Effect, ...], frame: Frame
) -> list[PlannedEffect]:
    """Evaluate all on the one state that `frame` shows, in the order written; nothing is done yet."""
    planned: list[PlannedEffect] = []
    for effect in effects:
        if isinstance(effect, Report):
            planned.append(_plan_report(draft.flow, execution, effect, frame))
            continue
        for inner, _ in elements(effect.for_each, effect.as_name, effect.when, frame):
            planned.append(_plan(draft.flow, effect, inner))
    return planned


def _plan_report(flow: Flow, execution: Execution, effect: Report, frame: Frame) -> PlannedReport:
    """To the innermost round of the join on the line."""
    position = innermost(execution.line, effect.join)
    if position is None:
        raise expression_failed(f"{execution.id} is inside no round of join {effect.join}")
    value = checked(evaluate(effect.value, frame), flow.joins[effect.join].type, f"report to {effect.join}")
    return PlannedReport(execution, position, value)


def _plan(flow: Flow, effect: Effect, frame: Frame) -> PlannedEffect:
    assert not isinstance(effect, Report)
    key = map_key(effect.key, frame)
    value = evaluate(effect.value, frame)
    if isinstance(effect, SetAttribute):
        return PlannedWrite(effect.attribute, key, _attribute_value(flow, effect, value))
    message = checked(value, flow.channels[effect.channel].type, f"message to {effect.channel}")
    return PlannedMessage(effect.channel, key, message)


def _attribute_value(flow: Flow, effect: SetAttribute, value: Json) -> Json:
    attribute = flow.attributes[effect.attribute]
    what = f"attribute {effect.attribute}"
    if value is None:
        return None
    if attribute.is_map and effect.key is None:
        if not isinstance(value, dict):
            raise expression_failed(f"{what} is a map: give it a mapping of entries, not {describe(value)}")
        if "" in value:
            raise expression_failed(f"{what} has an empty key")
        if any("\0" in key for key in value):
            raise expression_failed(f"{what} has a key with a NUL character")
        return {k: None if v is None else checked(v, attribute.type, f"{what}.{k}") for k, v in value.items()}
    return checked(value, attribute.type, what)


def require_room(draft: Draft, planned: list[PlannedEffect]) -> None:
    """Refuse publishes beyond a channel's capacity before anything is done."""
    queues = [(effect.channel, effect.key) for effect in planned if type(effect) is PlannedMessage]
    for (channel, key), number in Counter(queues).items() if queues else ():
        try:
            draft.require_room(channel, key, number)
        except ChannelFull as error:
            raise expression_failed(error.message) from None


def apply_effects(draft: Draft, planned: list[PlannedEffect]) -> None:
    for effect in planned:
        if isinstance(effect, PlannedWrite):
            draft.write(effect.attribute, effect.key, effect.value)
        elif isinstance(effect, PlannedReport):
            place = effect.execution.line[effect.position]
            draft.rounds.report(effect.execution, place, BranchReport(place.branch, effect.value))
        else:
            draft.publish(effect.channel, effect.key, effect.value)
