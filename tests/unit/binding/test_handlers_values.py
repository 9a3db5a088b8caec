"""Values that handlers write, entries that they read, and what their place does not have."""

from __future__ import annotations

import pytest

from tests.support.surveyed import Workshop, codes, flow, handler, one

MAP = "ctx.attributes['progress']"


@pytest.mark.parametrize(
    "line",
    [
        f"return {MAP}['a']",
        f"return {MAP}.get('a')",
        f"return 'a' in {MAP}",
        f"return [key for key in {MAP}]",
        f"return len({MAP})",
        "attributes = ctx.attributes; return attributes['progress'].items()",
        "return ctx.channels['token'].messages",
        "return ctx.channels['lane'][3].messages",
    ],
)
def test_entries_and_messages_are_read_only_where_loads_asks_for_them(workshop: Workshop, line: str) -> None:
    found = one(workshop.check(handler(*line.split("; ")), flow()))
    assert found.code == "DAT012"
    assert "which `loads` does not ask for" in found.message
    loads = "{channel: token}, {channel: lane, key: 3}, {progress: a}"
    assert workshop.check(handler(*line.split("; ")), flow(f"{{handler: pay, loads: [{loads}]}}")) == []


@pytest.mark.parametrize(
    "lines",
    [
        [f"{MAP}['a'] = 1", f"return {MAP}['a']"],
        [f"progress = {MAP}", "return progress"],
        ["return ctx.channels['lane'][3].size + ctx.channels['token'].size"],
        ["return ctx.attributes['names'][0]"],
    ],
)
def test_what_needs_no_loads_is_no_problem(workshop: Workshop, lines: list[str]) -> None:
    found = workshop.check(handler(*lines), flow("{handler: pay, may: {set: [progress]}}"))
    assert "DAT012" not in codes(found)


def test_a_movement_may_bring_the_loads(workshop: Workshop) -> None:
    text = (
        flow()
        .replace("start: Pay", "start: Begin")
        .replace("  Pay:", "  Begin: {go_to: {step: Pay, options: {execute: {loads: [progress]}}}}\n  Pay:")
    )
    assert workshop.check(handler(f"return {MAP}['a']"), text) == []


ALL = "{handler: pay, may: {publish: [token, lane], set: [total, names, progress]}, loads: [progress]}"


def about_values(workshop: Workshop, line: str) -> list[str]:
    found = workshop.check(handler(line), flow(ALL))
    return [p.message.partition(" (")[0] for p in found if p.code != "REF017"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ctx.publish('token')", "publishes nothing to `token`, which is integer: expected integer"),
        ("ctx.publish('token', 'x')", "publishes 'x' to `token`, which is integer"),
        ("ctx.publish('token', value=1.5)", "publishes 1.5 to `token`"),
        ("ctx.publish('lane', 1)", "publishes to the channel map `lane` without a key"),
        ("ctx.publish('token', 1, 'left')", "publishes with a key to `token`, which is no channel map"),
        ("ctx.attributes['total'] = 'x'", "writes 'x' to `total`, which is integer"),
        ("ctx.attributes['total']: int = True", "writes True to `total`"),
        ("ctx.attributes['names'] = ['x', 3]", "writes ['x', 3] to `names`, which is list of string"),
        ("ctx.attributes['progress']['a'] = 'x'", "writes 'x' to `progress`, which is integer"),
        ("ctx.attributes['progress'] = {'a': 1}", "writes a value to the map `progress` itself"),
    ],
)
def test_a_literal_of_another_type_is_a_problem(workshop: Workshop, line: str, message: str) -> None:
    (found,) = about_values(workshop, line)
    assert message in found


@pytest.mark.parametrize(
    "line",
    [
        "ctx.publish('token', 1)",
        "ctx.publish('token', ctx.attempt)",
        "ctx.publish('token', *[1])",
        "ctx.publish('lane', 1, key='left')",
        "ctx.publish('lane', **{'key': 1})",
        "ctx.attributes['total'] = None",
        "ctx.attributes['total'] = [1][0]",
        "ctx.attributes['total'] += 1.5",
        "ctx.attributes['names'] = ('x', 'y')",
        "ctx.attributes['progress'] = None",
        "x = ctx.attributes['total'] = 3",
        "x, ctx.attributes['total'] = 'x', 3",
    ],
)
def test_a_value_of_the_type_or_of_no_known_one_is_none(workshop: Workshop, line: str) -> None:
    assert about_values(workshop, line) == []


PLACES = """\
flow: Shop
handlers: surveyed_shop
channels: {token: integer}
start: Wait
steps:
  Wait:
    wait_for: {handler: wait, conditions: {late: {timer: 1h}}}
    execute: WHERE
    graceful_complete: done
rpcs:
  ask: {handler: ask}
"""


@pytest.mark.parametrize(
    ("function", "line", "found"),
    [
        ("wait", "ctx.local['x'] = 1", []),
        ("execute", "ctx.local['x'] = 1", ["writes a local, which only wait_for handlers do"]),
        ("execute", "return ctx.local['x']", []),
        ("wait", "ctx.wait.late.fired", ["reads what came of the wait, which is still to come"]),
        ("execute", "ctx.wait.late.fired", []),
        ("ask", "ctx.wait.late.fired", ["reads what came of a wait, but has none"]),
        ("ask", "ctx.heartbeat()", ["gives a heartbeat, but ask is an RPC: it has one attempt"]),
        ("execute", "ctx.heartbeat()", []),
        ("execute", "ctx.connection.execute('x')", ["uses the connection of the commit, but is not"]),
    ],
)
def test_a_handler_uses_what_its_place_has(
    workshop: Workshop, function: str, line: str, found: list[str]
) -> None:
    lines = dict.fromkeys(("wait", "execute", "ask"), "pass") | {function: line}
    text = "from orchestrator import until\n"
    text += "".join(f"def {name}(ctx):\n    {body}\n" for name, body in lines.items())
    text = text.replace("def execute", "    return until('late')\ndef execute")
    problems = workshop.check(text, PLACES.replace("WHERE", "execute"))
    assert [code for code in codes(problems) if code != "DAT013"] == []
    assert len(problems) == len(found)
    assert all(message in problem.message for message, problem in zip(found, problems, strict=True))
    transactional = PLACES.replace("WHERE", "{handler: execute, transactional: true}")
    assert "connection" not in "".join(problem.message for problem in workshop.check(text, transactional))
