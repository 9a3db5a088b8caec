"""Decisions: selectors, effects, exactly one outcome (language.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from orchestrator.definition.expressions import Expression, Value
from orchestrator.definition.keys import OUTCOMES, RPC_REFUSED
from orchestrator.definition.model import (
    DeadEnd,
    Decision,
    ForceComplete,
    ForceCompleteIfChannelsEmpty,
    ForceFail,
    GoTo,
    GoToMany,
    GracefulComplete,
    Join,
    Json,
    Movement,
    Outcome,
    Path,
    Report,
)
from orchestrator.definition.parse_effects import Effects, read_effects
from orchestrator.definition.parse_handlers import Declared, read_options
from orchestrator.definition.parse_values import (
    Repetition,
    Scope,
    check_input,
    read_guard,
    read_repetition,
    read_string,
    read_value,
)
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.types import Type


class Owner(Enum):
    STEP = "step"
    RPC = "RPC"
    TIMEOUT = "timeout handler"


@dataclass(frozen=True)
class Place:
    """What owns the decisions, and what they may use."""

    owner: Owner
    name: str
    scope: Scope
    declared: Declared
    joins: dict[str, Join] = field(default_factory=dict)
    input: Type | None = None
    """A step's own input, which its movements hand on by default."""
    output: Type | None = None
    """The flow's; an RPC's own."""
    has_handler: bool = False

    @property
    def is_rpc(self) -> bool:
        return self.owner is Owner.RPC


def read_decisions(fields: Fields, place: Place) -> tuple[tuple[Decision, ...], bool]:
    """All decisions of a step, RPC or timeout handler, and whether they are written as a list."""
    if "decide" not in fields:
        decision = _read_decision(fields, place)
        return ((decision,) if decision is not None else ()), False
    reading = fields.reading
    beside = (*OUTCOMES, "when", "choice", "join", "otherwise", "returns", "reject")
    fields.exclude("decide", beside, help="put it into a decision of the list")
    shared = read_effects(fields, place.declared, place.joins, place.scope)
    kind = "rpc_decision" if place.is_rpc else "decision"
    decisions = []
    for index, node in enumerate(reading.read_list(fields["decide"], fields.at("decide"), "`decide`") or []):
        path = (*fields.at("decide"), index)
        _refuse_for_rpc(reading, node, path, place)
        inner = reading.read_mapping(_known_part(node, place), path, kind, f"this decision of `{place.name}`")
        decision = _read_decision(inner, place, shared) if inner is not None else None
        if decision is not None:
            decisions.append(decision)
    return tuple(decisions), True


def _refuse_for_rpc(reading: Reading, node: Json, path: Path, place: Place) -> None:
    """Keys that only decisions of steps have get their own words."""
    if not place.is_rpc or not isinstance(node, dict):
        return
    for key in node:
        if key in RPC_REFUSED:
            refuse_in_rpc(reading, key, (*path, key))


def refuse_in_rpc(reading: Reading, key: str, path: Path) -> None:
    closes = key in OUTCOMES
    reason = (
        "close the run or end a branch" if closes else "report, open or cancel rounds, or cancel siblings"
    )
    reading.report(
        "DEC004",
        path,
        f"`{key}` has no place in an RPC: it cannot {reason}",
        help="let the RPC start a step that does it" if closes else "",
        is_about_key=True,
    )


def _known_part(node: Json, place: Place) -> Json:
    if not place.is_rpc or not isinstance(node, dict):
        return node
    return {key: value for key, value in node.items() if key not in RPC_REFUSED}


def _read_decision(fields: Fields, place: Place, shared: Effects | None = None) -> Decision | None:
    """One decision; `shared` effects come before its own."""
    reading = fields.reading
    when = read_guard(reading, fields["when"], fields.at("when"), place.scope) if "when" in fields else None
    choice = None
    if "choice" in fields:
        choice = reading.read_identifier(fields["choice"], fields.at("choice"), "choice")
        if not place.has_handler:
            method = "handler" if place.is_rpc else "execute"
            reading.report(
                "SCH008",
                fields.at("choice"),
                f"`choice` needs `{method}`: a handler chooses the word",
                is_about_key=True,
            )
    if place.is_rpc and "reject" in fields:
        return _read_rejection(fields, place, when, choice)
    own = read_effects(fields, place.declared, place.joins, place.scope)
    effects = _merged(fields, shared, own)
    _check_reports(reading, effects)
    outcome = _read_outcome(fields, place)
    returns = None
    if "returns" in fields:
        returns = read_value(
            reading, fields["returns"], fields.at("returns"), place.scope, "`returns`", place.output
        )
    if outcome is None and not place.is_rpc:
        return None
    return Decision(
        when=when,
        choice=choice,
        effects=effects.effects,
        cancel=effects.cancel,
        cancel_siblings=effects.cancel_siblings,
        cancel_round=effects.cancel_round,
        outcome=outcome,
        returns=returns,
        path=fields.path,
    )


