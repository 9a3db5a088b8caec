"""REF006 to REF009: channels and attributes that nobody needs, or nobody serves."""

from __future__ import annotations

import pytest

from tests.support.linted import fixed, found, places


def with_channel(channel: str, step: str, more: str = "") -> str:
    return f"""\
flow: F
channels:
  other: {{type: string, external: true}}
  c: {channel}
start: A
{more}steps:
  A: {{{step}graceful_complete: }}
  B: {{wait_for: {{until: {{channel: other}}}}, dead_end: true}}
"""


def codes(text: str) -> list[str]:
    return [problem.code for problem in found(text, "REF")]


@pytest.mark.parametrize("channel", ["string", "{type: string, external: true}"])
def test_a_channel_that_nobody_uses_is_unused(channel: str) -> None:
    text = with_channel(channel, "")
    assert codes(text) == ["REF006"] and places(text, "REF006") == ["4:3"]
    assert fixed(text, "REF006") == text.replace(f"  c: {channel}\n", "")


def test_deleting_it_is_safe_unless_clients_may_know_it() -> None:
    fixes = [
        found(with_channel(channel, ""), "REF006")[0].fix
        for channel in ("string", "{type: string, external: true}")
    ]
    assert [fix is not None and fix.is_safe for fix in fixes] == [True, False]


def test_the_only_channel_goes_with_its_section() -> None:
    text = "flow: F\nchannels:\n  c: string  # why\nstart: A\nsteps: {A: {graceful_complete: }}\n"
    assert fixed(text, "REF006") == "flow: F\nstart: A\nsteps: {A: {graceful_complete: }}\n"
    short = text.replace("channels:\n  c: string", "channels: {c: string}")
    assert fixed(short, "REF006") == "flow: F\nstart: A\nsteps: {A: {graceful_complete: }}\n"


def test_a_channel_that_verify_names_is_not_deleted() -> None:
    text = with_channel("string", "", "verify: {properties: [{conserved: c}]}\n")
    assert found(text, "REF006")[0].fix is None


WAIT = "wait_for: {until: {channel: c}}, "


def test_a_channel_that_nobody_publishes_to_is_told_where_it_is_awaited() -> None:
    text = with_channel("string", WAIT)
    assert codes(text) == ["REF007"] and places(text, "REF007") == ["7:35"]


@pytest.mark.parametrize(
    "more",
    [
        "rpcs: {go: {publish: {c: x}}}\n",
        "rpcs: {go: {handler: h, may: {publish: [c]}}}\n",
        "timeout: 1h\non_timeout: {publish: {c: x}, force_fail: late}\n",
        "timeout: 1h\non_timeout: {execute: {handler: h, may: {publish: [c]}}, force_fail: late}\n",
    ],
)
def test_rpcs_handlers_and_the_timeout_handler_publish(more: str) -> None:
    assert codes(with_channel("string", WAIT, more)) == []


@pytest.mark.parametrize(
    "step",
    [
        WAIT + "publish: {c: x}, ",
        "wait_for: {publish: {c: x}, until: {channel: c}}, ",
        WAIT + "execute: {handler: h, may: {publish: {c: {min: 0, max: 1}}}}, ",
        "wait_for: {handler: plan, may: {publish: [c]}, conditions: {c: {channel: c}}}, ",
    ],
)
def test_waits_decisions_and_handlers_of_steps_publish(step: str) -> None:
    assert codes(with_channel("string", step)) == []


def test_messages_that_nobody_takes_are_told_where_they_are_published() -> None:
    text = with_channel("string", "publish: {c: x}, ")
    assert codes(text) == ["REF008"] and places(text, "REF008") == ["7:17"]


@pytest.mark.parametrize(
    ("channel", "step"),
    [
        ("{type: string, leftover: true}", "publish: {c: x}, "),
        ("string", 'publish: {c: x}, let: {size: "${channels.c.size}"}, set: {}, '),
        ("string", "publish: {c: x}, execute: {handler: h, loads: [{channel: c}]}, "),
    ],
)
def test_messages_that_may_stay_or_are_looked_at_are_fine(channel: str, step: str) -> None:
    assert codes(with_channel(channel, step.replace("set: {}, ", ""))) == []


def test_a_channel_that_completion_looks_at_is_read() -> None:
    text = """\
        flow: F
        channels: {c: string}
        start: A
        steps:
          A:
            publish: {c: x}
            force_complete_if_channels_empty: {channels: [c], otherwise: {dead_end: true}}
        """
    assert codes(text) == []


# --- REF009 -------------------------------------------------------------------------------------------------


def with_attribute(attribute: str, step: str = "") -> str:
    head = f"flow: F\nattributes:\n  a: {attribute}\nstart: A\n"
    return f"{head}steps:\n  A: {{{step}graceful_complete: }}\n"


@pytest.mark.parametrize(
    "attribute", ["integer", "{type: integer, initial: 0}", "{type: integer, map: true}"]
)
def test_an_attribute_that_nothing_uses_is_deleted(attribute: str) -> None:
    text = with_attribute(attribute)
    assert [problem.severity for problem in found(text, "REF009")] == ["warning"]
    assert fixed(text, "REF009") == "flow: F\nstart: A\nsteps:\n  A: {graceful_complete: }\n"


def test_an_attribute_that_is_read_and_never_written_is_told_as_info() -> None:
    text = (
        "flow: F\nattributes:\n  a: integer\nstart: A\nsteps:\n  A: {graceful_complete: '${attributes.a}'}\n"
    )
    assert [(problem.severity, problem.fix) for problem in found(text, "REF009")] == [("info", None)]


@pytest.mark.parametrize(
    ("attribute", "step"),
    [
        ("integer", "set: {a: 1}, "),
        ("integer", "execute: {handler: h, may: {set: [a]}}, "),
        ("{type: integer, initial: 1}", "execute: h, "),
        ("{type: string, index: keyword}", ""),
        ("{type: string, sync: true}", ""),
        ("integer", "execute: {handler: h, locks: [a]}, "),
        ("{type: integer, map: true}", "execute: {handler: h, loads: [a]}, set: {a: {x: 1}}, "),
    ],
)
def test_attributes_that_something_writes_or_outsiders_see_are_left_alone(attribute: str, step: str) -> None:
    assert found(with_attribute(attribute, step), "REF009") == []
