"""Random small definitions, valid by construction, for property tests."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st

from orchestrator.definition.model import Flow
from tests.support.play import flow_of

CHANNELS = {
    "queue": {"type": "integer", "external": True},
    "flash": {"type": "integer", "external": True, "delivery": "transient"},
    "latest": {"type": "integer", "external": True, "delivery": "latest"},
    "small": {"type": "integer", "external": True, "capacity": 2},
    "keyed": {"type": "integer", "external": True, "map": True},
}
Draw = Any


@st.composite
def flows(draw: Draw) -> Flow:
    """Two to five steps that each take an integer; channels of every delivery; one join."""
    names = [f"S{number}" for number in range(draw(st.integers(2, 5)))]
    definition = {
        "flow": "Random",
        "input": "integer",
        "channels": CHANNELS,
        "attributes": {"n": {"type": "integer", "initial": 0}, "m": {"type": "integer", "map": True}},
        "joins": {"all": "integer"},
        "start": names[0],
        "steps": {name: draw(_steps(names)) for name in names},
    }
    return flow_of(yaml.safe_dump(definition, sort_keys=False))


@st.composite
def _steps(draw: Draw, names: list[str]) -> dict[str, Any]:
    step: dict[str, Any] = {"input": "integer"}
    if draw(st.booleans()):
        step["wait_for"] = draw(_waits())
    if draw(st.booleans()):
        handler: dict[str, Any] = {"handler": "work", "retry": {"maximum_attempts": draw(st.integers(1, 2))}}
        if draw(st.integers(0, 3)) == 0:
            handler["locks"] = draw(st.sampled_from([["n"], [{"m": "k"}], ["n", {"m": "k"}]]))
        step["execute"] = handler
    if draw(st.booleans()):
        step["on_failure"] = draw(st.sampled_from(names))
    if draw(st.booleans()):
        guarded = {"when": f"input > {draw(st.integers(0, 3))}", **draw(_decisions(names))}
        step["decide"] = [guarded, draw(_decisions(names))]
    else:
        step |= draw(_decisions(names))
    return step


@st.composite
def _waits(draw: Draw) -> dict[str, Any]:
    conditions = draw(st.lists(_conditions(), min_size=1, max_size=3))
    for number, condition in enumerate(conditions):
        condition["id"] = f"c{number}"
    combinator = draw(st.sampled_from(["until", "any_of", "all_of"]))
    return {combinator: conditions[0] if combinator == "until" else conditions}


@st.composite
def _conditions(draw: Draw) -> dict[str, Any]:
    if draw(st.integers(0, 3)) == 0:
        return {"timer": draw(st.integers(0, 20))}
    channel = draw(st.sampled_from(sorted(CHANNELS)))
    forms: list[dict[str, Any]] = [
        {},
        {"for": 2},
        {"at_least": 1},
        {"at_most": 2},
        {"at_least": 1, "at_most": 2},
    ]
    condition = {"channel": channel, **draw(st.sampled_from(forms))}
    return condition | ({"key": "k"} if channel == "keyed" else {})


@st.composite
def _decisions(draw: Draw, names: list[str]) -> dict[str, Any]:
    decision: dict[str, Any] = draw(st.sampled_from([{}, {"set": {"n": "${attributes.n + 1}"}}]))
    decision = dict(decision)
    if draw(st.booleans()):
        channel = draw(st.sampled_from(["queue", "flash", "latest", "small"]))
        decision["publish"] = {channel: "${input}"}
    if draw(st.integers(0, 5)) == 0:
        decision["cancel"] = [draw(st.sampled_from(names))]
    if draw(st.integers(0, 4)) == 0:
        decision["report"] = {"all": "${input}"}
    outcome: dict[str, Any] = draw(_outcomes(names))
    return decision | outcome


@st.composite
def _outcomes(draw: Draw, names: list[str]) -> dict[str, Any]:
    target = st.sampled_from(names)
    kind = draw(st.sampled_from(["go_to", "many", "many", "dead", "graceful", "force", "empty"]))
    if kind == "go_to":
        return {"go_to": {"step": draw(target), "input": "${input + 1}"}}
    if kind == "many":
        moves = [{"step": draw(target), "input": "${input + 1}"} for _ in range(2)]
        return {"go_to_many": moves} | ({"join": "all"} if draw(st.booleans()) else {})
    if kind == "graceful":
        return {"graceful_complete": "${input}"}
    if kind == "force":
        return {"force_complete": "${input}"}
    if kind == "empty":
        otherwise = {"go_to": {"step": draw(target), "input": "${input}"}}
        return {"force_complete_if_channels_empty": {"channels": ["queue"], "otherwise": otherwise}}
    return {"dead_end": True}