def _read_rejection(
    fields: Fields, place: Place, when: Expression | None, choice: str | None
) -> Decision | None:
    others = [
        key
        for key in fields.values
        if key in {"set", "publish", "cancel", "go_to", "go_to_many", "otherwise", "returns"}
    ]
    fields.exclude("reject", others, help="a rejected call commits nothing")
    reject = read_string(fields.reading, fields["reject"], fields.at("reject"), place.scope, "`reject`")
    if reject is None:
        return None
    return Decision(when=when, choice=choice, reject=reject, path=fields.path)


def _merged(fields: Fields, shared: Effects | None, own: Effects) -> Effects:
    """The effects beside `decide` come before the decision's own (language.md, section 3)."""
    if shared is None:
        return own
    if shared.cancel_round and own.cancel_round and shared.cancel_round != own.cancel_round:
        message = f"this decision cancels the rounds of `{shared.cancel_round}` and `{own.cancel_round}`"
        at = fields.at("cancel_round")
        fields.reading.report("SCH005", at, message, help="a decision cancels one round", is_about_key=True)
    return Effects(
        shared.effects + own.effects,
        tuple(dict.fromkeys(shared.cancel + own.cancel)),
        tuple(dict.fromkeys(shared.cancel_siblings + own.cancel_siblings)),
        own.cancel_round or shared.cancel_round,
    )


def _check_reports(reading: Reading, effects: Effects) -> None:
    seen: set[str] = set()
    for effect in effects.effects:
        if isinstance(effect, Report):
            if effect.join in seen:
                message = (
                    f"this decision reports to `{effect.join}` twice: once beside `decide`, once by itself"
                )
                reading.report("DEC003", effect.path, message, is_about_key=True)
            seen.add(effect.join)


# --- Outcomes ----------------------------------------------------------------------------------------------


def _read_outcome(fields: Fields, place: Place) -> Outcome | None:
    """The one outcome of a decision; an RPC's may have none."""
    reading = fields.reading
    found = [key for key in fields.values if key in OUTCOMES]
    if len(found) > 1:
        for other in found[1:]:
            reading.report(
                "DEC002",
                fields.at(other),
                f"{fields.what} has a second outcome, `{other}`",
                help="a decision has exactly one",
                is_about_key=True,
                labels={f"`{found[0]}` is here": fields.at(found[0])},
            )
    if "go_to_many" not in found:
        fields.refuse(("join", "otherwise"), "stands beside `go_to_many`, which is not here")
    if not found:
        if not place.is_rpc and not fields.has_unknown:
            help = "give it one of " + ", ".join(f"`{key}`" for key in OUTCOMES)
            message = f"{fields.what} does not say what happens next"
            reading.report("DEC001", fields.path, message, help=help, is_about_key=True)
        return None
    key = found[0]
    node, path = fields[key], fields.at(key)
    if key == "go_to":
        return _read_go_to(reading, node, path, place)
    if key == "go_to_many":
        return _read_go_to_many(fields, place)
    if key == "dead_end":
        if node is not True:
            reading.report("SCH003", path, f"`dead_end` is `true`, not {shown(node)}")
            return None
        return DeadEnd()
    if key == "force_fail":
        reason = read_string(reading, node, path, place.scope, "the reason")
        return ForceFail(reason) if reason is not None else None
    if key == "force_complete_if_channels_empty":
        return _read_completion_if_empty(reading, node, path, place)
    return _read_completion(key, reading, node, path, place)


def _read_completion(key: str, reading: Reading, node: Json, path: Path, place: Place) -> Outcome | None:
    kind = GracefulComplete if key == "graceful_complete" else ForceComplete
    if node is None:
        _check_no_output(reading, path, place)
        return kind()
    output = read_value(reading, node, path, place.scope, "the output", place.output)
    return kind(output) if output is not None else None


def _check_no_output(reading: Reading, path: Path, place: Place) -> None:
    if place.output is not None and not place.output.admits_null:
        reading.report(
            "TYP006",
            path,
            f"the flow's output is {place.output.text}, and this completes without one",
            help="give the output",
            is_about_key=True,
        )


def _read_completion_if_empty(reading: Reading, node: Json, path: Path, place: Place) -> Outcome | None:
    fields = reading.read_mapping(node, path, "completion", "`force_complete_if_channels_empty`")
    if fields is None:
        return None
    channels: tuple[str, ...] = ()
    if fields.require("channels", help="which channels must be empty"):
        channels = reading.read_references(fields["channels"], fields.at("channels"), "channel", "`channels`")
    output = None
    if "output" in fields:
        output = read_value(
            reading, fields["output"], fields.at("output"), place.scope, "the output", place.output
        )
    else:
        _check_no_output(reading, path, place)
    otherwise = None
    if fields.require("otherwise", help="what happens when a channel is not empty"):
        otherwise = _read_otherwise(reading, fields["otherwise"], fields.at("otherwise"), place)
    if otherwise is None or not channels:
        return None
    return ForceCompleteIfChannelsEmpty(channels, otherwise, output)


