"""`--map`: what is understood, and what is refused with help."""

from __future__ import annotations

import pytest

from orchestrator.core.migration.renaming import Renaming, parse_renaming
from orchestrator.errors import UsageError
from tests.support.play import flow_of

OLD = flow_of(
    """
flow: F
channels: {a: {type: integer, external: true}, b: {type: integer, external: true}}
attributes: {x: integer}
joins: {j: integer}
start: One
steps:
  One: {wait_for: {any_of: [{channel: a}, {timer: 1d, id: late}]}, go_to: Two}
  Two: {graceful_complete: null}
"""
)
NEW = flow_of(
    """
flow: F
channels: {b: {type: integer, external: true}, c: {type: integer, external: true}}
attributes: {y: integer}
joins: {k: integer}
start: Uno
steps:
  Uno: {wait_for: {any_of: [{channel: c, id: a}, {timer: 1d, id: expired}]}, go_to: Two}
  Two: {graceful_complete: null}
"""
)


def test_every_kind_of_name() -> None:
    texts = ["step:One=Uno", "channel:a=c", "attribute:x=y", "join:j=k", "condition:One/late=expired"]
    assert parse_renaming(texts, OLD, NEW) == Renaming(
        steps={"One": "Uno"},
        channels={"a": "c"},
        attributes={"x": "y"},
        joins={"j": "k"},
        conditions={"One/late": "expired"},
    )


def test_what_is_gone_may_be_dropped() -> None:
    found = parse_renaming(["channel:a=", "attribute:x="], OLD, NEW)
    assert (found.channel("a"), found.attribute("x")) == ("", "")


def test_steps_may_become_one() -> None:
    assert parse_renaming(["step:One=Two"], OLD, NEW).step("One") == "Two"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["One=Uno"], "is not KIND:OLD=NEW"),
        (["stop:One=Uno"], "with KIND one of step, channel, attribute, join, condition"),
        (["step:Onee=Uno"], "OLD has no step Onee; did you mean `One`?"),
        (["step:One=Dos"], "NEW has no step Dos; it has: Two, Uno"),
        (["step:One="], "a step cannot be dropped"),
        (["channel:a=b"], "OLD has a channel b as well; two cannot become one"),
        (["channel:b="], "NEW has the channel b; only what is gone is dropped"),
        (["condition:late=expired"], "is not condition:STEP/OLD=NEW"),
        (["condition:One/later=a"], "OLD has no condition of One: later"),
        (["step:One=Uno", "condition:One/late=x"], "NEW has no condition of Uno: x"),
    ],
)
def test_a_mapping_that_names_nothing_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_renaming(texts, OLD, NEW)
    assert message in caught.value.message, caught.value.message
