"""Whoever `explain` says cannot move does not move, whatever clients and time do afterwards."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.explained import Explained
from tests.support.play import Play, flow_of

CHANNELS = "abcd"
STEPS = 6
Drawn = dict[str, Any]

conditions = st.one_of(
    st.builds(lambda c, n: {"channel": c, "for": n}, st.sampled_from(CHANNELS), st.integers(1, 2)),
    st.builds(lambda c: {"channel": c, "at_most": 1}, st.sampled_from(CHANNELS)),
    st.just({"timer": "1h"}),
)
waits = st.one_of(
    st.none(),
    st.builds(
        lambda combinator, each: {combinator: [{**c, "id": f"c{i}"} for i, c in enumerate(each)]},
        st.sampled_from(["any_of", "all_of"]),
        st.lists(conditions, min_size=1, max_size=2),
    ),
)


@st.composite
def flows(draw: st.DrawFn) -> Drawn:
    """Steps lead to later ones only, so every run comes to rest."""
    steps: Drawn = {}
    for number in range(STEPS):
        published = draw(st.lists(st.sampled_from(CHANNELS), max_size=2))
        step: Drawn = {}
        if published:
            step["publish"] = [{"channel": channel, "value": "x"} for channel in published]
        wait = draw(waits) if number else None
        if wait is not None:
            step["wait_for"] = wait
        later = [f"S{n}" for n in range(number + 1, STEPS)]
        targets = draw(st.lists(st.sampled_from(later), max_size=3)) if later else []
        step |= {"go_to_many": targets} if targets else {"dead_end": True}
        steps[f"S{number}"] = step
    rpcs = {
        f"r{number}": draw(
            st.one_of(
                st.builds(lambda c: {"publish": {c: "x"}}, st.sampled_from(CHANNELS)),
                st.builds(lambda n: {"go_to": f"S{n}"}, st.integers(0, STEPS - 1)),
                st.builds(lambda n: {"cancel": [f"S{n}"]}, st.integers(0, STEPS - 1)),
            )
        )
        for number in range(draw(st.integers(0, 1)))
    }
    external = draw(st.sets(st.sampled_from(CHANNELS), max_size=1))
    channels = {c: {"type": "string", "external": c in external} for c in CHANNELS}
    return {"flow": "Drawn", "channels": channels, "start": "S0", "steps": steps, "rpcs": rpcs}


actions = st.lists(st.sampled_from([*CHANNELS, "r0", "hour"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(flows(), actions, actions)
def test_what_cannot_move_never_moves(drawn: Drawn, before: list[str], after: list[str]) -> None:
    play = Play(flow_of(json.dumps(drawn)))
    play.settle()
    perform(play, drawn, before)
    explained = Explained(play)
    fixed = {
        each["step_execution_id"]
        for each in explained.json["active"]
        if each["can_move"] == "never" and not each["ended_by"]
    }
    at_rest = set(play.active)
    perform(play, drawn, after)
    assert fixed <= set(play.active)
    if explained.verdict == "stuck":
        assert at_rest <= set(play.active)


def perform(play: Play, drawn: Drawn, names: list[str]) -> None:
    for name in names:
        if name == "hour":
            play.advance(3600)
            play.settle()
        elif name in drawn["rpcs"]:
            play.rpc(name)
        elif name in drawn["channels"] and drawn["channels"][name]["external"]:
            play.publish(name, "x")