def _read_otherwise(reading: Reading, node: Json, path: Path, place: Place) -> Decision | None:
    """An outcome with effects of its own, without selectors."""
    kind = "rpc_otherwise" if place.is_rpc else "otherwise"
    fields = reading.read_mapping(_without_selectors(reading, node, path), path, kind, "`otherwise`")
    if fields is None:
        return None
    if place.is_rpc and not any(key in fields for key in OUTCOMES) and not fields.has_unknown:
        message = "`otherwise` does not say what happens next"
        reading.report("DEC001", path, message, help="give it `go_to` or `go_to_many`", is_about_key=True)
        return None
    return _read_decision(fields, place)


def _without_selectors(reading: Reading, node: Json, path: Path) -> Json:
    if not isinstance(node, dict):
        return node
    for key in ("when", "choice"):
        if key in node:
            reading.report(
                "SCH008",
                (*path, key),
                f"`{key}` has no place in `otherwise`, which always holds",
                is_about_key=True,
            )
    return {key: value for key, value in node.items() if key not in ("when", "choice")}


# --- Movements ---------------------------------------------------------------------------------------------


def _read_go_to(reading: Reading, node: Json, path: Path, place: Place) -> Outcome | None:
    if isinstance(node, list):
        help = "several are started by `go_to_many: […]`"
        reading.report("SCH003", path, "`go_to` is one step, not a list", help=help)
        return None
    movement = _read_movement(reading, node, path, place, "target", "`go_to`")
    return GoTo(movement) if movement is not None else None


def _read_go_to_many(fields: Fields, place: Place) -> Outcome | None:
    reading = fields.reading
    path = fields.at("go_to_many")
    movements = []
    for index, node in enumerate(reading.read_list(fields["go_to_many"], path, "`go_to_many`") or []):
        movement = _read_movement(reading, node, (*path, index), place, "movement", "a movement")
        if movement is not None:
            movements.append(movement)
    join = None
    if "join" in fields:
        join = reading.read_reference(fields["join"], fields.at("join"), "join")
    for movement in movements:
        if not movement.branch and "join" not in fields:
            at = (*movement.path, "branch")
            reading.report("SCH008", at, "`branch` needs a `join` beside `go_to_many`", is_about_key=True)
    otherwise = None
    if "otherwise" in fields:
        otherwise = _read_otherwise(reading, fields["otherwise"], fields.at("otherwise"), place)
    return GoToMany(tuple(movements), join, otherwise) if movements else None


def _read_movement(
    reading: Reading, node: Json, path: Path, place: Place, kind: str, what: str
) -> Movement | None:
    if not isinstance(node, dict):
        step = reading.read_reference(node, path, "step")
        if step is None:
            return None
        _check_handed_on(reading, step, path, place, None)
        return Movement(step, path=path)
    fields = reading.read_mapping(node, path, kind, what)
    if fields is None:
        return None
    repetition = read_repetition(fields, place.scope)
    step = None
    if fields.require("step", help="the step to go to"):
        step = reading.read_reference(fields["step"], fields.at("step"), "step")
    given = None
    if "input" in fields:
        given = _read_input(fields, step, place, repetition.scope)
    elif step is not None:
        _check_handed_on(reading, step, fields.at("step"), place, repetition)
    options = None
    if "options" in fields:
        options = read_options(
            reading, fields["options"], fields.at("options"), step, place.declared, repetition.scope
        )
    branch = True
    if "branch" in fields:
        branch = reading.read_flag(fields["branch"], fields.at("branch"), "`branch`") is not False
    if step is None:
        return None
    return Movement(
        step, given, options, repetition.when, repetition.for_each, repetition.as_name, branch, path=path
    )


def _read_input(fields: Fields, step: str | None, place: Place, scope: Scope) -> Value | None:
    path = fields.at("input")
    asked = place.declared.inputs.get(step) if step is not None else None
    if step is not None and asked is None:
        help = f"remove it, or declare `input` on `{step}`"
        fields.reading.report("TYP005", path, f"`{step}` takes no input", help=help, is_about_key=True)
    what = f"the input of `{step}`" if step is not None else "the input"
    return read_value(fields.reading, fields["input"], path, scope, what, asked)


def _check_handed_on(
    reading: Reading, step: str, path: Path, place: Place, repetition: Repetition | None
) -> None:
    """Without `input` the target gets the element of `for_each`, else the step's own input."""
    asked = place.declared.inputs.get(step)
    if asked is None:
        return
    if repetition is not None and repetition.for_each is not None:
        item = f"${{{repetition.as_name}}}"
        read_value(reading, item, path, repetition.scope, f"the input of `{step}`", asked)
    elif place.owner is not Owner.STEP:
        message = f"`{step}` takes an input ({asked.text}), and the {place.owner.value} must give it"
        reading.report("TYP004", path, message, help=f"write {{step: {step}, input: …}}")
    else:
        what = f"`{place.name}` has none to hand on"
        check_input(
            reading, step, asked, place.input, path, what=what, help=f"write {{step: {step}, input: …}}"
        )
